/** `runs undo --plan`: who and what, in the order of the run that is undone, the same as what is done. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../support/ecm.ts";
import { startSandbox } from "../support/sandbox.ts";
import { contactLines, inputFile, manyContacts, manyRows, readContacts, summaryOf } from "./kit.ts";

const list = { what: "list", name: "New", before: true, after: false };
const tag = { what: "tag", name: "T", before: true, after: false };
const firstName = (before: string, after: string) => ({ what: "field", name: "First Name", before, after });

const expectedLines = [
  ["d@x.org", "reject", "created", "created by the run, not deleted", []],
  ["b@x.org", "update", "changed_since", expect.stringMatching(/^not restored: field "[^"]+"$/), [list, tag]],
  ["a@x.org", "update", null, null, [firstName("Anna", "Ada"), list, tag]],
  ["c@x.org", "update", null, null, [firstName("Cy", ""), list, tag]],
  ["e@x.org", "reject", "gone", "no longer exists", []],
];

/** An account whose contacts an import has given a new name each. */
async function withNewNames(count: number) {
  const service = await startSandbox({ contents: { contacts: manyContacts(count) } });
  const before = await readContacts(service);
  const file = await inputFile(manyRows(count, (n) => `New ${n}`));
  const { run } = await summaryOf(service.ecm, `import ${file}`);
  return { service, ecm: service.ecm, before, run, keys: [...before.keys()] };
}

describe("runs undo --plan", () => {
  it("has a line for each contact, in the order of the run, by names; the same with and without --dry-run", async () => {
    const { ecm, sandbox } = await startSandbox();
    await ecm(
      `import ${await inputFile("Email,First Name\na@x.org,Ada\nb@x.org,Bob\nc@x.org,\ne@x.org,Eve\n")}`,
    );
    const path = await inputFile(
      "Email,First Name\nd@x.org,Dan\nb@x.org,Bert\na@x.org,Anna\nc@x.org,Cy\ne@x.org,Ev\n",
    );
    const { run } = await summaryOf(ecm, `import ${path} --list New --tag T --create-missing`);
    await ecm("contact mutate b@x.org --set 'First Name=Somebody else'");
    await ecm("contact delete e@x.org --yes");
    const plan = join(await temporaryFolder(), "plan.ndjson");
    const lines = async () => contactLines(await readFile(plan, "utf8"));
    const requests = () => sandbox.admin.requests().length;
    const before = requests();
    const bare = await summaryOf(ecm, `runs undo ${run} --dry-run`);
    const spent = requests() - before;
    expect(bare.code).toBe(3);
    expect(await summaryOf(ecm, `runs undo ${run} --dry-run --plan ${plan}`)).toMatchObject({
      ...bare,
      stderr: expect.any(String),
    });
    expect(requests() - before).toBe(2 * spent);
    const planned = await lines();
    expect(
      planned.map(({ key, action, code, message, changes }) => [key, action, code, message, changes]),
    ).toEqual(expectedLines);
    for (const { line, contactId } of planned)
      expect({ line, contactId }).toEqual({ line: null, contactId: expect.stringMatching(/^[0-9a-f]{24}$/) });

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
    expect(contactLines(output.stdout)).toEqual(planned.filter(({ action }) => action === "update"));
  });

  it("keeps the order of the run although its contacts were written side by side", async () => {
    const { service, ecm, run, keys } = await withNewNames(450);
    const { stdout } = await ecm(`runs undo ${run} --plan -`);
    expect(contactLines(stdout).map(({ key }) => key)).toEqual(keys);
    const { fields } = (await readContacts(service)).get("p449@example.com")!;
    expect(fields).toEqual({ "First Name": "First 449" });
  });

  it("is whole before the first write: the same when the run stops, and for the same command again", async () => {
    const { ecm, run, keys } = await withNewNames(30);
    const undo = `runs undo ${run} --plan -`;
    const stopped = await ecm(`${undo} --max-requests 45`);
    expect(stopped.code).toBe(7);
    const first = contactLines(stopped.stdout);
    const done = contactLines((await ecm("runs show last --changes")).stdout).map(({ key }) => key);
    expect(done.length).toBeGreaterThan(0);
    expect(keys).toEqual(expect.arrayContaining(done));
    expect(first.map(({ key, action }) => [key, action])).toEqual(keys.map((key) => [key, "update"]));
    expect(contactLines((await ecm(undo)).stdout)).toEqual(first);
  });

  it("is resumed without a plan, and writes each contact once", async () => {
    const { service, ecm, run, before } = await withNewNames(30);
    const plan = join(await temporaryFolder(), "plan.ndjson");
    const stopped = await summaryOf(ecm, `runs undo ${run} --plan ${plan} --max-requests 45`);
    const planned = await readFile(plan, "utf8");
    const resumed = await summaryOf(ecm, `runs resume ${stopped.run}`);
    expect(resumed).toMatchObject({ code: 0, rows: { read: 30, updated: 30 } });
    expect(await readFile(plan, "utf8")).toBe(planned);
    for (const [key, { fields, version }] of await readContacts(service)) {
      const was = before.get(key)!;
      expect({ key, fields, version }).toEqual({ key, fields: was.fields, version: was.version + 2 });
    }
  });
});
