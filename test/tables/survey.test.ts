/** The first pass over a file: what is counted, what looks odd, and that every further pass reads the same. */
import { appendFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { describeRowsNote } from "../../src/commands/bulk/words.ts";
import type { ReadOptions, RowsNote } from "../../src/tables/rows.ts";
import { type Survey, surveyInput } from "../../src/tables/survey.ts";
import { requireUnderstood } from "../../src/tables/understand.ts";
import { fileWith, structure, toInputFile } from "./reading.ts";
import { textRow, workbook } from "./workbooks.ts";

async function survey(
  content: string | Uint8Array,
  options: Partial<ReadOptions> = {},
): Promise<{ survey: Survey; path: string }> {
  const path = await fileWith(content);
  const wanted = { map: new Map(), ignoreUnmapped: true, ...options };
  const understood = await requireUnderstood("contacts", toInputFile(path), wanted, structure);
  return { survey: await surveyInput(understood, new AbortController().signal, () => {}), path };
}

const toRow = (cell: string, index: number) => `p${index}@example.com,"${cell.replaceAll('"', '""')}"\n`;
const toFile = (...cells: string[]) => `Email,City\n${cells.map(toRow).join("")}`;

function sheet(...cells: string[]): Uint8Array {
  const rows = cells.map((cell, index) => textRow(index + 2, [`p${index}@example.com`, cell]));
  return workbook({ sheets: [{ name: "A", rows: textRow(1, ["Email", "City"]) + rows.join("") }] });
}

test("counts rows, codes of rejections, names, and the last line", async () => {
  const text = 'Email,Tags,Lists\na@x.org,"one,two",L\nno address,one,\nb@x.org,three,"L,M"\n';
  const { survey: found } = await survey(text);
  expect([found.read, found.rejected, found.lastLine]).toEqual([3, 1, 4]);
  expect(found.rejectedCodes).toEqual(new Map([["key_syntax", 1]]));
  expect([[...found.tags], [...found.lists]]).toEqual([
    ["one", "two", "three"],
    ["L", "M"],
  ]);
});

describe("looks odd", () => {
  test.each<[string, string | Uint8Array, RowsNote[]]>([
    ["nothing of plain texts", toFile("Oslo", "Rome"), []],
    [
      "zips of which some have lost a zero",
      toFile("01067", "1067", "10115"),
      [{ code: "lost_zeros", column: "City", count: 1, line: 3, cell: "1067" }],
    ],
    ["no number of three lengths", toFile("01067", "1067", "106"), []],
    ["no number beside a text", toFile("01067", "1067", "Oslo"), []],
    [
      "an amount of a workbook",
      sheet("1,204.50 €"),
      [{ code: "formatted_amount", column: "City", count: 1, line: 2, cell: "1,204.50 €" }],
    ],
    ["no amount of a text file", toFile("1,204.50 €"), []],
    [
      "an address of a role, and one of a misspelled domain",
      "Email\ninfo@example.com\na@gmial.com\n",
      [
        { code: "role_address", count: 1, line: 2, cell: "info@example.com" },
        { code: "likely_typo", count: 1, line: 3, cell: "a@gmial.com" },
      ],
    ],
  ])("%s", async (_what, content, notes) => {
    expect((await survey(content)).survey.notes).toEqual(notes);
  });

  test("a cell whose value nobody knows", async () => {
    const cell = '<row r="2"><c r="A2" t="str"><v>a@x.org</v></c><c r="B2" t="e"><v>#REF!</v></c></row>';
    const book = workbook({ sheets: [{ name: "A", rows: textRow(1, ["Email", "City"]) + cell }] });
    expect((await survey(book)).survey.notes).toEqual([
      { code: "unknown_value", column: "City", count: 1, line: 2, cell: "#REF!" },
    ]);
  });

  test.each<[RowsNote, string]>([
    [
      { code: "lost_zeros", column: "Zip", count: 2, line: 3, cell: "1067" },
      'Column "Zip": 2 cells such as 1067 (line 3) may have lost a leading zero: format the column as text where the file comes from',
    ],
    [
      { code: "likely_typo", count: 5, line: 2, cell: "a@gmial.com" },
      "5 addresses may be misspelled, such as a@gmial.com (line 2)",
    ],
    [
      { code: "role_address", count: 3, line: 2, cell: "info@x.org" },
      "3 addresses of a role, not of a person, such as info@x.org (line 2)",
    ],
    [
      { code: "first_of_several", count: 1, line: 2, cell: "a@x.org" },
      "1 row with several addresses, of which the first one is the key, such as a@x.org (line 2)",
    ],
  ])("and is said in a sentence: $code", (note, sentence) => {
    expect(describeRowsNote(note)).toBe(sentence);
  });
});

describe("a mark", () => {
  const text = [
    "Email,Unsubscribed,City",
    "a@x.org,yes,",
    "A@x.org,,",
    "b@x.org,perhaps,",
    'c@x.org,yes,Oslo,"more"',
    "c@x.org,,",
    "",
  ].join("\n");

  test("of one row is that of all rows of its contact, and of what a rejected row names", async () => {
    const { survey: found } = await survey(text);
    expect([found.consent.clearlyMarked, found.consent.unclearCount]).toEqual([2, 1]);
    const rows = [];
    for await (const batch of found.batches()) rows.push(...batch);
    const clear = rows.map((row) => (row.kind === "row" ? found.withMarks(row).mark?.isClear : row.code));
    expect(clear).toEqual([true, undefined, false, "too_many_cells", true]);
    const last = rows.at(-1)!;
    expect(last.kind === "row" && found.withMarks(last).mark?.reason).toBe("Unsubscribed: yes");
  });
});

test.each([10, 50_000])(
  "a further pass over %d rows reads the same, also of a changed file",
  async (count) => {
    const { survey: found, path } = await survey(toFile(...Array.from({ length: count }, () => "Oslo")));
    await appendFile(path, "x@example.com,Rome\n");
    let read = 0;
    for await (const batch of found.batches()) read += batch.length;
    expect(read).toBe(count);
  },
);
