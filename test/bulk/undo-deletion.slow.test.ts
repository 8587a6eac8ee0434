/** Undo of what deletes and unsubscribes, and of what creates. */
import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { type RunningSandbox, startSandbox } from "../support/sandbox.ts";
import { inputFile, manyContacts, manyRows, parseSummary, readContacts, summaryOf } from "./kit.ts";

async function withPeople(count: number): Promise<{ service: RunningSandbox; run: string }> {
  const service = await startSandbox();
  const file = await inputFile(manyRows(count));
  const imported = await summaryOf(service.ecm, `import ${file} --list L --tag T --create-missing`);
  return { service, run: imported.run! };
}

describe("undo of a deletion", () => {
  it("creates again who was active, wakes nobody, and says what is lost", async () => {
    const { service } = await withPeople(6);
    const before = await readContacts(service);
    await service.ecm("contact unsubscribe p1@example.com -y");
    const deleted = await summaryOf(service.ecm, "contact delete --list L --yes");
    expect(deleted.rows).toMatchObject({ read: 6, deleted: 6 });
    await service.ecm("contact create --key p2@example.com");
    await service.ecm("suppressions add p3@example.com");
    const erased = await service.ecm("contact erase p4@example.com --yes");
    expect(erased.code, erased.stderr).toBe(0);

    const dry = await summaryOf(service.ecm, `runs undo ${deleted.run} --dry-run`);
    expect(dry.rows).toMatchObject({ created: 2, skipped: 3, rejected: 1 });
    const undone = await summaryOf(service.ecm, `runs undo ${deleted.run}`);
    expect(undone.code).toBe(3);
    expect(undone.stderr).toContain("get new ids; their history and date of creation are lost");
    expect(undone).toMatchObject({
      kind: "undo",
      rows: { read: 6, created: 2, skipped: 3, rejected: 1 },
      codes: { skipped: { exists: 1, suppressed: 2 }, rejected: { not_active: 1 } },
    });
    expect(await readFile(undone.rejects!, "utf8")).toContain("p1@example.com");
    const after = await readContacts(service);
    expect([...after.keys()].sort()).toEqual([0, 2, 5].map((index) => `p${index}@example.com`));
    for (const key of ["p0@example.com", "p5@example.com"]) expect(after.get(key)).toEqual(before.get(key));
  });
});

it("undo of an undo that deleted creates nobody who is suppressed", async () => {
  const { service, run } = await withPeople(2);
  const args = ["runs", "undo", run, "--delete-created", "--yes", "--json"];
  const deleted = parseSummary(await service.ecm(args));
  expect(deleted.rows).toMatchObject({ deleted: 2 });
  await service.ecm("suppressions add p0@example.com");
  expect(await summaryOf(service.ecm, `runs undo ${deleted.run}`)).toMatchObject({
    rows: { created: 1, skipped: 1 },
    codes: { skipped: { suppressed: 1 } },
  });
  expect([...(await readContacts(service)).keys()]).toEqual(["p1@example.com"]);
});

it("undo of a deletion takes nobody for alive whom a search still shows", async () => {
  const variants = { "search-lag": "3600000" };
  const service = await startSandbox({ contents: { contacts: manyContacts(3) }, variants });
  const before = await readContacts(service);
  const { run } = parseSummary(await service.ecm(["contact", "delete", ...before.keys(), "--yes", "--json"]));
  expect((await readContacts(service)).size).toBe(0);
  const planned = await service.ecm(`runs undo ${run} --dry-run --plan -`);
  expect(planned.stdout.match(/"contactId":null,"action":"create"/g)).toHaveLength(3);
  expect((await summaryOf(service.ecm, `runs undo ${run}`)).rows.created).toBe(3);
  expect(await readContacts(service)).toEqual(before);
});

describe("undo of an unsubscription", () => {
  it("sends no request, and says why nobody comes back", async () => {
    const { service } = await withPeople(2);
    const run = (await summaryOf(service.ecm, "contact unsubscribe --all --yes")).run!;
    const undone = await summaryOf(service.ecm, `runs undo ${run}`);
    expect(undone).toMatchObject({
      code: 3,
      rows: { read: 2, rejected: 2 },
      requests: { total: 0 },
      codes: { rejected: { unsubscribed: 2 } },
    });
    expect(undone.stderr).not.toContain("rate-limit");
  });
});

describe("undo --delete-created", () => {
  it("deletes what the run created and nobody has changed since, after a question", async () => {
    const { service, run } = await withPeople(6);
    // Somebody else's contact, with the same key and values.
    await service.ecm("contact delete p5@example.com --yes");
    const again = ["contact", "create", "--key", "p5@example.com", "--set", "First Name=First 5"];
    await service.ecm([...again, "--list", "L", "--tag", "T"]);
    await service.ecm("contact mutate p0@example.com --set 'Last Name=Changed'");
    await service.ecm("contact unsubscribe p1@example.com -y");
    await service.ecm("contact delete p2@example.com --yes");
    const args = ["runs", "undo", run, "--delete-created", "--json"];
    expect((await service.ecm(args)).code).toBe(2);
    expect((await readContacts(service)).size).toBe(5);
    const dialog = {
      terminalColumns: 120,
      typed: [["Type 2 to permanently delete 2 contacts", "no\r"]] as [string, string][],
    };
    expect((await service.ecm(args, dialog)).code).toBe(1);
    expect((await readContacts(service)).size).toBe(5);
    const undone = await service.ecm([...args, "--yes"]);
    expect(undone.code).toBe(3);
    expect(parseSummary(undone)).toMatchObject({
      rows: { read: 6, deleted: 2, unchanged: 2, rejected: 2 },
      codes: { rejected: { changed_since: 2 } },
    });
    const left = ["p0@example.com", "p1@example.com", "p5@example.com"];
    expect([...(await readContacts(service)).keys()].sort()).toEqual(left);
    // Without the flag, created contacts stay.
    const plain = await summaryOf(service.ecm, `runs undo ${run}`);
    expect(plain).toMatchObject({ rows: { rejected: 6, deleted: 0 }, codes: { rejected: { created: 6 } } });
  });
});
