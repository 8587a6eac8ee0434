/** `runs undo` of changes: what the run wrote and nobody has changed since goes back. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryFolder } from "../support/ecm.ts";
import { startSandbox } from "../support/sandbox.ts";
import { contactLines, inputFile, manyContacts, manyRows, readContacts, summaryOf } from "./kit.ts";

const importOf = async (text: string) => `import ${await inputFile(text)}`;

/** An account of so many, to each of whom an import has given another name. */
async function withNewNames(count: number) {
  const service = await startSandbox({ contents: { contacts: manyContacts(count) } });
  const { run } = await summaryOf(service.ecm, await importOf(manyRows(count, (n) => `New ${n}`)));
  return { ...service, undo: `runs undo ${run}` };
}

it("puts back what the run changed and nobody has changed since, and says what it cannot", async () => {
  const service = await startSandbox();
  const { ecm } = service;
  const first = await importOf("Email,First Name\na@x.org,Ada\nb@x.org,Bob\nc@x.org,\n");
  await ecm(`${first} --list Old --create-missing`);
  const before = await readContacts(service);
  const second = await importOf("Email,First Name\na@x.org,Anna\nb@x.org,Bert\nc@x.org,Cy\nd@x.org,Dan\n");
  const { run } = await summaryOf(ecm, `${second} --list New --tag T --create-missing`);
  await ecm("contact mutate b@x.org --set 'First Name=Somebody else'");

  const undo = `runs undo ${run}`;
  expect(await summaryOf(ecm, `${undo} --dry-run`)).toMatchObject({
    status: "dry-run",
    rows: { updated: 3, rejected: 1 },
    requests: { mutate: 0 },
  });
  expect(await summaryOf(ecm, undo)).toMatchObject({
    code: 3,
    stderr: expect.stringContaining("Not undone, with the reason: "),
    kind: "undo",
    status: "completed",
    rows: { read: 4, updated: 3, rejected: 1 },
    codes: { rejected: { created: 1 } },
  });
  const { stdout: rejects } = await ecm("runs rejects last");
  for (const word of ["d@x.org", "changed_since"]) expect(rejects).toContain(word);
  const after = await readContacts(service);
  expect(after.get("a@x.org")!.fields).toEqual(before.get("a@x.org")!.fields);
  expect(after.get("b@x.org")!.fields).toEqual({ "First Name": "Somebody else" });
  expect(after.get("c@x.org")!.fields["First Name"] ?? "").toBe("");
  for (const [key, { lists }] of before) expect(after.get(key)).toMatchObject({ lists, tags: [] });
  expect(after.has("d@x.org")).toBe(true);
  expect((await summaryOf(ecm, undo)).requests.mutate).toBe(0);
});

it("says of whom it restores a part, and does not call them not undone", async () => {
  const { ecm } = await startSandbox({ contents: { contacts: manyContacts(3) } });
  const changing = await importOf(manyRows(3, () => "New"));
  const { run } = await summaryOf(ecm, `${changing} --tag T --create-missing`);
  await ecm("contact mutate p1@example.com --set 'First Name=Theirs'");
  const undone = await summaryOf(ecm, `runs undo ${run}`);
  expect(undone).toMatchObject({ code: 3, rows: { updated: 3, rejected: 0 }, partial: 1 });
  expect(undone.stderr).toContain("3 restored (1 in part)");
  expect(undone.stderr).toContain("Restored in part, with the reason: ");
  expect(undone.stderr).not.toContain("Not undone");
  expect((await ecm("runs rejects last")).stdout).toContain("p1@example.com");
});

it("writes what it cannot put back where it is told, and keeps it with the run", async () => {
  const { ecm, sandbox } = await startSandbox();
  const { run } = await summaryOf(ecm, await importOf(manyRows(3)));
  const before = sandbox.admin.requests().length;
  const folder = await temporaryFolder();
  for (const place of [join(folder, "missing", "left.csv"), folder]) {
    const refused = await ecm(`runs undo ${run} --rejects ${place}`);
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining("--rejects") });
  }
  expect(sandbox.admin.requests().length).toBe(before);
  const rejects = join(folder, "left.csv");
  const undone = await summaryOf(ecm, `runs undo ${run} --rejects ${rejects}`);
  expect(undone).toMatchObject({ code: 3, rejects, rows: { rejected: 3 } });
  const text = await readFile(rejects, "utf8");
  expect(text).toContain("p2@example.com");
  expect((await ecm("runs rejects last")).stdout).toBe(text);
});

it("gets on with each invocation, however few requests it may send: who is read is written before others are read", async () => {
  const { ecm, undo } = await withNewNames(60);
  const done: number[] = [];
  while (done.length < 10 && done.at(-1) !== 60)
    done.push((await summaryOf(ecm, `${undo} --max-requests 45`)).rows.updated);
  expect(done.at(-1)).toBe(60);
  // A structure, a read and a write for each, and at most as many reads in vain as leave at once.
  expect(done[0]).toBeGreaterThanOrEqual((45 - 1 - 8) / 2);
});

it("stops after as many rejections as it is told, and after none of its own accord", async () => {
  const count = 330;
  const { ecm, undo } = await withNewNames(count);
  await ecm("contact mutate --all -y --set 'First Name=Other' --no-wait");
  const stopped = await summaryOf(ecm, `${undo} --concurrency 1 --max-rejects 5`);
  expect(stopped).toMatchObject({
    code: 3,
    stderr: expect.stringContaining("Resume with: ecm runs resume"),
    status: "stopped",
    stoppedBy: "max-rejects",
  });
  expect(stopped.rows.pending).toBeGreaterThan(0);
  expect(await summaryOf(ecm, `${undo} --concurrency 1`)).toMatchObject({
    code: 3,
    run: stopped.run,
    status: "completed",
    rows: { rejected: count },
  });
});

it("puts back the rest where a field, a list or a tag is gone from the account", async () => {
  const fields = { "First Name": "Ada", City: "Oslo" };
  const contacts = [{ key: "a@x.org", fields, lists: ["Gone", "Stays"], tags: ["Old", "Kept"] }];
  const service = await startSandbox({ contents: { contacts } });
  const { ecm } = service;
  const before = (await readContacts(service)).get("a@x.org")!;
  const values = "--set 'First Name=Anna' --set City=";
  const removed = "--remove-list Gone --remove-list Stays --remove-tag Old --remove-tag Kept";
  const { run } = await summaryOf(ecm, `contact mutate ${values} ${removed} --all --yes`);
  await ecm("lists delete Gone --yes");
  await ecm("structure tag remove Old --yes");
  await ecm("structure field remove City --yes");

  const [line] = contactLines((await ecm(`runs undo ${run} --dry-run --plan -`)).stdout);
  expect(line).toMatchObject({
    action: "update",
    code: "changed_since",
    message: expect.stringMatching(/^not restored: field "City", list "[^"]+", tag "[^"]+"$/),
  });
  expect(line!.changes).toEqual([
    { what: "field", name: "First Name", before: "Anna", after: "Ada" },
    { what: "list", name: "Stays", before: false, after: true },
    { what: "tag", name: "Kept", before: false, after: true },
  ]);
  const undone = await summaryOf(ecm, `runs undo ${run}`);
  expect(undone).toMatchObject({ code: 3, rows: { updated: 1, rejected: 0 } });
  expect((await readContacts(service)).get("a@x.org")).toMatchObject({
    fields: { "First Name": "Ada" },
    lists: [before.lists[1]],
    tags: [before.tags[1]],
  });
});

it("can be undone itself", async () => {
  const service = await startSandbox();
  const { ecm } = service;
  const nameNow = async () => (await readContacts(service)).get("a@x.org")!.fields["First Name"];
  await ecm(await importOf("Email,First Name\na@x.org,Ada\n"));
  await ecm(await importOf("Email,First Name\na@x.org,Anna\n"));
  for (const name of ["Ada", "Anna"]) {
    expect((await ecm("runs undo last")).code).toBe(0);
    expect(await nameNow()).toBe(name);
  }
});

it("asks nothing about contacts that the run created: they stay", async () => {
  const service = await startSandbox();
  await service.ecm(await importOf("Email\na@x.org\nb@x.org\n"));
  expect(await summaryOf(service.ecm, "runs undo last")).toMatchObject({
    rows: { rejected: 2 },
    requests: { search: 0, mutate: 0, other: 1 },
  });
  expect((await readContacts(service)).size).toBe(2);
});
