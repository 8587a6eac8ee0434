/** The commands of docs/why.md, run in their order as they stand there. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { readContacts } from "./bulk/kit.ts";
import { temporaryFolder, toWords } from "./support/ecm.ts";
import { startSandbox } from "./support/sandbox.ts";

const page = await readFile(fileURLToPath(new URL("../docs/why.md", import.meta.url)), "utf8");
const lines = [...page.matchAll(/`(ecm [^`]+)`/g)].map(([, line]) => line!);

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

/** Words as a shell makes them of these lines; names of files become those of the folder. */
function toArguments(line: string, folder: string): string[] {
  const words = toWords(line).slice(1);
  return words.map((word) => (/^[\w.]+\.(csv|ndjson)$/.test(word) ? join(folder, word) : word));
}

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
  expect(lines.length).toBe(expected.length);
  for (const [index, line] of lines.entries()) {
    const [start, output, code = 0] = expected[index]!;
    expect(line.slice(0, start.length)).toBe(start);
    const result = await service.ecm(toArguments(line, folder));
    expect(result.stdout + result.stderr, line).toMatch(output);
    expect(result.code, line).toBe(code);
  }
  const contacts = await readContacts(service);
  expect([...contacts.keys()].sort()).toEqual([
    "ada@example.com",
    "ada@new.example",
    "bob@example.com",
    "cy@example.com",
    "new@example.com",
  ]);
  expect(contacts.get("ada@new.example")!.fields).toEqual({ "First Name": "Ada L", Source: "Expo 2026" });
  expect(contacts.get("bob@example.com")!.fields).toEqual({ "First Name": "Bob" });
});
