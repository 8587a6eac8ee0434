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
  return { at, ...(await startSandbox()) };
}

it.each([
  ["import people.csv --plan people.csv --dry-run", "--plan names the input file"],
  ["import people.csv --plan linked.csv", "--plan names the input file"],
  ["import linked.csv --plan people.csv", "--plan names the input file"],
  ["import people.csv --plan hard.csv", "--plan names the input file"],
  ["import people.csv --rejects linked.csv", "--rejects names the input file"],
  ["import people.csv --mapping map.yaml --plan map.yaml", "--plan and --mapping name the same file"],
  ["import people.csv --rejects new.csv --plan new.csv", "--plan and --rejects name the same file"],
  [
    "contact mutate --keys people.csv --set First\u00a0Name=A --plan people.csv",
    "--plan names the input file",
  ],
  ["contact delete --keys people.csv --plan people.csv --yes", "--plan names the input file"],
  ["contact delete --keys people.csv --backup people.csv --yes", "--backup names the input file"],
  ["contact delete --all --backup new.csv --plan new.csv --yes", "--plan and --backup name the same file"],
  ["lists sync Anyone people.csv --plan people.csv", "--plan names the input file"],
])("refuses `%s` before anything is sent", async (line, message) => {
  const { ecm, at } = await files();
  const args = line
    .split(" ")
    .map((word) => (/\.(?:csv|yaml)$/.test(word) ? at(word) : word.replace("\u00a0", " ")));
  const result = await ecm(args);
  expect([result.code, result.stderr]).toEqual([2, expect.stringContaining(message)]);
  expect(result.stderr).not.toContain("rate-limit");
  expect(await readFile(at("people.csv"), "utf8")).toBe(people);
});

it("refuses to replace the plan that it carries out", async () => {
  const { ecm, at, sandbox } = await files();
  const plan = at("plan.ndjson");
  await ecm(["import", at("people.csv"), "--dry-run", "--plan", plan]);
  const [sent, written] = [sandbox.admin.requests().length, await readFile(plan, "utf8")];
  const { code, stderr } = await ecm(["apply", plan, "--rejects", plan]);
  expect([code, stderr]).toEqual([2, expect.stringContaining("--rejects names the input file")]);
  expect(sandbox.admin.requests().length).toBe(sent);
  expect(await readFile(plan, "utf8")).toBe(written);
});

it("names the flag whose file cannot be written", async () => {
  const { ecm, at } = await files();
  for (const flag of ["--plan", "--backup"]) {
    const { code, stderr } = await ecm(["contact", "delete", "--all", "--yes", flag, at("none/new")]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(`${flag}: cannot write`)]);
  }
});

it("leaves a pipe and a link as they are where rejected rows would go", async () => {
  const { ecm, at } = await files();
  await writeFile(at("bad.csv"), "Email\nada\n");
  execFileSync("mkfifo", [at("pipe")]);
  await writeFile(at("real.csv"), "");
  await symlink(at("real.csv"), at("link.csv"));
  for (const more of [[], ["--dry-run"]]) {
    const refused = await ecm(["import", at("bad.csv"), "--rejects", at("pipe"), ...more]);
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("it is a device or a pipe")]);
    expect((await lstat(at("pipe"))).isFIFO()).toBe(true);
    await writeFile(at("real.csv"), "");
    expect((await ecm(["import", at("bad.csv"), "--rejects", at("link.csv"), ...more])).code).toBe(3);
    expect((await lstat(at("link.csv"))).isSymbolicLink()).toBe(true);
    expect(await readFile(at("real.csv"), "utf8")).toContain("key_syntax");
  }
});

it("takes a plan beside an input and a backup of their own", async () => {
  const { ecm, at } = await files();
  expect((await ecm(["import", at("people.csv"), "--plan", at("plan.ndjson")])).code).toBe(0);
  const args = [
    "contact",
    "delete",
    "--all",
    "--yes",
    "--plan",
    at("plan.ndjson"),
    "--backup",
    at("gone.csv"),
  ];
  expect((await ecm(args)).code).toBe(0);
  expect(await readFile(at("gone.csv"), "utf8")).toContain("ada@example.com");
  expect(await readFile(at("plan.ndjson"), "utf8")).toContain('"delete"');
});

it("names a plan that may contain the address of a person who was erased", async () => {
  const { ecm, at } = await files();
  await ecm(["import", at("people.csv"), "--plan", at("plan.ndjson")]);
  const { code, stderr } = await ecm(["contact", "erase", "ada@example.com", "--yes"]);
  expect([code, stderr]).toEqual([0, expect.stringContaining(at("plan.ndjson"))]);
});
