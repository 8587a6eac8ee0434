/** What the bulk engine makes of a service that decides otherwise what its documents leave open. */
import { expect, it } from "vitest";
import { writeCachedBehavior } from "../../src/config/caches.ts";
import { fastClock, startRecordingProxy } from "../journeys/recording-proxy.ts";
import { testClock } from "../sandbox/account.ts";
import { ecmWith, temporaryHome } from "../support/ecm.ts";
import { askingOf, call, inputFile, manyContacts, manyRows, readContacts, startAccount } from "./kit.ts";

const newRows = (count: number) => manyRows(count, () => "New");
const renamed = { fields: { "First Name": "New" } };

const keys = ["p0@example.com", "p2@example.com"];

/** An account whose searches leave these contacts out; and a clock that tells how long was waited. */
const hiding = async (hidden: string[], faults: string[] = []) => {
  const service = await startRecordingProxy({ faults });
  service.sandbox.admin.seed({ contacts: manyContacts(3) });
  service.rewrites = (path, text) => {
    if (path !== "/api/contact/search") return text;
    const { contacts } = JSON.parse(text) as { contacts: { key: string }[] };
    const shown = contacts.filter(({ key }) => !hidden.includes(key));
    return JSON.stringify({ totalRecords: shown.length, contacts: shown });
  };
  const pauses: number[] = [];
  const now = () => Date.now();
  const clock = { now, sleep: async (milliseconds: number) => void pauses.push(milliseconds) };
  const asked = askingOf(service);
  const importRows = (count: number) => asked.importing(newRows(count), "", { clock });
  return { ...asked, service, pauses, importRows };
};

it("a hidden duplicate is skipped at the end of the run, after one wait for all of them", async () => {
  const { service, pauses, importRows } = await hiding(keys);
  const rows = { created: 2, updated: 1, skipped: 2, rejected: 0 };
  const codes = { skipped: { exists_hidden: 2 } };
  expect(await importRows(5)).toMatchObject({ status: "completed", rows, codes, inactive: 0 });
  expect(pauses).toEqual([1000, 3000, 10_000]);
  expect((await readContacts(service)).get("p1@example.com")).toMatchObject(renamed);
});

it("a hidden duplicate does not keep a run from its end, however few requests each invocation may send", async () => {
  const { run } = await hiding(["p0@example.com", "p1@example.com", "p2@example.com"]);
  const clock = fastClock();
  const command = `import ${await inputFile(manyRows(5))} --max-requests 6`;
  let summary = await run(command, { clock });
  for (let again = 0; again < 8 && summary.status !== "completed"; again++)
    summary = await run(command, { clock });
  const rows = { created: 2, skipped: 3 };
  expect(summary).toMatchObject({ status: "completed", rows, codes: { skipped: { exists_hidden: 3 } } });
});

it("a hidden duplicate is decided on once a search shows the contact", async () => {
  const clock = testClock();
  const { service, importing } = await startAccount({ clock, variants: { "search-lag": "2500" } });
  const { structureId: contactStructureId } = service.sandbox;
  // Created by somebody else a moment ago.
  for (const key of keys) await call(service, "POST", "/api/contact", { key, contactStructureId });
  const { rows } = await importing(newRows(3), "", { clock });
  expect(rows).toMatchObject({ created: 1, updated: 2, skipped: 0, rejected: 0 });
  const contacts = await readContacts(service);
  for (const key of keys) expect(contacts.get(key)).toMatchObject(renamed);
});

it.each(["reset-before", "reset-after", "500"])(
  "a hidden duplicate is not counted as created after %s, since the contact may have been there before",
  async (fault) => {
    const { fieldsOf, importRows } = await hiding(keys, [`${fault}:POST:/api/contact:n=1`]);
    const rows = { created: 1, updated: 1, skipped: 2, rejected: 0 };
    expect(await importRows(4)).toMatchObject({ rows, codes: { skipped: { exists_hidden: 2 } } });
    expect(await fieldsOf("p0@example.com")).toEqual({ "First Name": "First 0" });
  },
);

it.each([
  ["is counted as created where a search shows in time that it was applied", "2500", { created: 2 }],
  ["is not counted as created where no search shows it in time", "600000", { created: 1, skipped: 1 }],
])("a hidden duplicate %s", async (_name, lag, expected) => {
  // The service's clock is that of its answers' Date.
  const clock = testClock(Date.now());
  const faults = ["reset-after:POST:/api/contact:n=1"];
  const account = await startAccount({ clock, faults, variants: { "search-lag": lag } });
  const { rows } = await account.importing(manyRows(2), "--concurrency 1", { clock });
  expect(rows).toMatchObject({ updated: 0, skipped: 0, rejected: 0, ...expected });
  expect(await account.keys()).toEqual(["p0@example.com", "p1@example.com"]);
});

it.each([3, 30])("letter case of keys is compared folded, of %d rows", async (count) => {
  const variants = { page: "cap:4", "max-keys": "20" };
  const { run, importing, service } = await startAccount({ variants });
  await importing(manyRows(count));
  const shouted = `import ${await inputFile(newRows(count).replaceAll(/^p/gm, "P"))}`;
  expect((await run(shouted)).rows).toMatchObject({ created: 0, updated: count });
  expect((await run(`${shouted} --fresh`)).rows).toMatchObject({ unchanged: count });
  const contacts = await readContacts(service);
  expect(contacts.size).toBe(count);
  expect(contacts.get("p0@example.com")).toMatchObject(renamed);
});

it("letter case of keys costs no further request", async () => {
  const { importing } = await startAccount();
  await importing(manyRows(40));
  const dry = await importing(manyRows(20).replaceAll(/^p/gm, "P"), "--dry-run");
  expect(dry).toMatchObject({ rows: { unchanged: 20 }, requests: { search: 1 } });
});

/** Another machine: nothing was learned there. */
async function elsewhere(account: Awaited<ReturnType<typeof startAccount>>) {
  const home = await temporaryHome();
  return { home, ...askingOf({ ...account, ecm: ecmWith({ ...account.env, ...home }) }) };
}

it.each(["first", "refused"])("nothing known, several keys %s: nobody is created twice", async (keys) => {
  const account = await startAccount({ variants: { keys, page: "cap:4" } });
  await account.importing(manyRows(36));
  expect(await (await elsewhere(account)).importing(manyRows(36))).toMatchObject({
    rows: { unchanged: 36, created: 0, rejected: 0 },
    requests: { create: 0, mutate: 0 },
  });
});

it("nothing known: the first key in another letter case is no proof that several count", async () => {
  const contents = { contacts: manyContacts(12) };
  const account = await startAccount({ variants: { keys: "first" }, contents });
  const keys = ["P0@example.com", "p1@example.com", "p2@example.com"];
  const found = await account.ecm(`contact search ${keys.join(" ")} -o csv --columns key`);
  expect(found.stdout).toBe("key\np0@example.com\np1@example.com\np2@example.com\n");
  const { run } = await elsewhere(account);
  const { rows } = await run(`contact unsubscribe --keys ${await inputFile(keys.join("\n"), "keys.txt")} -y`);
  expect(rows).toMatchObject({ updated: 3, rejected: 0 });
});

it.each(["first", "refused"])("nothing known, keys %s: it looks again after ten refusals", async (keys) => {
  const account = await startAccount({ variants: { keys, page: "cap:4" } });
  await account.importing(manyRows(36));
  const { home, importing } = await elsewhere(account);
  // Learned when the service took several keys: it no longer does, and no contact is known to show it.
  const points = { keys: { value: "any", learnedAt: new Date().toISOString() } };
  const { baseUrl, sandbox } = account;
  writeCachedBehavior({ state: home.ECM_STATE_DIR! }, baseUrl, sandbox.structureId, points);
  // The first key of the block is nobody's: a search that counts it alone finds nobody.
  const result = await importing(manyRows(36).replace("\n", "\nnobody@example.com,N\n"));
  expect(result.rows).toMatchObject({ created: 1, unchanged: 36, rejected: 0 });
  expect(result.requests.create).toBeLessThanOrEqual(20);
});
