/**
 * `runs undo --plan` and `--show`: who and what, in the order of the
 * run that is undone, the same as what is done.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { PlanLine } from "../../src/bulk/plan/plan-line.ts";
import { temporaryFolder } from "../support/ecm.ts";
import { startSandbox } from "../support/sandbox.ts";
import {
  contactLines,
  inputFile,
  manyContacts,
  manyRows,
  parseSummary,
  readContacts,
  summaryOf,
} from "./kit.ts";

const linesIn = contactLines;

/** Without what a service chooses. */
const withoutIds = (lines: PlanLine[]) => lines.map(({ contactId: _id, ...line }) => line);

async function changed() {
  const service = await startSandbox();
  const { ecm } = service;
  await ecm([
    "import",
    await inputFile("Email,First Name\na@x.org,Ada\nb@x.org,Bob\nc@x.org,\ne@x.org,Eve\n"),
  ]);
  const path = await inputFile(
    "Email,First Name\nd@x.org,Dan\nb@x.org,Bert\na@x.org,Anna\nc@x.org,Cy\ne@x.org,Ev\n",
  );
  const { run } = await summaryOf(ecm, `import ${path} --list New --tag T --create-missing`);
  await ecm("contact mutate b@x.org --set 'First Name=Somebody else'");
  await ecm("contact delete e@x.org --yes");
  const plan = join(await temporaryFolder(), "plan.ndjson");
  const lines = async () => linesIn(await readFile(plan, "utf8"));
  return { ...service, run: run!, plan, lines };
}

const list = { what: "list", name: "New", before: true, after: false };
const tag = { what: "tag", name: "T", before: true, after: false };
const firstName = (before: string, after: string) => ({ what: "field", name: "First Name", before, after });
const expectedLines = [
  {
    line: null,
    key: "d@x.org",
    action: "reject",
    code: "created",
    message: "created by the run, not deleted",
    changes: [],
  },
  {
    line: null,
    key: "b@x.org",
    action: "update",
    code: "changed_since",
    message: expect.stringMatching(/^not restored: field "[^"]+"$/),
    changes: [list, tag],
  },
  {
    line: null,
    key: "a@x.org",
    action: "update",
    code: null,
    message: null,
    changes: [firstName("Anna", "Ada"), list, tag],
  },
  {
    line: null,
    key: "c@x.org",
    action: "update",
    code: null,
    message: null,
    changes: [firstName("Cy", ""), list, tag],
  },
  {
    line: null,
    key: "e@x.org",
    action: "reject",
    code: "gone",
    message: "no longer exists",
    changes: [],
  },
];

describe("runs undo --plan", () => {
  it("has a line for each contact, in the order of the run, by names; the same with and without --dry-run", async () => {
    const { ecm, run, plan, lines, sandbox } = await changed();
    const requests = () => sandbox.admin.requests().length;
    const before = requests();
    const bare = await summaryOf(ecm, `runs undo ${run} --dry-run`);
    const spent = requests() - before;
    const dry = await summaryOf(ecm, `runs undo ${run} --dry-run --plan ${plan}`);
    expect(dry.code, dry.stderr).toBe(3);
    expect(dry).toEqual(bare);
    expect(requests() - before).toBe(2 * spent);
    const planned = await lines();
    expect(withoutIds(planned)).toEqual(expectedLines);
    for (const { contactId } of planned) expect(contactId).toMatch(/^[0-9a-f]{24}$/);

    const undone = await summaryOf(ecm, `runs undo ${run} --plan ${plan}`);
    expect(undone.code, undone.stderr).toBe(3);
    expect(await lines()).toEqual(planned);
    expect(undone.requests.total).toBe(bare.estimate.requests);
    const rejects = await readFile(undone.rejects!, "utf8");
    for (const { key, code, message } of planned) {
      const cell = message?.replaceAll('"', '""');
      if (code !== null) expect(rejects).toMatch(new RegExp(`^${key},\\d+,${code},"?${cell}"?$`, "m"));
    }
    // What was done, by the same names.
    const output = await ecm("runs show last --changes");
    expect(linesIn(output.stdout)).toEqual(planned.filter(({ action }) => action === "update"));
  });

  it("keeps the order of the run although its contacts were written side by side", async () => {
    const count = 450;
    const service = await startSandbox({ contents: { contacts: manyContacts(count) } });
    const { ecm } = service;
    const { run } = parseSummary(
      await ecm(["import", await inputFile(manyRows(count, (n) => `New ${n}`)), "--json"]),
    );
    const { stdout } = await ecm(`runs undo ${run} --plan -`);
    expect(linesIn(stdout).map(({ key }) => key)).toEqual(
      Array.from({ length: count }, (_, index) => `p${index}@example.com`),
    );
    expect((await readContacts(service)).get("p449@example.com")!.fields).toEqual({
      "First Name": "First 449",
    });
  });

  it("says of deletions who is created again, and who is not", async () => {
    const service = await startSandbox();
    const { ecm } = service;
    const path = await inputFile(manyRows(4));
    await ecm(`import ${path} --list L --tag T --create-missing`);
    await ecm("contact unsubscribe p1@example.com -y");
    const { run } = await summaryOf(ecm, "contact delete --list L --yes");
    await ecm("contact create --key p2@example.com");
    await ecm("suppressions add p3@example.com");
    const dry = await ecm(`runs undo ${run} --dry-run --plan -`);
    const planned = linesIn(dry.stdout);
    expect(planned).toMatchObject([
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
    ]);
    expect(linesIn((await ecm(`runs undo ${run} --plan -`)).stdout)).toEqual(planned);
    expect([...(await readContacts(service)).keys()].sort()).toEqual(["p0@example.com", "p2@example.com"]);
  });

  it("says of created contacts who is deleted with --delete-created", async () => {
    const service = await startSandbox();
    const { ecm } = service;
    const { run } = await summaryOf(ecm, `import ${await inputFile(manyRows(3))}`);
    await ecm("contact mutate p1@example.com --set 'Last Name=Changed'");
    await ecm("contact delete p2@example.com --yes");
    const args = ["runs", "undo", run!, "--delete-created", "--plan", "-"];
    const planned = linesIn((await ecm([...args, "--dry-run"])).stdout);
    expect(planned).toMatchObject([
      { key: "p0@example.com", action: "delete", code: null, changes: [] },
      { key: "p1@example.com", action: "reject", code: "changed_since", changes: [] },
      { key: "p2@example.com", action: "unchanged", code: null, changes: [] },
    ]);
    expect(linesIn((await ecm([...args, "--yes"])).stdout)).toEqual(planned);
    expect([...(await readContacts(service)).keys()]).toEqual(["p1@example.com"]);
  });

  it("names nobody back from an unsubscription, without a request", async () => {
    const { ecm, sandbox } = await startSandbox({ contents: { contacts: manyContacts(2) } });
    await ecm("contact unsubscribe --all --yes");
    const before = sandbox.admin.requests().length;
    const { stdout } = await ecm("runs undo last --plan -");
    expect(linesIn(stdout)).toMatchObject([
      { key: "p0@example.com", action: "reject", code: "unsubscribed" },
      { key: "p1@example.com", action: "reject", code: "unsubscribed" },
    ]);
    expect(sandbox.admin.requests().length).toBe(before);
  });

  it("is whole before the first write: the same when the run stops, and for the same command again", async () => {
    const count = 30;
    const service = await startSandbox({ contents: { contacts: manyContacts(count) } });
    const { ecm } = service;
    const { run } = parseSummary(
      await ecm(["import", await inputFile(manyRows(count, (n) => `New ${n}`)), "--json"]),
    );
    const args = ["runs", "undo", run!, "--plan", "-"];
    const stopped = await ecm([...args, "--max-requests", "45"]);
    expect(stopped.code).toBe(7);
    const first = linesIn(stopped.stdout);
    const done = linesIn((await ecm("runs show last --changes")).stdout).map(({ key }) => key);
    expect(done.length).toBeGreaterThan(0);
    expect(first.map(({ key }) => key)).toEqual(expect.arrayContaining(done));
    const keys = Array.from({ length: count }, (_, index) => `p${index}@example.com`);
    expect(first.map(({ key }) => key)).toEqual(keys);
    expect(first.every(({ action }) => action === "update")).toBe(true);
    expect(linesIn((await ecm(args)).stdout)).toEqual(first);
  });

  it("is resumed without a plan, and writes each contact once", async () => {
    const count = 30;
    const service = await startSandbox({ contents: { contacts: manyContacts(count) } });
    const { ecm } = service;
    const before = await readContacts(service);
    const { run } = parseSummary(
      await ecm(["import", await inputFile(manyRows(count, (n) => `New ${n}`)), "--json"]),
    );
    const plan = join(await temporaryFolder(), "plan.ndjson");
    const stopped = await summaryOf(ecm, `runs undo ${run} --plan ${plan} --max-requests 45`);
    const planned = await readFile(plan, "utf8");
    const resumed = await summaryOf(ecm, `runs resume ${stopped.run}`);
    expect(resumed.code, resumed.stderr).toBe(0);
    expect(resumed.rows).toMatchObject({ read: count, updated: count });
    expect(await readFile(plan, "utf8")).toBe(planned);
    for (const [key, { fields, version }] of await readContacts(service)) {
      expect({ key, fields, version }).toEqual({
        key,
        fields: before.get(key)!.fields,
        version: before.get(key)!.version + 2,
      });
    }
  });
});
