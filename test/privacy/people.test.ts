import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { expect, it } from "vitest";
import { findPeople } from "../../src/privacy/people.ts";
import { temporaryFolder } from "../support/ecm.ts";

const mask = (key: string, text: string) => findPeople([key]).mask(text) ?? text;
const masked = (length: number) => "erased".padEnd(length, "-").slice(0, length);

const key = "Ada.L@example.com";
const own = masked(key.length);

it.each([
  ["any letter case", `x,ADA.l@Example.COM,y`, `x,${own},y`],
  ["a JSON escape", `{"key":"ada.l\\u0040example.com"}`, `{"key":"${masked(key.length + 5)}"}`],
  [
    "an escape of JSON in JSON",
    `"{\\"of\\":\\"ada.l\\\\u0040example.com\\"}"`,
    `"{\\"of\\":\\"${masked(key.length + 6)}\\"}"`,
  ],
  ["a JSON escape of a letter", `"\\u0061da.l@example.com"`, `"${masked(key.length + 5)}"`],
  ["a URL", `/x?key=ada.l%40example.com&y=1`, `/x?key=${masked(key.length + 2)}&y=1`],
  ["a line break's escape before it", `"a\\nada.l@example.com\\n"`, `"a\\n${own}\\n"`],
  ["the escape of a control character before it", `"a\\u000bada.l@example.com"`, `"a\\u000b${own}"`],
  ["words around it", `Referred by <ada.l@example.com>.`, `Referred by <${own}>.`],
  ["the end of a sentence", `mail ada.l@example.com. Then`, `mail ${own}. Then`],
  ["Japanese around it", `連絡先ada.l@example.comまで`, `連絡先${own}まで`],
  ["a spreadsheet's apostrophe", `'ada.l@example.com'`, `'${own}'`],
  ["twice", `ada.l@example.com,ada.l@example.com`, `${own},${own}`],
])("a key in text is found with %s", (_name, text, expected) => expect(mask(key, text)).toBe(expected));

const others = `grace.ada.l@example.com xada.l@example.com a+ada.l@example.com éada.l@example.com
  "\\u00e9ada.l@example.com" ada.l@example.com.au ada.l@example.community ada.l@example.com-x.org
  adaxl@example.com`;

it.each(others.split(/\s+/))("a key in text is not found in another address: %s", (text) => {
  expect(mask(key, text)).toBe(text);
});

it("a key in text is found with its domain in both spellings, composed and not", () => {
  expect(mask("ada@bücher.example", "ada@xn--bcher-kva.example")).toMatch(/^erased-+$/);
  expect(mask("ada@xn--bcher-kva.example", "Ada@BÜCHER.example")).toMatch(/^erased-+$/);
  expect(mask("ada@bu\u0308cher.example", "ada@bücher.example")).toMatch(/^erased-+$/);
});

it("a key in text that is no address is found as a whole value only", () => {
  expect(mask("1001", `1001,10010,"1001",21001\n`)).toBe(`eras,10010,"eras",21001\n`);
  const record = `{"ref":1001,"key":"1001","text":"x 1001"}`;
  expect(mask("1001", record)).toBe(`{"ref":1001,"key":"eras","text":"x 1001"}`);
});

it("a key in text leaves no address behind, whatever stands around it, and keeps the length", () => {
  const around = fc.string({
    unit: fc.constantFrom(" ", ",", ";", '"', "\n", "\t", "<", ">", ":", "漢", "="),
  });
  const local = fc.stringMatching(/^[a-z][a-z0-9._+-]{0,8}[a-z0-9]$/);
  fc.assert(
    fc.property(local, around, around, fc.boolean(), (name, before, after, isEscaped) => {
      const address = `${name}@example.com`;
      const text = `${before}${address}${after}`;
      const written = isEscaped ? JSON.stringify(text) : text;
      const people = findPeople([address.toUpperCase()]);
      const result = people.mask(written)!;
      expect(result).toHaveLength(written.length);
      expect(result.toLowerCase()).not.toContain(address);
      expect(people.mask(result)).toBe(undefined);
    }),
  );
});

const piece = 1024 * 1024;
it.each([
  ["at its start", (key: string) => `${key},1\n`, "found"],
  ["at its end", (key: string) => `Email\n${key}`, "found"],
  ["where it is read in pieces", (key: string) => `${"x ".repeat(piece / 2 - 4)}${key}, and more`, "found"],
  ["inside another address", (key: string) => `${"x ".repeat(piece / 2 - 9)}${key}.au and more`, "absent"],
])("a file is searched for a key %s", async (_where, toText, expected) => {
  const file = join(await temporaryFolder(), "file");
  await writeFile(file, toText("Ada@example.com"));
  expect(await findPeople(["ada@example.com"]).search(file)).toBe(expected);
});

it.each([
  ["UTF-16", Buffer.from("ada@example.com", "utf16le")],
  ["a code page of one byte", Buffer.from("J\u00fcrg,ada@example.com", "latin1")],
  ["a workbook", Buffer.from([0x50, 0x4b, 3, 4, 0x14, 0, 0xff])],
])("a file of %s is not read", async (_name, bytes) => {
  const file = join(await temporaryFolder(), "file");
  await writeFile(file, bytes);
  expect(await findPeople(["ada@example.com"]).search(file)).toBe("unreadable");
});
