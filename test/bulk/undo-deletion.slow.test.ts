/** Undo of what deletes and unsubscribes, and of what creates: what its plan says, and what is done. */
import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { contactLines, done, manyContacts, manyRows, readContacts, startAccount } from "../kit.ts";

/** So many contacts that an import has created, in a list and with a tag. */
async function withPeople(count: number) {
  const account = await startAccount();
  const imported = await account.importing(manyRows(count), "--list L --tag T --create-missing");
  const plannedBy = async (words: string) => contactLines((await account.ecm(`${words} --plan -`)).stdout);
  return { ...account, undo: `runs undo ${imported.run}`, plannedBy };
}

const addresses = (...numbers: number[]) => numbers.map((number) => `p${number}@example.com`);

it("creates again who was deleted and active, wakes nobody, and says what is lost", async () => {
  const { ecm, run, service, plannedBy, keys } = await withPeople(6);
  const before = await readContacts(service);
  await ecm("contact unsubscribe p1@example.com -y");
  const deleted = await run("contact delete --list L --yes");
  expect(deleted.rows).toMatchObject({ read: 6, deleted: 6 });
  await ecm("contact create --key p2@example.com");
  await ecm("suppressions add p3@example.com");
  await done(ecm("contact erase p4@example.com --yes"));

  const undo = `runs undo ${deleted.run}`;
  expect(await plannedBy(`${undo} --dry-run`)).toMatchObject([
    {
      key: "p0@example.com",
      contactId: null,
      action: "create",
      changes: [
        { what: "field", name: "First Name", before: null, after: "First 0" },
        { what: "list", name: "L", before: false, after: true },
        { what: "tag", name: "T", before: false, after: true },
      ],
    },
    { key: "p1@example.com", contactId: null, action: "reject", code: "not_active" },
    { key: "p2@example.com", contactId: expect.any(String), action: "skip", code: "exists" },
    { key: "p3@example.com", contactId: null, action: "skip", code: "suppressed" },
    { action: "skip", code: "suppressed" },
    { key: "p5@example.com", action: "create" },
  ]);
  const undone = await run(undo);
  const stderr = expect.stringContaining("get new ids; their history and date of creation are lost");
  const rows = { read: 6, created: 2, skipped: 3, rejected: 1 };
  const codes = { skipped: { exists: 1, suppressed: 2 }, rejected: { not_active: 1 } };
  expect(undone).toMatchObject({ code: 3, stderr, kind: "undo", rows, codes });
  expect(await readFile(undone.rejects!, "utf8")).toContain("p1@example.com");
  expect(await keys()).toEqual(addresses(0, 2, 5));
  const after = await readContacts(service);
  for (const key of addresses(0, 5)) expect(after.get(key)).toEqual(before.get(key));
});

it("creates nobody who is suppressed where it undoes an undo that deleted", async () => {
  const { ecm, run, undo, keys } = await withPeople(2);
  const deleted = await run(`${undo} --delete-created --yes`);
  expect(deleted.rows).toMatchObject({ deleted: 2 });
  await ecm("suppressions add p0@example.com");
  const rows = { created: 1, skipped: 1 };
  const codes = { skipped: { suppressed: 1 } };
  expect(await run(`runs undo ${deleted.run}`)).toMatchObject({ code: 3, rows, codes });
  expect(await keys()).toEqual(addresses(1));
});

it("takes nobody who was deleted for alive whom a search still shows", async () => {
  const variants = { "search-lag": "3600000" };
  const contents = { contacts: manyContacts(3) };
  const { ecm, run, keys, service } = await startAccount({ contents, variants });
  const before = await readContacts(service);
  const deleted = await run(`contact delete ${[...before.keys()].join(" ")} --yes`);
  expect(await keys()).toEqual([]);
  const planned = contactLines((await ecm(`runs undo ${deleted.run} --dry-run --plan -`)).stdout);
  expect(planned).toMatchObject(Array(3).fill({ contactId: null, action: "create" }));
  expect((await run(`runs undo ${deleted.run}`)).rows.created).toBe(3);
  expect(await readContacts(service)).toEqual(before);
});

it("sends no request about who was unsubscribed, and says why nobody comes back", async () => {
  const { run, plannedBy } = await withPeople(2);
  const undo = `runs undo ${(await run("contact unsubscribe --all --yes")).run}`;
  const rejected = addresses(0, 1).map((key) => ({ key, action: "reject", code: "unsubscribed" }));
  expect(await plannedBy(`${undo} --dry-run`)).toMatchObject(rejected);
  const undone = await run(undo);
  const codes = { rejected: { unsubscribed: 2 } };
  expect(undone).toMatchObject({ code: 3, rows: { read: 2, rejected: 2 }, requests: { total: 0 }, codes });
  expect(undone.stderr).not.toContain("rate-limit");
});

it("deletes with --delete-created what the run created and nobody has changed since, after a question", async () => {
  const { ecm, run, undo, plannedBy, keys } = await withPeople(6);
  // Somebody else's contact, with the same key and values.
  await ecm("contact delete p5@example.com --yes");
  await ecm("contact create --key p5@example.com --set 'First Name=First 5' --list L --tag T");
  await ecm("contact mutate p0@example.com --set 'Last Name=Changed'");
  await ecm("contact unsubscribe p1@example.com -y");
  await ecm("contact delete p2@example.com --yes");
  const deleting = `${undo} --delete-created`;
  expect((await ecm(deleting)).code).toBe(2);
  const typing = (answer: string) => ({
    terminalColumns: 120,
    typed: [["Type 2 to permanently delete 2 contacts", `${answer}\r`]] as [string, string][],
  });
  for (const answer of ["no", "5"]) expect((await ecm(deleting, typing(answer))).code).toBe(1);
  expect(await keys()).toHaveLength(5);
  const planned = await plannedBy(`${deleting} --dry-run`);
  expect(planned.map(({ key, action, code, changes }) => [key, action, code, changes.length])).toEqual([
    ["p0@example.com", "reject", "changed_since", 0],
    ["p1@example.com", "reject", "changed_since", 0],
    ["p2@example.com", "unchanged", null, 0],
    ["p3@example.com", "delete", null, 0],
    ["p4@example.com", "delete", null, 0],
    ["p5@example.com", "unchanged", null, 0],
  ]);
  const rows = { read: 6, deleted: 2, unchanged: 2, rejected: 2 };
  const codes = { rejected: { changed_since: 2 } };
  expect(await run(deleting, typing("2"))).toMatchObject({ code: 3, rows, codes });
  expect(await keys()).toEqual(addresses(0, 1, 5));
  // Without the flag, created contacts stay.
  expect(await run(undo)).toMatchObject({
    rows: { rejected: 6, deleted: 0 },
    codes: { rejected: { created: 6 } },
  });
});
