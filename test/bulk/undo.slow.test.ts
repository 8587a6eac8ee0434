import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
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

describe("ecm runs undo", () => {
  it("puts back what the run changed and nobody has changed since, and says what it cannot", async () => {
    const service = await startSandbox();
    const { ecm } = service;
    await ecm([
      "import",
      await inputFile("Email,First Name\na@x.org,Ada\nb@x.org,Bob\nc@x.org,\n"),
      "--list",
      "Old",
      "--create-missing",
    ]);
    const before = await readContacts(service);
    const path = await inputFile("Email,First Name\na@x.org,Anna\nb@x.org,Bert\nc@x.org,Cy\nd@x.org,Dan\n");
    const run = await summaryOf(ecm, `import ${path} --list New --tag T --create-missing`);
    await ecm("contact mutate b@x.org --set 'First Name=Somebody else'");

    const dry = await ecm(`runs undo ${run.run} --dry-run --json`);
    expect(parseSummary(dry)).toMatchObject({
      status: "dry-run",
      rows: { updated: 3, rejected: 1 },
      requests: { mutate: 0 },
    });
    const undone = await ecm(`runs undo ${run.run} --json`);
    expect(undone.code).toBe(3);
    expect(parseSummary(undone)).toMatchObject({
      kind: "undo",
      status: "completed",
      rows: { read: 4, updated: 3, rejected: 1 },
      codes: { rejected: { created: 1 } },
    });
    expect(undone.stderr).toContain("Not undone, with the reason: ");
    const listed = await ecm("runs rejects last");
    expect(listed.stdout).toContain("d@x.org");
    expect(listed.stdout).toContain("changed_since");

    const after = await readContacts(service);
    expect(after.get("a@x.org")!.fields).toEqual(before.get("a@x.org")!.fields);
    expect(after.get("b@x.org")!.fields).toEqual({ "First Name": "Somebody else" });
    expect(after.get("c@x.org")!.fields["First Name"] ?? "").toBe("");
    for (const key of ["a@x.org", "b@x.org", "c@x.org"]) {
      expect(after.get(key)!.lists).toEqual(before.get(key)!.lists);
      expect(after.get(key)!.tags).toEqual([]);
    }
    expect(after.has("d@x.org")).toBe(true);
    const again = await summaryOf(ecm, `runs undo ${run.run}`);
    expect(again.requests.mutate).toBe(0);
  });

  it("says of whom it restores a part, and does not call them not undone", async () => {
    const { ecm } = await startSandbox({ contents: { contacts: manyContacts(3) } });
    const file = await inputFile(manyRows(3, () => "New"));
    const { run } = await summaryOf(ecm, `import ${file} --tag T --create-missing`);
    await ecm("contact mutate p1@example.com --set 'First Name=Theirs'");
    const undone = await ecm(`runs undo ${run} --json`);
    expect(parseSummary(undone)).toMatchObject({ rows: { updated: 3, rejected: 0 }, partial: 1 });
    expect(undone.code).toBe(3);
    expect(undone.stderr).toContain("3 restored (1 in part)");
    expect(undone.stderr).toContain("Restored in part, with the reason: ");
    expect(undone.stderr).not.toContain("Not undone");
    expect((await ecm("runs rejects last")).stdout).toContain("p1@example.com");
  });

  it("writes what it cannot put back where it is told, and keeps it with the run", async () => {
    const service = await startSandbox();
    const { ecm, sandbox } = service;
    const { run } = await summaryOf(ecm, `import ${await inputFile(manyRows(3))}`);
    const before = sandbox.admin.requests().length;
    const folder = await temporaryFolder();
    for (const place of [join(folder, "missing", "left.csv"), folder]) {
      const refused = await ecm(`runs undo ${run} --rejects ${place}`);
      expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining("--rejects") });
    }
    expect(sandbox.admin.requests().length).toBe(before);
    const rejects = join(folder, "left.csv");
    expect(await summaryOf(ecm, `runs undo ${run} --rejects ${rejects}`)).toMatchObject({
      code: 3,
      rejects,
      rows: { rejected: 3 },
    });
    const text = await readFile(rejects, "utf8");
    expect(text).toContain("p2@example.com");
    expect((await ecm("runs rejects last")).stdout).toBe(text);
  });

  it("gets on with each invocation, however few requests it may send: who is read is written before others are read", async () => {
    const { ecm } = await startSandbox({ contents: { contacts: manyContacts(60) } });
    const changed = await inputFile(manyRows(60, (n) => `New ${n}`));
    const { run } = await summaryOf(ecm, `import ${changed}`);
    const args = ["runs", "undo", run!, "--json"];
    const done: number[] = [];
    for (let left = 60; left > 0; ) {
      const { rows } = parseSummary(await ecm([...args, "--max-requests", "45"]));
      done.push(rows.updated);
      left = 60 - rows.updated;
      expect(done.length).toBeLessThan(10);
    }
    // A structure, a read and a write for each, and at most as many reads in vain as leave at once.
    expect(done[0]).toBeGreaterThanOrEqual((45 - 1 - 8) / 2);
  });

  it("stops after as many rejections as it is told, and after none of its own accord", async () => {
    const count = 330;
    const { ecm } = await startSandbox({ contents: { contacts: manyContacts(count) } });
    const changed = await inputFile(manyRows(count, (n) => `New ${n}`));
    const { run } = await summaryOf(ecm, `import ${changed}`);
    await ecm("contact mutate --all -y --set 'First Name=Other' --no-wait");
    const args = ["runs", "undo", run!, "--concurrency", "1", "--json"];
    const stopped = await ecm([...args, "--max-rejects", "5"]);
    expect(stopped.code).toBe(3);
    expect(stopped.stderr).toContain("Resume with: ecm runs resume");
    const summary = parseSummary(stopped);
    expect(summary).toMatchObject({ status: "stopped", stoppedBy: "max-rejects" });
    expect(summary.rows.pending).toBeGreaterThan(0);
    const resumed = await ecm(args);
    expect(resumed.code, resumed.stderr).toBe(3);
    expect(parseSummary(resumed)).toMatchObject({
      run: summary.run,
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
    const change = [
      "--set",
      "First Name=Anna",
      "--set",
      "City=",
      "--remove-list",
      "Gone",
      "--remove-tag",
      "Old",
    ];
    const more = ["--remove-list", "Stays", "--remove-tag", "Kept", "--all", "--yes", "--json"];
    const { run } = parseSummary(await ecm(["contact", "mutate", ...change, ...more]));
    await ecm("lists delete Gone --yes");
    await ecm("structure tag remove Old --yes");
    await ecm("structure field remove City --yes");

    const dry = await ecm(`runs undo ${run} --dry-run --plan -`);
    const line = contactLines(dry.stdout)[0]!;
    expect(line).toMatchObject({ action: "update", code: "changed_since" });
    expect(line.message).toMatch(/^not restored: field "City", list "[^"]+", tag "[^"]+"$/);
    expect(line.changes).toEqual([
      { what: "field", name: "First Name", before: "Anna", after: "Ada" },
      { what: "list", name: "Stays", before: false, after: true },
      { what: "tag", name: "Kept", before: false, after: true },
    ]);
    const undone = await summaryOf(ecm, `runs undo ${run}`);
    expect(undone.code, undone.stderr).toBe(3);
    expect(undone.rows).toMatchObject({ updated: 1, rejected: 0 });
    const after = (await readContacts(service)).get("a@x.org")!;
    expect(after.fields).toEqual({ "First Name": "Ada" });
    expect(after.lists).toEqual([before.lists[1]]);
    expect(after.tags).toEqual([before.tags[1]]);
  });

  it("can be undone itself", async () => {
    const service = await startSandbox();
    const { ecm } = service;
    await ecm(`import ${await inputFile("Email,First Name\na@x.org,Ada\n")}`);
    await ecm(`import ${await inputFile("Email,First Name\na@x.org,Anna\n")}`);
    await ecm("runs undo last");
    expect((await readContacts(service)).get("a@x.org")!.fields).toEqual({ "First Name": "Ada" });
    expect((await ecm("runs undo last")).code).toBe(0);
    expect((await readContacts(service)).get("a@x.org")!.fields).toEqual({ "First Name": "Anna" });
  });

  it("asks nothing about contacts that the run created: they stay", async () => {
    const service = await startSandbox();
    const { ecm } = service;
    await ecm(`import ${await inputFile("Email\na@x.org\nb@x.org\n")}`);
    const undone = await summaryOf(ecm, "runs undo last");
    expect(undone).toMatchObject({ rows: { rejected: 2 }, requests: { search: 0, mutate: 0, other: 1 } });
    expect((await readContacts(service)).size).toBe(2);
  });
});
