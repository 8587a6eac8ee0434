/** `ecm events`: oldest first; with `--since last` each once, whatever shares its time or comes late. */
import { createHash } from "node:crypto";
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { dayMilliseconds, type FeedEvent, serviceNow, startFeed } from "../events/feed-double.ts";
import { done, ends, refused, startSandbox, temporaryFolder } from "../kit.ts";

const given = { order: "given", total: "right" } as const;
const hours = (ago: number) => new Date(serviceNow - ago * 3_600_000).toISOString();

const event = (contactId: string, ago: number, more: Record<string, unknown> = {}): FeedEvent => {
  return { timestamp: hours(ago), type: "email-bounced", contactId, ...more };
};

describe("events", () => {
  it("says that events are missing where --since goes back further than the service does", async () => {
    const { ecm, server } = await startFeed([event("c1", 1)]);
    for (const since of ["200d", "2020-01-01"]) {
      await ends(ecm(`--since ${since} -q`), 0, "warning: The service keeps events for 90 days");
      expect(server.requests.at(-1)!.url).toMatch(/pastDays=90/);
    }
    expect((await ecm("--since 89d")).stderr).not.toContain("warning");
  });

  it("passes types and days on, and refuses what cannot be meant", async () => {
    const { ecm, server } = await startFeed([]);
    expect(await ecm("--type b --type a,b --days 7")).toMatchObject({ stdout: "[]\n" });
    expect(server.requests.at(-1)!.url).toMatch(/types=a%2Cb&pastDays=7/);
    for (const wrong of ["--days 91", "--days 0", "--since soon", "--since 2026-02-30", "--type ''"])
      expect((await ecm(wrong)).code, wrong).toBe(2);
  });
});

describe("events --since last", () => {
  it("a cursor of another version, of none, or damaged, is an error with its path", async () => {
    const { show, env } = await startFeed([event("a", 1)]);
    await show("--since last");
    const folder = join(env.ECM_STATE_DIR!, "events");
    const file = join(folder, (await readdir(folder)).find((name) => name.endsWith(".json"))!);
    const { version, ...stored } = JSON.parse(await readFile(file, "utf8"));
    expect(version).toBe(1);
    for (const other of [JSON.stringify({ ...stored, version: 2 }), JSON.stringify(stored), "{"]) {
      await writeFile(file, other);
      await refused(show("--since last"), 1, `Cannot read ${file}`);
    }
  });

  it("shows none again because the campaign or file that it names was renamed", async () => {
    const feed = [event("a", 5, { emailCampaignId: "c1", emailCampaignName: "One" })];
    const { last } = await startFeed(feed);
    expect(await last()).toEqual(["a"]);
    feed[0]!.emailCampaignName = "renamed";
    expect(await last()).toEqual([]);
  });

  it("tells events that share all but one member, whichever it is, and one whose members changed by its id", async () => {
    const bare = { timestamp: hours(5), type: "email-bounced" };
    const feed: Partial<FeedEvent>[] = [{ ...bare, emailTo: "a@x.org" }];
    const { ecm } = await startFeed(feed as FeedEvent[]);
    const output = async () => JSON.parse((await ecm("--since last")).stdout);
    expect(await output()).toEqual(feed);
    feed.push({ ...bare, emailTo: "b@x.org" }, { ...bare, source: { deep: [1] } }, { ...bare, _id: "e1" });
    expect(await output()).toEqual(expect.arrayContaining(feed.slice(1)));
    expect(await output()).toEqual([]);
    feed.splice(-1, 1, { ...bare, _id: "e1", timestamp: hours(2) }, { ...bare, _id: "e2" });
    expect(await output()).toEqual(feed.slice(-1));
  });

  it("keeps a cursor for each set of types, whatever their order", async () => {
    const feed = [event("a", 1), event("b", 2, { type: "email-complaint" })];
    const { last } = await startFeed(feed);
    expect(await last("--type email-bounced")).toEqual(["a"]);
    expect(await last("--type email-bounced --type email-complaint")).toEqual(["b", "a"]);
    expect(await last("--type email-complaint --type email-bounced")).toEqual([]);
    expect(await last()).toEqual(["b", "a"]);
  });

  it("gives none twice and loses none while events come in between two pages", async () => {
    const feed = Array.from({ length: 10 }, (_, n) => event(`c${n}`, n + 1));
    let arrivals = 0;
    const { last } = await startFeed(feed, {
      ...given,
      maxPageSize: 4,
      isRefusing: true,
      onPage(page) {
        if (page !== 1 || arrivals >= 2) return;
        feed.unshift(event(`new${++arrivals}`, 0.5 / arrivals));
        // One is too old for the feed meanwhile: the total stays as it was.
        feed.pop();
      },
    });
    const output = [...(await last()), ...(await last()), ...(await last())];
    expect(new Set(output).size).toBe(output.length);
    for (const { contactId } of feed) expect(output).toContain(contactId);
  });

  it("counts as shown only what was: a failure leaves the cursor", async () => {
    const feed = [event("a", 1)];
    const { show, last } = await startFeed(feed);
    await refused(show("--since last -o csv --output-file /nowhere/at/all.csv"), 2);
    expect(await last()).toEqual(["a"]);
  });

  it("is neither lost nor repeated by a kill around the moment when the file appears", async () => {
    const feed = [event("a", 1)];
    const { show, env } = await startFeed(feed);
    const file = join(await temporaryFolder(), "new.csv");
    const write = async () => {
      await done(show(`--since last -o csv --columns contactId --output-file ${file}`));
      return readFile(file, "utf8");
    };
    const cursors = join(env.ECM_STATE_DIR!, "events");
    const cursor = async () => join(cursors, (await readdir(cursors))[0]!);
    expect(await write()).toBe("contactId\na\n");
    const before = await readFile(await cursor(), "utf8");
    feed.unshift(event("b", 0.5));
    const text = await write();
    const digest = createHash("sha256").update(text).digest("hex");
    // As a kill just before the last step leaves it: the file is there, the cursor has only announced it.
    const { shown } = JSON.parse(await readFile(await cursor(), "utf8"));
    const pending = { file, sha256: digest, readAt: serviceNow, shown };
    const announced = JSON.stringify({ ...JSON.parse(before), pending });
    await writeFile(await cursor(), announced);
    expect(await write()).toBe("contactId\n");
    // The same, but the file never appeared.
    await writeFile(await cursor(), announced);
    await rm(file);
    expect(await write()).toBe("contactId\nb\n");
  });

  it("looks back over a gap that is longer than the usual days", async () => {
    const { server, ecm } = await startFeed([]);
    await ecm("--since last");
    await ecm("--since last", 45);
    expect(server.requests.at(-1)!.url).toContain("pastDays=46");
    expect((await ecm("--since last", 200)).stderr).toContain("the service keeps events for 90 days");
  });
});

it("events of the embedded service name contacts by their keys where that is wanted, and one contact's by its key", async () => {
  const { ecm } = await startSandbox();
  for (const key of ["ada@example.com", "bob@example.com"]) await ecm(["contact", "create", "--key", key]);
  const created = "events --type contact-created -o csv --columns key";
  expect(await done(ecm(created))).toBe("key\nada@example.com\nbob@example.com\n");
  const ofAda = await done(ecm("events ada@example.com -o csv --columns key,type"));
  expect(ofAda).toBe("key,type\nada@example.com,contact-created\n");
  // Three days on, both flags hold.
  const clock = { now: () => Date.now() + 3 * dayMilliseconds, sleep: () => Promise.resolve() };
  const both = await ecm("events ada@example.com --since 5d --days 1 -o id", { clock });
  expect(both).toMatchObject({ code: 0, stdout: "" });
  expect((await ecm("events nobody@example.com")).code).toBe(5);
  expect((await ecm("events --type no-such-type")).code).toBe(1);
});

describe("a table of events", () => {
  it("says who it was where that is known, or costs few requests", async () => {
    const { ecm } = await startSandbox();
    for (const name of ["ada", "bob", "eve"]) await ecm(`contact create --key ${name}@example.com`);
    await ecm(["contact", "delete", "eve@example.com", "--yes"]);
    const { stdout } = await ecm("events -o table");
    expect(stdout).toMatch(/^time +type +contact/);
    for (const name of ["ada", "bob"]) expect(stdout).toContain(`${name}@example.com`);
    // Who is gone has no address any more.
    expect(stdout).toMatch(/contact-created +[0-9a-f]{24}/);
  });

  it("gives the way to the addresses where there are too many", async () => {
    const events = Array.from({ length: 21 }, (_, at) => event(`${at}`.padStart(24, "0"), at));
    const { server, show } = await startFeed([...events, event("e".repeat(24), 30, { emailTo: "e@x.org" })]);
    const { stdout } = await ends(show("-o table"), 0, "--columns time,type,key (21 requests)");
    expect(stdout).toContain("e@x.org");
    expect(server.requests.filter(({ url }) => !url.includes("/events"))).toEqual([]);
  });
});
