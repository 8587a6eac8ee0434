/** Selections, unsubscriptions and deletions, as jobs of the bulk engine. */
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { isInactive, statusParts, wholeContact } from "../../src/api/contacts.ts";
import { startRecordingProxy } from "../journeys/recording-proxy.ts";
import { readJson, refused, temporaryFolder } from "../support/ecm.ts";
import { askingOf, call, inputFile, readContacts, startAccount } from "./kit.ts";

/** p0 … in the list L; every third in the list M, too. */
async function withMembers(count: number) {
  const contacts = Array.from({ length: count }, (_, index) => ({
    key: `p${index}@example.com`,
    fields: { "First Name": `First ${index % 2}` },
    lists: index % 3 === 0 ? ["L", "M"] : ["L"],
  }));
  const account = await startAccount({ contents: { contacts } });
  return { ...account, read: (key: string) => readJson(account.ecm, `contact get ${key}`) };
}

it("a selection reads each page once, decides the rest here, and says before what it sends", async () => {
  const { run } = await withMembers(30);
  const change = `contact mutate --list L --list M --where 'First_Name == "First 1"' --set 'Last Name=X'`;
  const said = { rows: { read: 15, updated: 15 }, estimate: { requests: 20 } };
  expect(await run(`${change} --dry-run`)).toMatchObject({ status: "dry-run", ...said });
  // A page; names of lists, the structure, and what proves that both lists count.
  const requests = { search: 1, mutate: 15, other: 4 };
  expect(await run(change)).toMatchObject({ kind: "mutate", status: "completed", ...said, requests });
  const again = { rows: { read: 15, unchanged: 15 }, requests: { mutate: 0 } };
  expect(await run(change)).toMatchObject(again);
});

it("a selection holds every condition, together with keys and ids from a file", async () => {
  const { run, read, service } = await withMembers(12);
  const { _id } = await read("p3@example.com");
  const ids = await inputFile(`_id\n${_id}\n${"0".repeat(24)}\n`, "ids.csv");
  const change = "contact mutate --set 'Last Name=X'";
  const rows = { read: 2, updated: 1, rejected: 1 };
  expect(await run(`${change} --keys ${ids}`)).toMatchObject({ code: 3, rows });
  const keys = await inputFile("p1@example.com\np6@example.com\np9@example.com\n", "keys.txt");
  const conditions = `--list M --where 'key != "p9@example.com"'`;
  expect(await run(`${change} --keys ${keys} ${conditions}`)).toMatchObject({
    rows: { read: 3, updated: 1, skipped: 2 },
    codes: { skipped: { not_selected: 2 } },
  });
  const changed = [...(await readContacts(service))].filter(([, { fields }]) => fields["Last Name"] === "X");
  expect(changed.map(([key]) => key).sort()).toEqual(["p3@example.com", "p6@example.com"]);
});

it("a selection refuses what does not say whom it is for", async () => {
  const { ecm } = await startAccount();
  for (const [words, message] of [
    ["mutate --set 'Last Name=X'", "The contact's id or key is missing"],
    ["delete --yes", "The contact's id or key is missing"],
    ["delete --status '' --yes", "--status is empty"],
    ["delete a@example.com '' --yes", "id or key is empty"],
    ["delete --keys '' --yes", "--keys is empty"],
    ["delete --where '' --yes", "--where"],
    ["delete --where Nope --yes", "Unknown name"],
    ["delete a@b.co --keys f --yes", "--keys names every contact"],
    ["mutate a@b.co b@b.co --if-version 1 --add-tag T", "--if-version applies to a single contact"],
  ] as const)
    await refused(ecm(`contact ${words}`), 2, message);
});

const status = { primary: "Inactive", secondary: "Unsubscribe" };

it("contact unsubscribe takes one contact; who is inactive already is unchanged", async () => {
  const { ecm, read } = await withMembers(2);
  const line = "contact unsubscribe p0@example.com -y";
  expect(await readJson(ecm, `${line} --dry-run`)).toMatchObject({ method: "PATCH", body: { status } });
  expect(isInactive(await read("p0@example.com"))).toBe(false);
  expect(await readJson(ecm, line)).toMatchObject({ key: "p0@example.com", status });
  expect(await ecm(line)).toMatchObject({ code: 0, stderr: expect.stringContaining("unchanged") });
  expect((await ecm("contact unsubscribe no@example.com -y")).code).toBe(5);
});

it("contact unsubscribe takes many, sends nothing for who is inactive, and rejects unknown keys", async () => {
  const { ecm, run, read } = await withMembers(6);
  await ecm("contact unsubscribe p1@example.com -y");
  const stdin = ["p0", "p1", "no", "p2"].map((name) => `${name}@example.com\n`).join("");
  const result = await run("contact unsubscribe --keys - --yes", { stdin });
  expect(result).toMatchObject({
    code: 3,
    kind: "unsubscribe",
    rows: { read: 4, updated: 2, unchanged: 1, rejected: 1 },
    // Looked up twice; the structure, and a status each.
    requests: { search: 2, mutate: 0, other: 3 },
    codes: { rejected: { not_found: 1 } },
    consent: { marked: 0, inactive: 1 },
  });
  // The file marks nobody, and nobody can be resubscribed.
  expect(result.stderr).not.toMatch(/although the file says|Undo:/);
  expect((await read("p0@example.com")).status).toEqual(status);
  const rest = await run("contact unsubscribe --list L --yes");
  expect(rest.rows).toMatchObject({ read: 6, updated: 3, unchanged: 3 });
});

it.each([
  [{ primary: "Inactive", secondary: "Unsubscribe" }, true],
  [{ primary: "inactive" }, true],
  [{ primary: "active", secondary: "confirmed" }, false],
  [undefined, false],
])("an inactive contact is told by %j, whatever the letter case", (status, expected) => {
  expect(isInactive({ status })).toBe(expected);
});

it("contact delete writes a backup that imports again, then deletes; who is gone is skipped", async () => {
  const { ecm, run, keys, service } = await withMembers(9);
  const before = await readContacts(service);
  const backup = join(await temporaryFolder(), "backup.csv");
  const remove = `contact delete --list M --backup ${backup} --yes`;
  expect(await run(`${remove} --dry-run`)).toMatchObject({ rows: { deleted: 3 } });
  expect(existsSync(backup)).toBe(false);
  const rows = { read: 3, deleted: 3, updated: 0, pending: 0 };
  const requests = { search: 2, create: 0, mutate: 0, other: 5 };
  expect(await run(remove)).toMatchObject({ kind: "delete", rows, requests, backup });
  expect(await keys()).toHaveLength(6);
  expect((await run(`import ${backup}`)).rows).toMatchObject({ read: 3, created: 3 });
  const after = await readContacts(service);
  for (const [key, { fields, lists }] of before) expect(after.get(key)).toMatchObject({ fields, lists });

  await refused(ecm(remove), 2, "already exists");
  expect(await keys()).toHaveLength(9);
  const some = await run("contact delete p0@example.com no@example.com --yes");
  expect(some).toMatchObject({ rows: { deleted: 1, skipped: 1 }, codes: { skipped: { missing: 1 } } });
  expect(await readFile(some.backup!, "utf8")).toContain("p0@example.com");
});

it("contact delete takes one contact by key or id; one that does not exist is exit 5", async () => {
  const { ecm, run, keys, read } = await withMembers(2);
  const { _id } = await read("p1@example.com");
  const dry = await readJson(ecm, "contact delete p1@example.com --dry-run");
  expect(dry).toMatchObject({ method: "DELETE", path: `/api/contact/${_id}` });
  for (const code of [0, 5]) expect((await ecm(`contact delete ${_id} --yes`)).code).toBe(code);
  const missing = await run("contact delete p1@example.com --yes");
  expect(missing).toMatchObject({ code: 5, rows: { skipped: 1 }, codes: { skipped: { missing: 1 } } });
  expect(await keys()).toEqual(["p0@example.com"]);
});

it("contact delete goes on with a stopped one, by resume and by the same command, with its backup whole", async () => {
  const { run, keys } = await withMembers(30);
  const folder = await temporaryFolder();
  const backup = join(folder, "all.ndjson");
  const remove = `contact delete --all --backup ${backup} --yes`;
  const isWhole = async () => expect((await readFile(backup, "utf8")).trim().split("\n")).toHaveLength(30);
  const stopped = await run(`${remove} --max-requests 12`);
  expect(stopped).toMatchObject({ status: "stopped", stoppedBy: "max-requests", rows: { read: 30 } });
  await isWhole();
  const further = await run(`${remove} --max-requests 10`);
  expect(further).toMatchObject({ run: stopped.run, stoppedBy: "max-requests" });
  const ended = { run: stopped.run, status: "completed", rows: { read: 30, deleted: 30 }, backup };
  expect(await run(`runs resume ${stopped.run} --yes`)).toMatchObject(ended);
  await isWhole();
  expect(await keys()).toEqual([]);
  expect(await readdir(folder)).toEqual(["all.ndjson"]);
});

it("gets on under a small --max-requests: pages that a stopped selection has read are kept", async () => {
  const contacts = Array.from({ length: 40 }, (_, index) => ({
    key: `p${index}@example.com`,
    fields: { "First Name": index < 3 ? "A" : "B" },
  }));
  const { run } = await startAccount({ contents: { contacts }, variants: { page: "cap:8" } });
  const change = `contact mutate --all --where 'First_Name == "A"' --set 'Last Name=X' --max-requests 4`;
  const summaries = [await run(change)];
  while (summaries.at(-1)!.stoppedBy === "max-requests" && summaries.length < 10)
    summaries.push(await run(change));
  expect(summaries.at(-1)).toMatchObject({ status: "completed", rows: { read: 3, updated: 3 } });
  const sent = (kind: "search" | "mutate") =>
    summaries.reduce((sum, { requests }) => sum + requests[kind], 0);
  expect(sent("mutate")).toBe(3);
  // Five pages, once each; and at most one second look in each invocation that begins with the plan.
  expect(sent("search")).toBeLessThanOrEqual(5 + summaries.length - 1);
});

it("deletes nobody whom the conditions do not choose, should the service hand them over", async () => {
  const proxy = await startRecordingProxy();
  const { importing, run, keys } = askingOf(proxy);
  const rows = "in@example.com,L\nout@example.com,Other\nleft@example.com,L\n";
  await importing(`Email,lists\n${rows}`, "--create-missing");
  await proxy.ecm("contact unsubscribe left@example.com -y");
  const everybody = await call(proxy, "POST", "/api/contact/search", {
    contactStructureId: proxy.sandbox.structureId,
    page: 1,
    pageSize: 10,
    source: [...new Set(["_id", "key", ...wholeContact, ...statusParts])],
    contactSpecification: { filters: [] },
  });
  // A service that does not honour the filters.
  proxy.rewrites = (path, text) => (path.endsWith("/search") ? JSON.stringify(everybody) : text);
  const deleted = await run("contact delete --list L --status active --yes");
  expect(deleted.rows).toMatchObject({ read: 1, deleted: 1 });
  proxy.rewrites = (_path, text) => text;
  expect(await keys()).toEqual(["left@example.com", "out@example.com"]);
});

it("a typed body that contradicts itself is refused before a request", async () => {
  const { ecm, sandbox } = await startAccount();
  const [one, two] = ["1", "2"].map((value) => ({ _id: "one", value }));
  for (const [body, text] of [
    [{ addLists: [{ _id: "one" }], removeLists: [{ _id: "one" }] }, "both added and removed"],
    [{ addTags: ["one"], removeTags: [{ _id: "one" }] }, "both added and removed"],
    [{ updateFields: [one, two] }, "set twice"],
  ] as const)
    await refused(ecm("contact mutate a@x.org b@x.org --data -", { stdin: JSON.stringify(body) }), 2, text);
  expect(sandbox.admin.requests()).toEqual([]);
});
