/** `ecm plan show`: a plan file for a reviewer, with the people in it or without. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ecmWith, temporaryFolder, temporaryHome } from "../support/ecm.ts";
import { startSandbox } from "../support/sandbox.ts";

const secrets = ["ada@", "bob@", "cy@", "Oslo", "Bergen", "Rome"];

/** A plan that creates, changes, clears and rejects, and what it is of. */
async function planned() {
  const service = await startSandbox({
    contents: {
      fields: ["City"],
      tags: ["VIP"],
      contacts: [
        { key: "ada@example.com", fields: { City: "Oslo" } },
        { key: "bob@example.com", fields: { City: "Oslo" } },
      ],
    },
  });
  const plan = join(await temporaryFolder(), "plan.ndjson");
  const stdin =
    "Email,City,tags\nada@example.com,Bergen,VIP\nbob@example.com,,\ncy@example.com,Rome,VIP\nwrong ada@,Oslo,\n";
  const flags = ["--blank", "clear", "--list", "A *bold* | list", "--create-missing"];
  const made = await service.ecm(["import", "-", ...flags, "--dry-run", "--plan", plan], { stdin });
  const [, digest] = /^Plan: 3 to write, (sha256:[0-9a-f]{64})$/m.exec(made.stderr) ?? [];
  expect(digest, made.stderr).toBeDefined();
  // No account is needed to look at a plan.
  const ecm = ecmWith(await temporaryHome());
  const show = (...args: string[]) => ecm(["plan", "show", ...args]);
  return { ...service, plan, digest: digest!, show, ecm };
}

it("says of - that a plan is a file, and sends nothing", async () => {
  const ecm = ecmWith(await temporaryHome());
  for (const command of ["plan show -", "apply -"]) {
    const { code, stderr } = await ecm([...command.split(" "), "-p", "sandbox"], { stdin: "{}" });
    expect(stderr).toContain("error: A plan is read from a file, not from standard input\n");
    expect(code).toBe(2);
  }
});

it("tells what the plan would write, and of which account, without a request", async () => {
  const { show, plan, digest, baseUrl, sandbox } = await planned();
  const before = sandbox.admin.requests().length;
  const { code, stdout, stderr } = await show(plan);
  expect(code, stderr).toBe(0);
  for (const text of [
    `Plan: 3 to write, ${digest}\nAccount: ${baseUrl}\n`,
    "Contacts: 1 create, 2 update, 1 reject\n",
    'Created first: list "A *bold* | list"\n',
    "  ~ ada@example.com  City  Oslo → Bergen   + list A *bold* | list   + tag VIP\n",
    "  ~ bob@example.com  City  Oslo → (empty)   + list A *bold* | list\n",
    "  + cy@example.com   City Rome, list A *bold* | list, tag VIP\n",
  ])
    expect(stdout).toContain(text);
  expect(sandbox.admin.requests().length).toBe(before);
});

it("gives one JSON object", async () => {
  const { show, plan, digest, baseUrl } = await planned();
  const whole = JSON.parse((await show(plan, "-o", "json")).stdout);
  expect(whole).toMatchObject({
    plan: { version: 1, kind: "import", account: { baseUrl } },
    creations: [{ what: "list", name: "A *bold* | list" }],
    counts: { create: 1, update: 2, delete: 0, unchanged: 0, skip: 0, reject: 1 },
    digest,
  });
  expect(whole.lines.map(({ key }: { key: string }) => key)).toContain("cy@example.com");
  expect((await show(plan, "--json")).stdout).toBe((await show(plan, "-o", "json")).stdout);
});

it("makes a comment for a pull request, in counts, whose text stays text", async () => {
  const { show, plan, digest } = await planned();
  const { code, stdout, stderr } = await show(plan, "-o", "markdown");
  expect(code, stderr).toBe(0);
  expect(stdout).toContain("### Plan: 3 contacts to write\n");
  expect(stdout).toContain("- Contacts: 1 create, 2 update, 1 reject\n");
  expect(stdout).toContain("- Changed: field City (2)\n");
  expect(stdout).toContain("- Changed: list A \\*bold\\* \\| list (2)\n");
  expect(stdout).toContain(`- Plan: 3 to write, ${digest}\n`);
  expect(stdout).toContain(
    "| bob@example.com | update | City Oslo → \\(empty\\); + list A \\*bold\\* \\| list |\n",
  );
  const redacted = await show(plan, "--redact", "-o", "markdown");
  expect(stdout).toContain(redacted.stdout);
  for (const secret of secrets) expect(redacted.stdout).not.toContain(secret);
});

it.each(["table", "json", "markdown"])("--redact prints no address and no value, as %s", async (format) => {
  const { show, plan } = await planned();
  const { code, stdout, stderr } = await show(plan, "--redact", "-o", format);
  expect(code, stderr).toBe(0);
  for (const secret of secrets) expect(stdout).not.toContain(secret);
  if (format === "markdown") return;
  const numbers = new Set(stdout.match(/#\d+\b/g));
  expect(numbers.size).toBe(format === "table" ? 3 : 4);
  expect((await show(plan, "--redact", "-o", format)).stdout).toBe(stdout);
  const text = format === "table" ? "City  … → (empty)" : '"before":"…","after":""';
  expect(stdout).toContain(text);
});

it("is the only command that takes markdown, and takes no other format", async () => {
  const { show, plan, ecm } = await planned();
  for (const format of ["ndjson", "csv", "tsv", "id", "xml"]) {
    const { code, stdout, stderr } = await show(plan, "-o", format);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain("Allowed choices are table, json, markdown.");
  }
  for (const args of [["contact", "search"], ["import", plan], ["apply", plan], ["limits"]]) {
    const { code, stdout, stderr } = await ecm([...args, "-o", "markdown"]);
    expect({ args, code, stdout }).toEqual({ args, code: 2, stdout: "" });
    expect(stderr).toContain("'markdown' is invalid. Allowed choices are table, json, ndjson, csv, tsv, id.");
  }
  const { code } = await ecm(["limits"], { env: { ECM_OUTPUT: "markdown" } });
  expect(code).toBe(2);
});

it("shows nothing of a plan that was changed, cut off, or is none", async () => {
  const { show, plan } = await planned();
  const text = await readFile(plan, "utf8");
  const file = join(await temporaryFolder(), "other.ndjson");
  for (const broken of [text.replace("Bergen", "Berlin"), text.slice(0, -20), "{}\n", ""]) {
    await writeFile(file, broken);
    for (const format of ["table", "json", "markdown"]) {
      const { code, stdout, stderr } = await show(file, "-o", format);
      expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
      expect(stderr).toContain(file);
    }
  }
});
