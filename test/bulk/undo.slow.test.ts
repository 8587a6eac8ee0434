/** `runs undo` of changes: what the run wrote and nobody has changed since goes back, as its plan says before. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { contactLines, manyContacts, manyRows, readContacts, startAccount, temporaryFolder } from "../kit.ts";

const header = "Email,First Name\n";

/** An account of so many, to each of whom an import has given another name. */
async function withNewNames(count: number) {
  const account = await startAccount({ contents: { contacts: manyContacts(count) } });
  const before = await readContacts(account);
  const { run: id } = await account.importing(manyRows(count, (n) => `New ${n}`));
  return { ...account, before, undo: `runs undo ${id}` };
}

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

it("puts back what the run changed and nobody has changed since, and says what it cannot: in its plan, and then", async () => {
  const { ecm, run, importing, sandbox, service } = await startAccount();
  const people = "a@x.org,Ada\nb@x.org,Bob\nc@x.org,\ne@x.org,Eve\n";
  await importing(header + people, "--list Old --create-missing");
  const before = await readContacts(service);
  const changes = "d@x.org,Dan\nb@x.org,Bert\na@x.org,Anna\nc@x.org,Cy\ne@x.org,Ev\n";
  const { run: id } = await importing(header + changes, "--list New --tag T --create-missing");
  await ecm("contact mutate b@x.org --set 'First Name=Somebody else'");
  await ecm("contact delete e@x.org --yes");

  const plan = join(await temporaryFolder(), "plan.ndjson");
  const lines = async () => contactLines(await readFile(plan, "utf8"));
  const requests = () => sandbox.admin.requests().length;
  const begun = requests();
  const dry = await run(`runs undo ${id} --dry-run`);
  const spent = requests() - begun;
  const rows = { read: 5, updated: 3, rejected: 2 };
  expect(dry).toMatchObject({ code: 3, status: "dry-run", rows, requests: { mutate: 0 } });
  const withPlan = await run(`runs undo ${id} --dry-run --plan ${plan}`);
  expect(withPlan).toMatchObject({ ...dry, stderr: expect.any(String) });
  expect(requests() - begun).toBe(2 * spent);
  const planned = await lines();
  const told = planned.map(({ key, action, code, message, changes }) => [
    key,
    action,
    code,
    message,
    changes,
  ]);
  expect(told).toEqual(expectedLines);
  for (const { line, contactId } of planned)
    expect({ line, contactId }).toEqual({ line: null, contactId: expect.stringMatching(/^[0-9a-f]{24}$/) });

  const undone = await run(`runs undo ${id} --plan ${plan}`);
  expect(undone).toMatchObject({
    code: 3,
    stderr: expect.stringContaining("Not undone, with the reason: "),
    kind: "undo",
    status: "completed",
    rows,
    requests: { total: dry.estimate.requests },
    codes: { rejected: { created: 1, gone: 1 } },
  });
  expect(await lines()).toEqual(planned);
  const { stdout: rejects } = await ecm("runs rejects last");
  for (const { key, code, message } of planned) {
    const cell = message?.replaceAll('"', '""');
    if (code !== null) expect(rejects).toMatch(new RegExp(`^${key},\\d+,${code},"?${cell}"?$`, "m"));
  }
  // What was done, by the same names.
  const output = await ecm("runs show last --changes");
  expect(contactLines(output.stdout)).toEqual(planned.filter(({ action }) => action === "update"));
  const after = await readContacts(service);
  const nameOf = (key: string) => after.get(key)!.fields["First Name"] ?? "";
  const names = [..."abcd"].map((letter) => nameOf(`${letter}@x.org`));
  expect(names).toEqual(["Ada", "Somebody else", "", "Dan"]);
  for (const key of ["a@x.org", "b@x.org", "c@x.org"])
    expect(after.get(key)).toMatchObject({ lists: before.get(key)!.lists, tags: [] });
  expect((await run(`runs undo ${id}`)).requests.mutate).toBe(0);
});

it("writes what it cannot put back where it is told, and keeps it with the run", async () => {
  const { ecm, run, importing } = await startAccount();
  const undo = `runs undo ${(await importing(manyRows(3))).run}`;
  const rejects = join(await temporaryFolder(), "left.csv");
  // Contacts that the run created stay, and nothing is asked about them.
  const rows = { rejected: 3 };
  const requests = { search: 0, mutate: 0, other: 1 };
  expect(await run(`${undo} --rejects ${rejects}`)).toMatchObject({ code: 3, rejects, rows, requests });
  const text = await readFile(rejects, "utf8");
  expect(text).toContain("p2@example.com");
  expect((await ecm("runs rejects last")).stdout).toBe(text);
});

it("gets on with each invocation, however few requests it may send: who is read is written before others are read", async () => {
  const { run, undo } = await withNewNames(45);
  const done: number[] = [];
  while (done.length < 10 && done.at(-1) !== 45)
    done.push((await run(`${undo} --max-requests 45`)).rows.updated);
  expect(done.at(-1)).toBe(45);
  // A structure, a read and a write for each, and at most as many reads in vain as leave at once.
  expect(done[0]).toBeGreaterThanOrEqual((45 - 1 - 8) / 2);
});

it("stops after as many rejections as it is told, and after none of its own accord", async () => {
  const count = 110;
  const { ecm, run, undo } = await withNewNames(count);
  await ecm("contact mutate --all -y --set 'First Name=Other' --no-wait");
  const stopped = await run(`${undo} --concurrency 1 --max-rejects 5`);
  const stderr = expect.stringContaining("Resume with: ecm runs resume");
  expect(stopped).toMatchObject({ code: 3, stderr, status: "stopped", stoppedBy: "max-rejects" });
  expect(stopped.rows.pending).toBeGreaterThan(0);
  const rows = { rejected: count };
  const ended = await run(`${undo} --concurrency 1`);
  expect(ended).toMatchObject({ code: 3, run: stopped.run, status: "completed", rows });
});

it("puts back the rest where a field, a list or a tag is gone from the account", async () => {
  const fields = { "First Name": "Ada", City: "Oslo" };
  const contacts = [{ key: "a@x.org", fields, lists: ["Gone", "Stays"], tags: ["Old", "Kept"] }];
  const { ecm, run, service } = await startAccount({ contents: { contacts } });
  const before = (await readContacts(service)).get("a@x.org")!;
  const values = "--set 'First Name=Anna' --set City=";
  const removed = "--remove-list Gone --remove-list Stays --remove-tag Old --remove-tag Kept";
  const { run: id } = await run(`contact mutate ${values} ${removed} --all --yes`);
  await ecm("lists delete Gone --yes");
  await ecm("structure tag remove Old --yes");
  await ecm("structure field remove City --yes");

  const [line] = contactLines((await ecm(`runs undo ${id} --dry-run --plan -`)).stdout);
  expect(line).toMatchObject({
    action: "update",
    code: "changed_since",
    message: expect.stringMatching(/^not restored: field "City", list "[^"]+", tag "[^"]+"$/),
    changes: [
      { what: "field", name: "First Name", before: "Anna", after: "Ada" },
      { what: "list", name: "Stays", before: false, after: true },
      { what: "tag", name: "Kept", before: false, after: true },
    ],
  });
  const undone = await run(`runs undo ${id}`);
  expect(undone).toMatchObject({ code: 3, rows: { updated: 1, rejected: 0 }, partial: 1 });
  expect(undone.stderr).toContain("1 restored (1 in part)");
  expect(undone.stderr).toContain("Restored in part, with the reason: ");
  expect(undone.stderr).not.toContain("Not undone");
  expect((await ecm("runs rejects last")).stdout).toContain("a@x.org");
  expect((await readContacts(service)).get("a@x.org")).toMatchObject({
    fields: { "First Name": "Ada" },
    lists: [before.lists[1]],
    tags: [before.tags[1]],
  });
});

it.each(["the same command", "runs resume"])(
  "the plan of an undo is whole and in the order of the run before the first write; what stopped goes on with it, and writes each contact once: %s",
  async (how) => {
    const { ecm, run, undo, before, service } = await withNewNames(30);
    const keys = [...before.keys()];
    const plan = join(await temporaryFolder(), "plan.ndjson");
    const stopped = await run(`${undo} --plan ${plan} --max-requests 45`);
    expect(stopped.code).toBe(7);
    const planned = await readFile(plan, "utf8");
    const outline = contactLines(planned).map(({ key, action }) => [key, action]);
    expect(outline).toEqual(keys.map((key) => [key, "update"]));
    const done = contactLines((await ecm("runs show last --changes")).stdout).map(({ key }) => key);
    expect(done.length).toBeGreaterThan(0);
    expect(keys).toEqual(expect.arrayContaining(done));
    const command = how === "runs resume" ? `runs resume ${stopped.run}` : `${undo} --plan ${plan}`;
    expect(await run(command)).toMatchObject({ code: 0, rows: { read: 30, updated: 30 } });
    expect(contactLines(await readFile(plan, "utf8"))).toEqual(contactLines(planned));
    for (const [key, { fields, version }] of await readContacts(service)) {
      const was = before.get(key)!;
      expect({ key, fields, version }).toEqual({ key, fields: was.fields, version: was.version + 2 });
    }
  },
);
