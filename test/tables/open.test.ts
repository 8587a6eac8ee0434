/** What kind of file it is, by its first bytes, and what is said of how it is read. */
import { expect, test } from "vitest";
import { describeNote } from "../../src/commands/bulk/words.ts";
import { openInput } from "../../src/tables/open.ts";
import type { Note, ReadOptions } from "../../src/tables/rows.ts";
import { openClearInput } from "../../src/tables/understand.ts";
import { inputFile } from "../bulk/kit.ts";
import { refuses, toInputFile } from "./reading.ts";
import { sheet, textRow } from "./workbooks.ts";

async function open(content: string | Uint8Array, options: Partial<ReadOptions> = {}) {
  return openInput(toInputFile(await inputFile(content)), { map: [], ...options });
}

const book = sheet(textRow(1, ["Email"]));

test("a text may begin with a brace", async () => {
  expect((await open("{Email},City\n")).form.kind).toBe("text");
});

test.each<[string, string | Uint8Array, Partial<ReadOptions>, RegExp]>([
  ["an old workbook", Buffer.from("\xd0\xcf\x11\xe0rest", "latin1"), {}, /an old Excel workbook \(\.xls\)/],
  ["a PDF", "%PDF-1.7", {}, /is a PDF document/],
  ["vCards", "BEGIN:VCARD\n", {}, /is a vCard file/],
  ["a page", "\ufeff <html><body><table><tr>", {}, /is HTML or XML, despite its name/],
  ["an image", Buffer.from("\x89PNG\r\n\x1a\n\0\0", "latin1"), {}, /a zero byte/],
  ["--delimiter of a workbook", book, { delimiter: ";" }, /--delimiter applies to text files/],
  ["--encoding of a workbook", book, { encoding: "utf-8" }, /--encoding applies to text files/],
  ["--sheet of a text", "Email\n", { sheet: "1" }, /--sheet applies to workbooks/],
  ["--skip-lines of JSON", '{"Email":"a@x.org"}\n', { skipLines: 1 }, /--skip-lines applies to text files/],
])("refuses %s", async (_what, content, options, message) => {
  await refuses(open(content, options), message);
});

const taken = 'Email,City\nb@x.org,"oops\nc@x.org,y\nd@x.org,"Rome"\n';
const long = `Email,City\na@x.org,x\nb@x.org,"${'line "" and more\n'.repeat(70_000)}"\n`;
test.each<[string, string, Partial<ReadOptions>, RegExp]>([
  ["and no header", 'a@x.org,"Oslo\n', { hasNoHeader: true }, /:1: a quote opens here and is never/],
  ["in the first record", '"Email,City\na@x.org,Oslo\n', {}, /:1: a quote opens here and is never closed/],
  ["that swallows rows", taken, {}, /people\.csv:2: a quote opens here and closes on line 4/],
  ["around over 1 MiB", long, {}, /people\.csv:3: the row that starts here is longer than 1 MiB/],
])("refuses before a request a quote %s", async (_what, content, options, message) => {
  const file = toInputFile(await inputFile(content));
  await refuses(openClearInput("contacts", file, { map: [], ...options }), message);
});

test.each<[Note, string]>([
  [{ code: "counted_elements" }, "Rows are counted as elements of the array, from 1"],
  [
    { code: "encoding", encoding: "koi8-r", isGuess: false, firstForeign: { line: 2, text: "Анна" } },
    "Read as koi8-r; the first line that is not plain ASCII is line 2: Анна",
  ],
  [{ code: "consent_is_field", column: "Status" }, '"Status" is a field of the account; not read as consent'],
])("is said in a sentence: $code", (note, sentence) => expect(describeNote(note)).toBe(sentence));
