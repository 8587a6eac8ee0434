/** `lists duplicate` and `lists merge`: a new list and a bulk run over the members. */
import { describe, expect, it } from "vitest";
import type { Contact } from "../../src/wire.ts";
import { fastClock, startRecordingProxy } from "../journeys/recording-proxy.ts";
import { call, countRequests, done, ends, readJson, refused, summaryOf, temporaryFolder } from "../kit.ts";
import { type RunningSandbox, startSandbox } from "../support/sandbox.ts";

/** Leads: p0 to p5; Fair: p4 to p8; p9 is in none. */
const chooseLists = (n: number) => [...(n < 6 ? ["Leads"] : []), ...(n > 3 && n < 9 ? ["Fair"] : [])];
const contents = {
  lists: ["Leads", "Fair"],
  contacts: Array.from({ length: 10 }, (_, n) => ({ key: `p${n}@example.com`, lists: chooseLists(n) })),
};

const withReaders = <Service extends Pick<RunningSandbox, "ecm">>(service: Service) => ({
  ...service,
  names: async () =>
    (await readJson(service.ecm, "lists list")).map(({ name }: { name: string }) => name).join(),
  members: async (list: string) => Number(await done(service.ecm(`contact search --list '${list}' --count`))),
});
const twoLists = async () => withReaders(await startSandbox({ contents }));

const merge = "lists merge Leads Fair --into All";
const mergeAll = `${merge} --delete-sources --yes`;
const whole = { status: "completed", rows: { updated: 9 } };

describe("lists merge", () => {
  it("makes a new list of everyone in any of them, once, and keeps the sources", async () => {
    const { ecm, names, members } = await twoLists();
    const dry = await summaryOf(ecm, `${merge} --dry-run`);
    expect(dry).toMatchObject({ status: "dry-run", rows: { read: 9, updated: 9 } });
    // The list with a look before, and its members.
    expect(dry.estimate.requests).toBe(dry.requests.total + 11);
    expect(await names()).toBe("Leads,Fair");

    expect(await readJson(ecm, "lists merge leads Fair Leads --into All")).toMatchObject({
      kind: "mutate",
      status: "completed",
      rows: { read: 9, updated: 9 },
      requests: { total: dry.estimate.requests },
    });
    expect(await names()).toBe("Leads,Fair,All");
    expect(await members("Leads")).toBe(6);
    await refused(ecm("lists merge Leads Fair --into all"), 6);
    expect(await readJson(ecm, "runs list")).toHaveLength(1);
  });

  it("whose sources were not all deleted is resumed", async () => {
    const { ecm, names, sandbox } = await twoLists();
    sandbox.admin.faults(["500:DELETE:*:n=1"]);
    const { stderr } = await ends(ecm(mergeAll), 1);
    const [, run] = /Resume with: ecm runs resume (\S+)/.exec(stderr) ?? [];
    // Somebody, or this run before it was killed, has deleted one of them.
    await ecm("lists delete Leads --yes");
    const resume = `resume it with: ecm runs resume ${run}`;
    await refused(ecm(mergeAll), 5, /^error: No list is named "Leads"/m, resume);
    expect(await done(ecm("runs list -o tsv --columns status"))).toContain("stopped");
    await done(ecm(`runs resume ${run}`));
    expect(await names()).toBe("All");
    expect((await ecm(`runs resume ${run}`)).stderr).toContain("there is nothing to resume");
  });

  it("is undone: memberships go, the new list stays and is named", async () => {
    const { ecm, names, members } = await twoLists();
    const { run } = await summaryOf(ecm, merge);
    const stays = 'The list "All" stays; delete it with: ecm lists delete All';
    await ends(ecm(`runs undo ${run} --json`), 0, stays);
    expect(await members("All")).toBe(0);
    expect(await members("Leads")).toBe(6);
    const copied = await summaryOf(ecm, "lists duplicate Leads Copy");
    await done(ecm(`runs undo ${copied.run} --delete-created --yes`));
    expect(await names()).toBe("Leads,Fair,All,Copy");
  });

  it.each(["--delete-created --yes", ""])("is undone to its end after a stop: %s", async (flags) => {
    const { ecm, names, members } = await twoLists();
    const { run } = await summaryOf(ecm, merge);
    const stopped = await ends(summaryOf(ecm, `runs undo ${run} ${flags} --max-requests 8`), 7);
    expect(await readJson(ecm, `runs resume ${stopped.run} --yes`)).toMatchObject(whole);
    expect(await members("All")).toBe(0);
    expect(await names()).toBe("Leads,Fair,All");
  });

  it.each([mergeAll, "runs resume RUN --yes"])("goes on where it stopped: by %s", async (again) => {
    const { ecm, names, members } = await twoLists();
    const { run, rows } = await ends(summaryOf(ecm, `${mergeAll} --max-requests 11`), 7);
    expect(rows.updated).toBeGreaterThan(0);
    expect(await names()).toContain("Leads");
    expect(await readJson(ecm, again.replace("RUN", run!))).toMatchObject({ run, ...whole });
    expect(await names()).toBe("All");
    expect(await members("All")).toBe(9);
    // The sources are gone: undone, their contacts would be in no list.
    await refused(ecm(`runs undo ${run}`), 2, "in no list");
  });

  it("goes on by the same command: lists duplicate", async () => {
    const { ecm, names } = await twoLists();
    const { run } = await ends(summaryOf(ecm, "lists duplicate Leads All --max-requests 10"), 7);
    expect(await names()).toContain("All");
    const again = await summaryOf(ecm, "lists duplicate Leads All");
    expect(again).toMatchObject({ code: 0, run, status: "completed" });
  });

  it("takes no list for its own that others have made while it was stopped", async () => {
    const { ecm, members } = await twoLists();
    const { run } = await ends(summaryOf(ecm, `${merge} --max-requests 6`), 7);
    await done(ecm("lists create All"));
    for (const again of [merge, `runs resume ${run}`]) await ends(ecm(again), 6, "already exists");
    expect(await members("All")).toBe(0);
  });

  it("deletes sources only when told, and none where it is refused", async () => {
    const { ecm, names } = await twoLists();
    await refused(ecm(`${merge} --delete-sources`), 2);
    const declined = ecm(`${merge} --delete-sources`, { terminalColumns: 200, typed: "n\r" });
    await refused(declined, 1, 'Delete "Leads", "Fair" after all contacts are in "All"?');
    expect((await ecm("lists merge Leads Nothing --into All")).code).toBe(5);
    expect((await ecm("lists merge Leads --into fair")).code).toBe(6);
    expect((await ecm("lists merge Leads --into ' '")).code).toBe(2);
    expect(await names()).toBe("Leads,Fair");
  });

  it.each([
    ["by the same command", mergeAll, "told"],
    ["by runs resume", "runs resume RUN --yes", "told"],
    ["where searches tell no lists", mergeAll, "untold"],
  ])(
    "keeps a source of which somebody is not in the new list, and names them: %s",
    async (_how, again, told) => {
      const proxy = await startRecordingProxy();
      proxy.sandbox.admin.seed(contents);
      if (told === "untold")
        proxy.rewrites = (path, text) =>
          path.endsWith("/search") ? text.replaceAll('"lists":', '"x":') : text;
      const { ecm, names } = withReaders(proxy);
      const { run } = await summaryOf(ecm, `${mergeAll} --max-requests 7`);
      await done(ecm("contact mutate p9@example.com --add-list Leads"));
      const resumed = await summaryOf(ecm, again.replace("RUN", run!));
      expect(resumed.stderr).toContain(
        'The list "Leads" was not deleted: 1 of its contacts is not in "All": p9@example.com\n' +
          "Add them with: ecm contact mutate --list Leads --add-list All; then: ecm lists delete Leads\n" +
          'Deleted the list "Fair"',
      );
      expect(resumed).toMatchObject({ code: 3, run, ...whole });
      expect(await names()).toBe("Leads,All");
    },
  );
});

it.each([0, 8])("contact %i, whose write is never answered, is rejected; no source goes", async (failing) => {
  const { ecm, names, members, sandbox, ...service } = await twoLists();
  const contacts = await call<Contact[]>(service, "GET", "/api/contact");
  const { _id } = contacts.find(({ key }) => key === `p${failing}@example.com`)!;
  sandbox.admin.faults([`503:PUT:/api/contact/${_id}/mutate`]);
  const merged = await summaryOf(ecm, mergeAll, { clock: fastClock() });
  const rows = { updated: 8, rejected: 1, pending: 0 };
  expect(merged).toMatchObject({ code: 3, status: "completed", rows });
  const said = /^Undo: ecm runs undo .*^No list was deleted, since contacts were rejected/ms;
  expect(merged.stderr).toMatch(said);
  expect(await members("All")).toBe(8);
  expect(await names()).toBe("Leads,Fair,All");
});

describe("the price of a new list", () => {
  it.each<[Record<string, string>, lists: number]>([
    [{}, 1],
    [{ page: "cap:3" }, 2],
    [{ page: "cap:3" }, 5],
    [{ lists: "array" }, 1],
    [{ lists: "array", page: "cap:3" }, 4],
  ])("is what it sends, as is that of its undo, with %j and %i lists", async (variants, count) => {
    const others = Array.from({ length: count - 1 }, (_, n) => `Other ${n}`);
    const contacts = [0, 1, 2, 3].map((n) => ({ key: `p${n}@example.com`, lists: ["Leads"] }));
    const service = await startSandbox({ variants, contents: { lists: ["Leads", ...others], contacts } });
    for (const line of [
      "lists duplicate Leads Copy",
      "runs undo last",
      "lists merge Leads Copy --into All",
      "runs undo last --delete-created",
      "lists merge Leads Copy --into Both --delete-sources",
    ]) {
      // Nothing is remembered of names: each command pays for them itself.
      const run = async (flag = "") => {
        const before = countRequests(service);
        const env = { ECM_CACHE_DIR: await temporaryFolder() };
        const summary = await summaryOf(service.ecm, `${line} ${flag} --yes`, { env });
        return { sent: countRequests(service) - before, summary };
      };
      if (line.endsWith("sources")) await done(service.ecm("contact mutate p0@example.com --add-list Copy"));
      const dry = await run("--dry-run");
      const real = await run();
      const told = [dry.summary.requests.total, dry.summary.estimate.requests, real.summary.requests.total];
      expect(told, line).toEqual([dry.sent, real.sent, real.sent]);
    }
  });

  const limited = [mergeAll, "runs undo last --delete-created --yes"];
  it.each(limited)("counts against --max-requests, with what comes before and after: %s", async (line) => {
    const isUndo = line !== mergeAll;
    const run = async (flags: string) => {
      const service = await twoLists();
      if (isUndo) await service.ecm(merge);
      const before = countRequests(service);
      const env = { ECM_CACHE_DIR: await temporaryFolder() };
      const summary = await summaryOf(service.ecm, `${line} ${flags}`, { env });
      return { ...service, summary, sent: countRequests(service) - before };
    };
    const { estimate } = (await run("--dry-run")).summary;
    for (const most of [7, estimate.requests - 1, estimate.requests]) {
      const { ecm, names, summary, sent } = await run(`--max-requests ${most}`);
      expect(sent).toBeLessThanOrEqual(most);
      const isWhole = most >= summary.estimate.requests;
      const end = isWhole ? { code: 0, stoppedBy: null } : { code: 7, stoppedBy: "max-requests" };
      expect(summary).toMatchObject(end);
      if (!isWhole) await done(ecm(`runs resume ${summary.run} --yes --json`));
      expect(await names()).toBe(isUndo ? "Leads,Fair,All" : "All");
    }
  });
});

it("lists duplicate copies an empty list too", async () => {
  const { ecm, names } = withReaders(await startSandbox({ contents: { lists: ["Empty"] } }));
  await done(ecm("lists duplicate Empty Copy"));
  expect(await names()).toBe("Empty,Copy");
});
