/** The first pass over a file: what is counted, what looks odd, and that every further pass reads the same. */
import { appendFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { describeRowsNote } from "../../src/commands/bulk/words.ts";
import type { RowsNote } from "../../src/tables/rows.ts";
import { type Survey, surveyInput } from "../../src/tables/survey.ts";
import { understand } from "./reading.ts";
import { textRow, workbook } from "./workbooks.ts";

async function survey(content: string | Uint8Array): Promise<{ found: Survey; path: string }> {
  const understood = await understand(content, { ignoreUnmapped: true });
  const found = await surveyInput(understood, new AbortController().signal, () => {});
  return { found, path: understood.file.path };
}

const toRow = (cell: string, index: number) => `p${index}@example.com,"${cell.replaceAll('"', '""')}"\n`;
const toFile = (...cells: string[]) => `Email,City\n${cells.map(toRow).join("")}`;

function sheet(cell: string): Uint8Array {
  return workbook({ sheets: [{ name: "A", rows: textRow(1, ["Email", "City"]) + cell }] });
}

test("counts rows, codes of rejections, names, and the last line", async () => {
  const text = 'Email,Tags,Lists\na@x.org,"one,two",L\nno address,one,\nb@x.org,three,"L,M"\n';
  const { found } = await survey(text);
  expect([found.read, found.rejected, found.lastLine]).toEqual([3, 1, 4]);
  expect(found.rejectedCodes).toEqual(new Map([["key_syntax", 1]]));
  expect([...found.tags].join()).toBe("one,two,three");
  expect([...found.lists].join()).toBe("L,M");
});

const amount = textRow(2, ["a@x.org", "1,204.50 €"]);
const error = '<row r="2"><c r="A2" t="str"><v>a@x.org</v></c><c r="B2" t="e"><v>#REF!</v></c></row>';
test.each([
  ["nothing of plain texts", toFile("Oslo", "Rome"), []],
  ["zips of which some have lost a zero", toFile("01067", "1067", "10115"), ["lost_zeros City 1 3 1067"]],
  ["no number of a digit or two", toFile("1", "20", "03"), []],
  ["no number of three lengths", toFile("01067", "1067", "106"), []],
  ["no number beside a text", toFile("01067", "1067", "Oslo"), []],
  ["an amount of a workbook", sheet(amount), ["formatted_amount City 1 2 1,204.50 €"]],
  ["no amount of a text file", toFile("1,204.50 €"), []],
  ["a cell whose value nobody knows", sheet(error), ["unknown_value City 1 2 #REF!"]],
  [
    "an address of a role, and one of a misspelled domain",
    "Email\ninfo@example.com\na@gmial.com\n",
    ["role_address 1 2 info@example.com", "likely_typo 1 3 a@gmial.com"],
  ],
])("odd: %s", async (_what, content, notes) => {
  const { found } = await survey(content);
  const said = ({ code, column = "", count, line, cell }: RowsNote) =>
    [code, column, count, line, cell].filter((part) => part !== "").join(" ");
  expect(found.notes.map(said)).toEqual(notes);
});

test.each<[RowsNote, string]>([
  [
    { code: "lost_zeros", column: "Zip", count: 2, line: 3, cell: "1067" },
    'Column "Zip": 2 cells such as 1067 (line 3) may have lost a leading zero: format the column as text where the file comes from',
  ],
  [
    { code: "first_of_several", count: 1, line: 2, cell: "a@x.org" },
    "1 row with several addresses, of which the first one is the key, such as a@x.org (line 2)",
  ],
])("what is odd is said in a sentence: $code", (note, sentence) => {
  expect(describeRowsNote(note)).toBe(sentence);
});

test("a further pass over few rows or many reads the same, also of a changed file", async () => {
  for (const count of [10, 3000]) {
    const { found, path } = await survey(toFile(...Array.from({ length: count }, () => "Oslo")));
    await appendFile(path, "x@example.com,Rome\n");
    let read = 0;
    for await (const batch of found.batches()) read += batch.length;
    expect(read).toBe(count);
  }
});
