/** `-q` leaves nothing on stderr but errors, warnings and questions; every command is tried with it in `every-command.test.ts`. */
import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { ends, inputFile, manyContacts, startSandbox } from "../kit.ts";

it("says nothing of what was done, whatever flags say besides", async () => {
  const { ecm } = await startSandbox();
  const rows = "ada@example.com,no\ncy@example.com,no\nbob@example.com,yes\n";
  const file = await inputFile(`Email,Unsubscribed\n${rows}`);
  for (const line of [
    "lists create News --if-missing",
    "lists create News --if-missing",
    "lists rename News News",
    "lists list --size 1 --page 1",
    `import ${file} --dry-run --show 5`,
    `import ${file} --list News --tag vip --create-missing`,
    "contact search --page-size 1 --page 1",
    "contact search --key nobody@example.com -o table",
    `export --output-file ${file}.out`,
    "events --limit 1",
    "domains list -o table",
    "reports -o table",
  ]) {
    const { code, stderr } = await ecm(`${line} -q`);
    expect([line, code === 0 || code === 3, stderr]).toEqual([line, true, ""]);
  }
});

it("draws nothing at a terminal, and still asks with the price", async () => {
  const { ecm } = await startSandbox();
  const fileOf = (name: string) => inputFile(`Email\n${name}@example.com\n`);
  const silent = await ecm(`import ${await fileOf("ada")} -q --yes`, { terminalColumns: 80 });
  expect([silent.code, silent.stderr]).toEqual([0, ""]);
  const typed = Object.entries({ "Add these contacts to a list?": "\r", "Write to 1 contact": "y\r" });
  const dialog = ecm(`import ${await fileOf("bob")} -q`, { terminalColumns: 80, typed });
  expect((await ends(dialog, 0, "1 contact")).stderr).not.toMatch(/To send|Importing|█/);
});

it("keeps rejected rows, people to be unsubscribed and cells that say nothing clear", async () => {
  const { ecm } = await startSandbox({ contents: { contacts: [{ key: "ada@example.com" }] } });
  const rows = "ada@example.com,no\nnonsense,yes\nbob@example.com,perhaps\ncy@example.com,yes\n";
  const people = await inputFile(`Email,Subscribed\n${rows}`);
  const kept = ["1 rejected", "rejects.csv", "ada@example.com (line 2)", '"perhaps"'];
  const { stderr } = await ends(ecm(`import ${people} -q`), 3, ...kept);
  expect(stderr).not.toMatch(/rate-limit|requests sent/);
  const importing = ecm(`import ${people} -q --max-rejects 0`);
  const stopped = await ends(importing, 3, /^Stopped: 1 row was rejected/m);
  // The flags that it says show the row.
  const [, flags] = /To see them: (.*)$/m.exec(stopped.stderr) ?? [];
  const rejects = `${people}.rejects.csv`;
  await ecm(`import ${people} ${flags!.replace("FILE", rejects)}`);
  expect(await readFile(rejects, "utf8")).toContain("nonsense");
});

it("keeps the warning that a list is shown in part, unless a part was asked for", async () => {
  const contents = { contacts: manyContacts(120), lists: ["One", "Two"] };
  const { ecm, sandbox } = await startSandbox({ contents });
  for (const { key } of contents.contacts) sandbox.admin.events({ key, type: "email-sent" });
  const contacts = /^warning: 100 of 120 contacts · all: --all · next page: --page 2\n$/;
  for (const [line, said] of [
    ["contact search", contacts],
    ["contact search --json", contacts],
    ["contact search -o csv", contacts],
    ["contact search --page-size 100", contacts],
    ["contact search --where key!='' --json", /^warning: 100 contacts · all: --all/],
    ["lists list --size 1 --json", /^warning: 1 of 2 lists · all: --all/],
    ["events --json", /^warning: 100 of \d+ events · /],
    ["contact search --page 1 --json", /^$/],
    ["contact search --limit 7 --json", /^$/],
    ["contact search --all --json", /^$/],
    ["contact search --count", /^$/],
    ["contact search --page-size 120 --json", /^$/],
    ["lists list --size 1 --page 1", /^$/],
    ["lists list --all", /^$/],
    ["events --limit 3 --json", /^$/],
    ["events --all --json", /^$/],
    ["export", /^$/],
  ] as const)
    expect((await ecm(`${line} -q`)).stderr, line).toMatch(said);
  const terminal = ecm("contact search -q", { terminalColumns: 80 });
  expect((await ends(terminal, 0, "100 of 120 contacts")).stderr).not.toContain("warning");
});
