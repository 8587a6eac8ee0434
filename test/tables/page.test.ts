/** Rows of a workbook or of JSON as a text of our own: what is written is what is read. */
import { readFile, stat } from "node:fs/promises";
import { expect, test } from "vitest";
import { type Cells, toUnknownCell } from "../../src/tables/cells.ts";
import { cellsReader, tableNames, writePage } from "../../src/tables/page.ts";
import { catchFailure, fileWith, toInputFile } from "./reading.ts";

async function* toRows(rows: readonly (readonly [line: number, cells: Cells])[]) {
  for (const [line, cells] of rows) yield { line, cells };
}

async function writtenPage(...rows: (readonly [line: number, cells: Cells])[]) {
  return writePage(toInputFile(await fileWith("")), "page", toRows(rows));
}

const readCells = cellsReader({ isTable: true, hasEscapes: true });

test("a row keeps its line, and a cell what it is: text, blank, missing, or of a value that nobody knows", async () => {
  const cells = ["a\tb\nc\\-", "", undefined, toUnknownCell("#N/A\t"), "\\?", "=1", "é😀"];
  const { text, encoding } = await writtenPage([1, ["Email", "x"]], [4, cells], [5, ["z", undefined]]);
  const lines = (await readFile(text.path, "utf8")).split("\n");
  expect(lines).toHaveLength(6);
  expect([lines[1], lines[2], lines[5]]).toEqual(["", "", ""]);
  expect(readCells(lines[3]!.split("\t"))).toEqual(cells);
  // What is missing at the end of a row is not written.
  expect(lines[4]).toBe("z");
  expect(encoding).toEqual({ encoding: "utf-8", markBytes: 0, isGuess: false });
  expect((await stat(text.path)).mode & 0o777).toBe(0o600);
});

test("a name that nobody knows is none", () => {
  expect(tableNames(["Email", "\\?#REF!", "a\\tb"])).toEqual(["Email", "", "a\tb"]);
});

test("a byte order mark in front of the first cell is no part of the text", async () => {
  const { text } = await writtenPage([1, ["\ufeffEmail"]], [2, ["\ufeffb"]]);
  expect(await readFile(text.path, "utf8")).toBe("Email\n\ufeffb\n");
});

test.each([
  ["half of a character", [[1, ["a", "b\ud83d"]]], ":1: cell 2 contains half of a character"],
  [
    "a zero byte",
    [
      [1, ["a"]],
      [3, ["b\0"]],
    ],
    ":3: cell 1 contains a zero byte",
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
