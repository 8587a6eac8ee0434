/** `ecm plan show`: a plan file for a reviewer, with the people in it or without. */
import { readFile, writeFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { done, ecmWith, makePlanFile, refused, startSandbox, temporaryHome } from "../kit.ts";

const secrets = ["ada@", "bob@", "cy@", "Oslo", "Bergen", "Rome"];

/** A plan that creates, changes, clears and rejects, and what it is of. */
async function planned() {
  const fields = { City: "Oslo" };
  const contacts = ["ada", "bob"].map((name) => ({ key: `${name}@example.com`, fields }));
  const service = await startSandbox({ contents: { tags: ["VIP"], contacts } });
  const rows = "ada@example.com,Bergen,VIP\nbob@example.com,,\ncy@example.com,Rome,VIP\nwrong ada@,Oslo,\n";
  const stdin = `Email,City,tags\n${rows}`;
  const args = ["import", "-", "--blank", "clear", "--list", "A *bold* | list", "--create-missing"];
  const { file, digest, writes } = await makePlanFile(service, args, stdin);
  expect(writes).toBe(3);
  // No account is needed to look at a plan.
  const ecm = ecmWith(await temporaryHome());
  const show = (flags = "") => ecm(`plan show ${file} ${flags}`);
  return { ...service, file, digest, show, ecm };
}

it.each([
  ["-", "error: A plan is read from a file, not from standard input\n"],
  ["gone.ndjson", "there is no such file\nhint: Check the path\n"],
])("says of %s that it is no file, and sends nothing", async (file, said) => {
  const ecm = ecmWith(await temporaryHome());
  for (const line of ["plan show", "apply"])
    await refused(ecm(`${line} ${file} -p sandbox`, { stdin: "{}" }), 2, said);
});

it("tells what the plan would write, and of which account, without a request, in JSON as one object", async () => {
  const { show, digest, baseUrl, sandbox } = await planned();
  const before = sandbox.admin.requests().length;
  const stdout = await done(show());
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
  const text = await done(show("-o json"));
  const whole = JSON.parse(text);
  expect(whole).toMatchObject({
    plan: { version: 1, kind: "import", account: { baseUrl } },
    creations: [{ what: "list", name: "A *bold* | list" }],
    counts: { create: 1, update: 2, delete: 0, unchanged: 0, skip: 0, reject: 1 },
    digest,
  });
  expect(whole.lines.map(({ key }: { key: string }) => key)).toContain("cy@example.com");
  expect(await done(show("--json"))).toBe(text);
});

it("makes a comment for a pull request, in counts, whose text stays text", async () => {
  const { show, digest } = await planned();
  const comment = await done(show("-o markdown"));
  for (const text of [
    "### Plan: 3 contacts to write\n",
    "- Contacts: 1 create, 2 update, 1 reject\n",
    "- Changed: field City (2)\n",
    "- Changed: list A \\*bold\\* \\| list (2)\n",
    `- Plan: 3 to write, ${digest}\n`,
    "| bob@example.com | update | City Oslo → (empty); + list A \\*bold\\* \\| list |\n",
    await done(show("--redact -o markdown")),
  ])
    expect(comment).toContain(text);
});

it("--redact prints no address and no value", async () => {
  const { show } = await planned();
  for (const format of ["table", "json", "markdown"]) {
    const stdout = await done(show(`--redact -o ${format}`));
    for (const secret of secrets) expect(stdout).not.toContain(secret);
    if (format === "markdown") continue;
    const numbers = new Set(stdout.match(/#\d+\b/g));
    expect(numbers.size).toBe(format === "table" ? 3 : 4);
    expect(await done(show(`--redact -o ${format}`))).toBe(stdout);
    expect(stdout).toContain(format === "table" ? "City  … → (empty)" : '"before":"…","after":""');
  }
});

it("is the only command that takes markdown, and takes no other format", async () => {
  const { show, file, ecm } = await planned();
  for (const format of ["ndjson", "csv", "tsv", "id", "xml"])
    await refused(show(`-o ${format}`), 2, "Allowed choices are table, json, markdown.");
  for (const line of ["contact search", `import ${file}`, `apply ${file}`, "limits"]) {
    const said = "'markdown' is invalid. Allowed choices are table, json, ndjson, csv, tsv, id.";
    await refused(ecm(`${line} -o markdown`), 2, said);
  }
  await refused(ecm("limits", { env: { ECM_OUTPUT: "markdown" } }), 2);
});

it("shows nothing of a plan that was changed, cut off, or is none", async () => {
  const { show, file } = await planned();
  const text = await readFile(file, "utf8");
  for (const broken of [text.replace("Bergen", "Berlin"), text.slice(0, -20), "{}\n", ""]) {
    await writeFile(file, broken);
    for (const format of ["table", "json", "markdown"]) await refused(show(`-o ${format}`), 2, file);
  }
});
