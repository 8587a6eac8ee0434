import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import {
  contacts,
  machine,
  machineWith,
  membersOf,
  readRecipes,
  recipe,
  requestsLeft,
  rotating,
  runs,
  silent,
} from "./recipes.kit.ts";

it("has six scripts", async () => {
  const names = [
    "crm-sync",
    "list-mirror",
    "warehouse-export",
    "quota-watch",
    "crm-feedback",
    "key-rotation",
  ];
  expect([...(await readRecipes()).keys()]).toEqual(names);
});

recipe("crm-sync", () => {
  it("is silent on a good night, and writes nothing twice on the next", async () => {
    const { script, ecm, file } = await machineWith("Customers");
    const env = { CRM_EXPORT: await file("crm.csv", contacts(30)) };
    expect(await script("crm-sync", env)).toEqual(silent);
    expect(await membersOf(ecm, "Customers")).toBe(30);
    expect(await script("crm-sync", env)).toEqual(silent);
    expect((await runs(ecm))[0]).toMatchObject({ rows: { read: 30, unchanged: 30, created: 0 } });
  });
});

recipe("list-mirror", () => {
  it("mirrors the file in silence, asks nothing while the file is the same, and finds what was removed", async () => {
    const { script, ecm, file } = await machineWith("Attendees");
    await ecm("import", await file("all.csv", contacts(30)));
    const env = { MIRROR_FILE: await file("attendees.csv", contacts(20)) };
    expect(await script("list-mirror", env)).toEqual(silent);
    expect(await membersOf(ecm, "Attendees")).toBe(20);

    const before = await requestsLeft(ecm);
    expect(await script("list-mirror", env)).toEqual(silent);
    expect(before - (await requestsLeft(ecm))).toBe(1);

    await file("attendees.csv", contacts(20, 1));
    expect(await script("list-mirror", env)).toEqual(silent);
    expect(await membersOf(ecm, "Attendees")).toBe(20);
  });
});

recipe("warehouse-export", () => {
  it("writes one whole file a day in silence, for each format", async () => {
    const { script, ecm, file, folder } = await machineWith("Customers");
    await ecm("import", await file("all.csv", contacts(12)), "--list", "Customers");
    const env = { WAREHOUSE_FOLDER: join(folder, "warehouse") };
    expect(await script("warehouse-export", env)).toEqual(silent);
    expect(await script("warehouse-export", { ...env, WAREHOUSE_FORMAT: "csv" })).toEqual(silent);
    const names = (await readdir(env.WAREHOUSE_FOLDER)).filter((each) => !each.startsWith(".")).sort();
    expect(names).toEqual([
      expect.stringMatching(/^contacts-\d{4}-\d\d-\d\d\.csv$/),
      expect.stringMatching(/^contacts-\d{4}-\d\d-\d\d\.ndjson$/),
    ]);
    const [csv, ndjson] = await Promise.all(
      names.map((name) => readFile(join(env.WAREHOUSE_FOLDER, name), "utf8")),
    );
    expect(csv!.trimEnd().split("\n")).toHaveLength(13);
    const lines = ndjson!.trimEnd().split("\n");
    expect(lines).toHaveLength(12);
    expect(JSON.parse(lines[0]!)).toMatchObject({ key: "p0@example.com" });

    const before = await requestsLeft(ecm);
    expect(await script("warehouse-export", env)).toEqual(silent);
    expect(before - (await requestsLeft(ecm))).toBe(1);
  });
});

recipe("quota-watch", () => {
  it("warns once when the month runs low, and again only after it had recovered", async () => {
    const { script, ecm, service } = await machine();
    const limit = (requests: number) =>
      ecm("sandbox", "account", "--data", service, "--monthly-limit", String(requests));
    expect(await script("quota-watch")).toEqual(silent);
    await limit(3);
    const low = await script("quota-watch", { QUOTA_LEAST_PERCENT: "50" });
    expect(low).toEqual({
      code: 0,
      stdout: "",
      stderr: "quota-watch: 33 % of the month's requests are left\n",
    });
    expect(await script("quota-watch", { QUOTA_LEAST_PERCENT: "50" })).toEqual(silent);
    expect(await script("quota-watch")).toEqual(silent);
    await limit(1000);
    expect(await script("quota-watch")).toEqual(silent);
    await limit(1);
    expect((await script("quota-watch")).stderr).toBe("quota-watch: none of the month's requests are left\n");
    expect(await script("quota-watch")).toEqual(silent);
  });
});

recipe("key-rotation", () => {
  it("puts a new key in the old one's place in silence, and removes the old one", async () => {
    const { script, ecm, names, works, rotate, remember } = await rotating();
    expect(await script("key-rotation", rotate)).toEqual(silent);
    expect(await names()).toEqual([expect.stringMatching(/^crm-\d{8}-\d{6}$/)]);
    expect(await works()).toBe(true);
    expect(await remember()).toEqual(["current", "lock", "log"]);
    const [profile] = JSON.parse((await ecm("auth", "list", "--json")).stdout);
    expect(profile).toMatchObject({ name: "crm", structure: expect.stringMatching(/^[0-9a-f]{24}$/) });
  });
});

recipe("crm-feedback", () => {
  it("brings each unsubscribe, bounce and complaint once, and is silent when there is none", async () => {
    const { script, ecm, env, file, folder } = await machine();
    const feedback = { FEEDBACK_INBOX: join(await file("inbox/.keep", ""), "..") };
    const inbox = async () => (await readdir(join(folder, "inbox"))).filter((name) => name.endsWith(".csv"));
    const rows = async (name: string) =>
      (await readFile(join(folder, "inbox", name), "utf8"))
        .trim()
        .split("\n")
        .map((line) => line.split(",").slice(1, 4));
    for (const key of ["ada", "bob", "eve"]) await ecm("contact", "create", "--key", `${key}@example.com`);
    expect(await script("crm-feedback", feedback)).toEqual(silent);
    expect(await inbox()).toEqual([]);

    const happen = (key: string, type: string) =>
      fetch(`${env.ECM_BASE_URL}/__sandbox/events`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ key: `${key}@example.com`, type }),
      });
    for (const type of ["unsubscribed", "opened"]) expect((await happen("ada", type)).ok).toBe(true);
    expect((await happen("bob", "bounced")).ok).toBe(true);
    expect(await script("crm-feedback", feedback)).toEqual(silent);
    const [first] = await inbox();
    expect((await rows(first!)).slice(1).map(([type, key]) => [type, key])).toEqual([
      ["contact-unsubscribed", "ada@example.com"],
      ["email-bounced", "bob@example.com"],
    ]);
    expect(await script("crm-feedback", feedback)).toEqual(silent);
    expect(await inbox()).toEqual([first]);

    expect((await happen("eve", "complained")).ok).toBe(true);
    // The night's machine was stopped before the file was handed over.
    const stopped = await ecm(
      "events",
      "--since",
      "last",
      "--type",
      "contact-unsubscribed",
      "--type",
      "email-bounced",
      "--type",
      "email-complaint",
      "-o",
      "csv",
      "--columns",
      "time,type,key,detail,contactId",
      "--output-file",
      join(folder, ".local/state/crm-feedback/events.csv"),
    );
    expect(stopped.code).toBe(0);
    expect(await script("crm-feedback", feedback)).toEqual(silent);
    const [second] = (await inbox()).filter((name) => name !== first);
    expect((await rows(second!)).slice(1).map(([type, key]) => [type, key])).toEqual([
      ["email-complaint", "eve@example.com"],
    ]);
  });
});
