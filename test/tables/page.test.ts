/** Rows of a workbook or of JSON in a scratch file: what is written is what is read. */
import { stat } from "node:fs/promises";
import { expect, test } from "vitest";
import { type Cells, toUnknownCell } from "../../src/tables/cells.ts";
import { readPage, writePage } from "../../src/tables/table.ts";
import { catchFailure, fileWith, toInputFile } from "./reading.ts";

async function* toRows(rows: readonly (readonly [line: number, cells: Cells])[]) {
  for (const [line, cells] of rows) yield { line, cells };
}

async function writtenPage(...rows: (readonly [line: number, cells: Cells])[]) {
  return writePage(toInputFile(await fileWith("")), "page", toRows(rows));
}

test("a row keeps its line, and a cell what it is: text, blank, missing, or of a value that nobody knows", async () => {
  const cells = ["a\tb\nc\\-", "", undefined, toUnknownCell("#N/A\t"), "\\?", "=1", "é😀", "\ufeff"];
  const page = await writtenPage([1, ["Email", "x"]], [4, cells], [5, ["z", undefined]]);
  const records = [];
  for await (const batch of readPage(page)) records.push(...batch);
  expect(records).toEqual([
    { line: 1, lines: 1, cells: ["Email", "x"] },
    { line: 4, lines: 1, cells },
    { line: 5, lines: 1, cells: ["z", undefined] },
  ]);
  expect((await stat(page.path)).mode & 0o777).toBe(0o600);
});

test("characters that two pieces of the file share are whole", async () => {
  const long = "é😀".repeat(20_000);
  const page = await writtenPage([1, [`x${long}`]], [2, [long]]);
  const found = [];
  for await (const batch of readPage(page)) found.push(...batch.map((record) => record.cells[0]));
  expect(found).toEqual([`x${long}`, long]);
});

test.each([
  ["half of a character", [[1, ["a", "b\ud83d"]]], ":1: cell 2 contains a character that text cannot hold"],
  [
    "a zero byte",
    [
      [1, ["a"]],
      [3, ["b\0"]],
    ],
    ":3: cell 1 contains a character that text cannot hold",
  ],
  [
    "rows that go back",
    [
      [2, ["a"]],
      [1, ["b"]],
    ],
    "its rows are not in order",
  ],
  ["no row", [], " is empty"],
] as [string, [number, Cells][], string][])("%s is refused with its place", async (_what, rows, message) => {
  expect((await catchFailure(writtenPage(...rows))).message).toContain(message);
});
