/** Pages whose files, mappings and commands are tried as they stand there. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { inputFile, readContacts, startSandbox, summaryOf } from "./kit.ts";
import { done, readJson, temporaryFolder, toWords } from "./support/ecm.ts";
import { readHome } from "./support/home.ts";

const readPage = (name: string) =>
  readFile(fileURLToPath(new URL(`../docs/${name}`, import.meta.url)), "utf8");

/** The words of a line as a shell makes them, without the program; files become those of the folder. */
function toArguments(line: string, folder: string): string[] {
  const [program, ...words] = toWords(line);
  expect(program).toBe("ecm");
  return words.map((word) => (/^[\w.-]+\.(?:csv|ndjson|md|json)$/.test(word) ? join(folder, word) : word));
}

interface Example {
  title: string;
  file: string;
  mapping: string;
  /** What the account then holds. */
  contacts: string;
}

const examples = (await readPage("mapping.md"))
  .split(/^### /m)
  .slice(1)
  .map((section): Example => {
    const blocks = Array.from(section.matchAll(/```(?:csv|yaml)\n([\s\S]*?)```/g), ([, text]) => text!);
    const [file, mapping, contacts] = blocks as [string, string, string];
    return { title: section.split("\n")[0]!, file, mapping, contacts };
  });

const builtIn = ["key", "First Name", "Last Name", "tags"];

it("docs/mapping.md has two files", () => expect(examples).toHaveLength(2));

it.each(examples)("docs/mapping.md $title", async ({ file, mapping, contacts }) => {
  const { ecm } = await startSandbox();
  const header = contacts.split("\n")[0]!;
  const fields = header.split(",").filter((name) => !builtIn.includes(name));
  for (const field of fields) await done(ecm(["structure", "field", "add", field]));
  const files = [await inputFile(file, "export.csv"), await inputFile(mapping, "export.yaml")];
  const line = `import ${files.join(" --mapping ")} --ignore-unmapped --create-missing`;
  await done(ecm(line));
  expect(await done(ecm(["contact", "search", "--columns", header, "-o", "csv"]))).toBe(contacts);
  expect((await readJson(ecm, line)).requests).toMatchObject({ create: 0, mutate: 0 });
});

const people = "Email,First Name,Newsletter consent\nada@old.example,Ada,yes\nbob@old.example,Bob,yes\n";

it("docs/people.md: from a new address to an erasure", async () => {
  const service = await startSandbox();
  await done(service.ecm(`import ${await inputFile(people)}`));
  // Files of the page are beside each other.
  const folder = await temporaryFolder();
  const said: string[] = [];
  const scripts = (await readPage("people.md")).matchAll(/```sh\n([\s\S]*?)```/g);
  for (const line of [...scripts].flatMap(([, script]) => script!.trim().split("\n"))) {
    const result = await service.ecm(toArguments(line, folder));
    expect(result.code, `${line}\n${result.stderr}`).toBe(0);
    said.push(`${line}\n${result.stdout}`);
  }
  const output = (start: string) => said.find((each) => each.startsWith(start))!;
  expect(await readFile(join(folder, "ada.md"), "utf8")).toContain("First Name: Ada");
  expect(await readFile(join(folder, "ada-before.json"), "utf8")).toContain('"ada@old.example"');
  const dossiers = said.filter((each) => each.startsWith("ecm contact dossier ada@new.example\n"));
  expect(dossiers.at(-1)).toMatch(/No contact\.[\s\S]*On the suppression list since[\s\S]*None\./);
  expect(output("ecm contact erase").replace(/^.*\n/, "")).not.toContain("ada@");
  expect([...(await readContacts(service)).keys()]).toEqual(["bob@old.example"]);
  for (const [file, bytes] of await readHome(service.env))
    expect(bytes, file).not.toMatch(/ada@(old|new)\.example/i);
  const again = await summaryOf(service.ecm, `import ${await inputFile(people)}`);
  expect(again.codes.skipped).toEqual({ suppressed: 1 });
});

const files: Record<string, string> = {
  "kunden.csv": "\uFEFFE-Mail;Vorname\nada@example.com;Ada\nbob@example.com;Bob\ncy@example.com;Cy\n",
  "mixed.csv": "Email,First Name\nada@example.com,Augusta\nklaus@@example.de,Klaus\n",
  "blanks.csv": "Email,First Name\nbob@example.com,\n",
  "customers.csv": "Email,First Name\nada@example.com,Somebody else\nuwe@example.com,Uwe\n",
  "changes.csv": "Email,First Name\nbob@example.com,Robert\nnew@example.com,New\n",
  "short.csv": "Email\nada@example.com\n",
  "left.csv":
    "Email,First Name,Status\nada@example.com,Ada L,subscribed\ngone@example.com,Gone,unsubscribed\n",
};

/** What each line prints, by its beginning; exit code 0 unless said otherwise. */
const expected: [start: string, output: RegExp, code?: number][] = [
  ["ecm import kunden.csv", /3 created/],
  ["ecm import mixed.csv", /1 updated; 1 rejected/, 3],
  ["ecm runs rejects", /not an email address: klaus@@example\.de/],
  ["ecm runs retry", /1 rejected/, 3],
  ["ecm import blanks.csv", /1 unchanged/],
  ["ecm import customers.csv --mode create", /1 created; 1 skipped: already exists/],
  ["ecm import customers.csv --set", /2 updated/],
  ["ecm import changes.csv", /1 would be created; 1 would be updated/],
  ["ecm plan show", /~ bob@example\.com {2}First Name {2}Bob → Robert/],
  ["ecm apply", /1 created; 1 updated/],
  ["ecm runs undo", /1 restored; 1 not undone: created by the run/, 3],
  ["ecm lists sync", /would remove 2 of the 3 members .*\n.*--max-remove 2/, 2],
  ["ecm import left.csv", /1 updated; 1 skipped: not subscribed/],
  ["ecm contact move", /ada@new.example/],
  ["ecm contact dossier", /uwe@example\.com/],
  ["ecm contact erase", /\tdeleted\t/],
  ["ecm limits", /3600/],
  ["ecm help exit-codes", /7 +out of budget/],
  ["ecm contact search --profile sandbox --count", /^0\n/],
  ["ecm api GET", /"fields"/],
];

it("docs/why.md: each command does what is said of it", async () => {
  const service = await startSandbox({
    contents: { fields: ["First Name", "Source"], lists: ["Customers"] },
  });
  const folder = await temporaryFolder();
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  const lines = [...(await readPage("why.md")).matchAll(/`(ecm [^`]+)`/g)].map(([, line]) => line!);
  expect(lines.length).toBe(expected.length);
  for (const [index, line] of lines.entries()) {
    const [start, output, code = 0] = expected[index]!;
    expect(line.slice(0, start.length)).toBe(start);
    const result = await service.ecm(toArguments(line, folder));
    expect(result.stdout + result.stderr, line).toMatch(output);
    expect(result.code, line).toBe(code);
  }
  const contacts = await readContacts(service);
  const left = ["ada@example.com", "ada@new.example", "bob@example.com", "cy@example.com", "new@example.com"];
  expect([...contacts.keys()].sort()).toEqual(left);
  expect(contacts.get("ada@new.example")!.fields).toEqual({ "First Name": "Ada L", Source: "Expo 2026" });
  expect(contacts.get("bob@example.com")!.fields).toEqual({ "First Name": "Bob" });
});
