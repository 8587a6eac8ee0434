/** Fields that the structure marks as required, and rows that have no value for them. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryFolder } from "../support/ecm.ts";
import { startSandbox } from "../support/sandbox.ts";
import { contactLines, inputFile, parseSummary } from "./kit.ts";

const people = `Email,First Name,City
ada@example.com,Ada,
bob@example.com,Bob,Oslo
cy@example.com,Cy,
`;

async function account(required: "refused" | "ignored") {
  const service = await startSandbox({ variants: { required } });
  const { ecm } = service;
  await ecm(["contact", "create", "--key", "cy@example.com"]);
  await ecm(["structure", "field", "add", "City", "--required"]);
  return service;
}

it("a dry run says which new contacts lack a value, for no request more; an apply of its plan does the rest", {
  tags: "slow",
}, async () => {
  const { ecm, sandbox } = await account("refused");
  const file = await inputFile(people);
  const plan = join(await temporaryFolder(), "plan.ndjson");
  const dry = await ecm(["import", file, "--dry-run", "--json", "--plan", plan]);
  expect(dry.stderr).toContain(
    "1 new contact has no value for a required field; the service may refuse it:\n  ada@example.com (line 2): City\n",
  );
  const summary = parseSummary(dry);
  expect(summary).toMatchObject({ lacking: 1, rows: { created: 2, unchanged: 0, updated: 1, rejected: 0 } });
  const lines = contactLines(await readFile(plan, "utf8"));
  expect(lines.map(({ lacks }) => lacks)).toEqual([["City"], undefined, undefined]);
  // The structure was known: what it says of fields costs nothing.
  const before = sandbox.admin.requests().length;
  const again = await ecm(["import", file, "--dry-run", "--json"]);
  const without = await inputFile(people.replace("Ada,", "Ada,Rome"));
  const spent = sandbox.admin.requests().length - before;
  expect(parseSummary(again).lacking).toBe(1);
  const full = await ecm(["import", without, "--dry-run", "--json"]);
  expect(parseSummary(full)).not.toHaveProperty("lacking");
  expect(full.stderr).not.toContain("required");
  expect(sandbox.admin.requests().length - before - spent).toBe(spent);

  const applied = await ecm(["apply", plan, "--json", "-y"]);
  expect(applied.code).toBe(3);
  expect(parseSummary(applied)).toMatchObject({
    rows: { created: 1, updated: 1, rejected: 1 },
    codes: { rejected: { ValidationError: 1 } },
  });
});

it("a real import creates them where the service asks nothing, without a word", {
  tags: "slow",
}, async () => {
  const { ecm } = await account("ignored");
  const { code, stdout, stderr } = await ecm(["import", await inputFile(people), "--json", "-y"]);
  expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.not.stringContaining("required") });
  const summary = JSON.parse(stdout);
  expect(summary).toMatchObject({ rows: { created: 2 } });
  expect(summary).not.toHaveProperty("lacking");
});

it("of many rows the first twenty are named, and all are counted", { tags: "slow" }, async () => {
  const { ecm } = await account("refused");
  const rows = Array.from({ length: 130 }, (_, index) => `p${index}@example.com,`).join("\n");
  const { stderr, stdout } = await ecm([
    "import",
    await inputFile(`Email,City\n${rows}\n`),
    "--dry-run",
    "--json",
    "-q",
  ]);
  expect(JSON.parse(stdout).lacking).toBe(130);
  expect(stderr.match(/\(line \d+\): City/g)).toHaveLength(20);
  expect(stderr).toContain("130 new contacts have no value");
  expect(stderr).toContain("  and 110 more\n");
});
