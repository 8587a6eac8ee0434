/** No file that a bulk command reads or writes is overwritten by another that it writes. */
import { execFileSync } from "node:child_process";
import { link, lstat, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryFolder } from "../support/ecm.ts";
import { startSandbox } from "../support/sandbox.ts";

const people = "Email\nada@example.com\n";

async function files() {
  const folder = await temporaryFolder();
  const at = (name: string) => join(folder, name);
  await writeFile(at("people.csv"), people);
  await writeFile(at("map.yaml"), "Email: key\n");
  await symlink(at("people.csv"), at("linked.csv"));
  await link(at("people.csv"), at("hard.csv"));
  const service = await startSandbox();
  /** A command whose files are in the folder. */
  const ecm = (line: string) => service.ecm(line.replaceAll(/\S+\.\w+\b/g, at));
  return { ...service, at, ecm, read: (name: string) => readFile(at(name), "utf8") };
}

const refusal = (message: string) => ({ code: 2, stderr: expect.stringContaining(message) });

it.each([
  ["import people.csv --plan people.csv --dry-run", "--plan names the input file"],
  ["import people.csv --plan linked.csv", "--plan names the input file"],
  ["import linked.csv --plan people.csv", "--plan names the input file"],
  ["import people.csv --plan hard.csv", "--plan names the input file"],
  ["import people.csv --rejects linked.csv", "--rejects names the input file"],
  ["import people.csv --mapping map.yaml --plan map.yaml", "--plan and --mapping name the same file"],
  ["import people.csv --rejects new.csv --plan new.csv", "--plan and --rejects name the same file"],
  ["contact mutate --keys people.csv --add-tag A --plan people.csv", "--plan names the input file"],
  ["contact delete --keys people.csv --plan people.csv --yes", "--plan names the input file"],
  ["contact delete --keys people.csv --backup people.csv --yes", "--backup names the input file"],
  ["contact delete --all --backup new.csv --plan new.csv --yes", "--plan and --backup name the same file"],
  ["lists sync Anyone people.csv --plan people.csv", "--plan names the input file"],
])("refuses `%s` before anything is sent", async (line, message) => {
  const { ecm, read, sandbox } = await files();
  expect(await ecm(line)).toMatchObject(refusal(message));
  expect(sandbox.admin.requests()).toEqual([]);
  expect(await read("people.csv")).toBe(people);
});

it("refuses to replace the plan that it carries out", async () => {
  const { ecm, read, sandbox } = await files();
  await ecm("import people.csv --dry-run --plan plan.ndjson");
  const [sent, written] = [sandbox.admin.requests().length, await read("plan.ndjson")];
  const result = await ecm("apply plan.ndjson --rejects plan.ndjson");
  expect(result).toMatchObject(refusal("--rejects names the input file"));
  expect(sandbox.admin.requests()).toHaveLength(sent);
  expect(await read("plan.ndjson")).toBe(written);
});

it("names the flag whose file cannot be written", async () => {
  const { ecm } = await files();
  for (const flag of ["--plan", "--backup", "--rejects"]) {
    const result = await ecm(`contact delete --all --yes ${flag} none/new.csv`);
    expect(result).toMatchObject(refusal(`${flag}: cannot write`));
  }
});

it("leaves a pipe and a link as they are where rejected rows would go", async () => {
  const { ecm, at, read } = await files();
  await writeFile(at("bad.csv"), "Email\nada\n");
  execFileSync("mkfifo", [at("pipe.csv")]);
  await writeFile(at("real.csv"), "");
  await symlink(at("real.csv"), at("link.csv"));
  for (const more of ["", "--dry-run"]) {
    const refused = await ecm(`import bad.csv --rejects pipe.csv ${more}`);
    expect(refused).toMatchObject(refusal("it is a device or a pipe"));
    expect((await lstat(at("pipe.csv"))).isFIFO()).toBe(true);
    await writeFile(at("real.csv"), "");
    expect((await ecm(`import bad.csv --rejects link.csv ${more}`)).code).toBe(3);
    expect((await lstat(at("link.csv"))).isSymbolicLink()).toBe(true);
    expect(await read("real.csv")).toContain("key_syntax");
  }
});

it("takes a plan and a backup of their own; an erasure names the plan that may contain the person", async () => {
  const { ecm, at, read } = await files();
  expect((await ecm("import people.csv --plan plan.ndjson")).code).toBe(0);
  const deleted = await ecm("contact delete --all --yes --plan plan.ndjson --backup gone.csv");
  expect(deleted.code, deleted.stderr).toBe(0);
  expect(await read("gone.csv")).toContain("ada@example.com");
  expect(await read("plan.ndjson")).toContain('"delete"');
  const { code, stderr } = await ecm("contact erase ada@example.com --yes");
  expect([code, stderr]).toEqual([0, expect.stringContaining(at("plan.ndjson"))]);
});
