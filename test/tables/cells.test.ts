/** A cell, and the values it means by the rules of its file. */
import { expect, test } from "vitest";
import {
  createValueReader,
  findUnknown,
  isBlankText,
  splitNames,
  toUnknownCell,
  unwrapFormula,
} from "../../src/tables/cells.ts";
import {
  findMissingCells,
  readMarkCell,
  rejectsColumns,
  removeMissing,
} from "../../src/tables/rejects-columns.ts";

test.each([
  ["a cell whose value nobody knows", toUnknownCell("#N/A"), "#N/A"],
  ["such a cell that shows nothing", toUnknownCell(""), ""],
  ["text", "#N/A", undefined],
  ["a blank", "", undefined],
  ["no cell", undefined, undefined],
  ["a character beyond the first 65,536", "\ud800\udc00", undefined],
])("unknown: %s", (_what, cell, shown) => {
  expect(findUnknown(cell)).toBe(shown);
});

test.each([
  ["", true],
  [" \t", true],
  ["\u00a0\u200b\ufeff", true],
  ["a", false],
  ["\u00a0é", false],
])("blank: %j is %s", (text, isBlank) => {
  expect(isBlankText(text)).toBe(isBlank);
});

test.each([
  ['="01067"', "01067"],
  ['="a ""b"""', 'a "b"'],
  ['=""', ""],
  ['="a"&"b"', '="a"&"b"'],
  ['="a" ', '="a" '],
  ["=1", "=1"],
  ["01067", "01067"],
])("the text in %s is %j", (cell, text) => {
  expect(unwrapFormula(cell)).toBe(text);
});

test.each([
  ["safe cells lose one apostrophe", true, false, "''=1", "'=1"],
  ["safe cells lose it whatever follows", true, false, "'Ada", "Ada"],
  ["of a system, before what a spreadsheet would calculate", false, true, "'+49", "+49"],
  ["of a system, not before a name", false, true, "'Ada", "'Ada"],
  ["of any other file, never", false, false, "'=1", "'=1"],
])("apostrophes: %s", (_what, hasSafeCells, hasApostrophes, cell, value) => {
  expect(createValueReader(hasSafeCells, hasApostrophes)(cell)).toBe(value);
});

test.each([
  [undefined, 'a, "b, c" ,, d', ["a", "b, c", "d"]],
  [undefined, 'a, "b, c', ["a", '"b', "c"]],
  [":::", "a ::: b,c:::d", ["a", "b,c", "d"]],
  [";", " a;;b ", ["a", "b"]],
  [undefined, " ", []],
] as const)("names parted by %j: %j", (splitting, cell, names) => {
  expect(splitNames(cell, splitting)).toEqual(names);
});

test("a rejects file says which cells are missing, and reads them so again", () => {
  const columns = [{ name: "Email" }, { name: "City, old" }, { name: "Plan" }];
  const said = rejectsColumns.listMissing(["a@example.com", undefined, undefined], columns, [0, 1, 2]);
  expect(said).toBe('"City, old",Plan');
  const missing = findMissingCells([...columns.map(({ name }) => name), "ECM_Missing "])!;
  expect(removeMissing(["a@example.com", "", "", said], missing)).toEqual([
    "a@example.com",
    undefined,
    undefined,
    said,
  ]);
  // What was filled in since is there.
  expect(removeMissing(["a@example.com", "Oslo", " ", said], missing).slice(1, 3)).toEqual([
    "Oslo",
    undefined,
  ]);
  expect(findMissingCells(["Email", "City"])).toBeUndefined();
});

test.each([
  ["ecm_line", true],
  [" ECM_Error", true],
  ["ecm_missing", true],
  ["ecm_not_subscribed", true],
  ["ecm", false],
  ["Email", false],
])("the column %j is one of a rejects file: %s", (name, isOurs) => {
  expect(rejectsColumns.has(name)).toBe(isOurs);
});

test.each([
  ["", "none"],
  ["  ", "none"],
  ["Status: unsubscribed", "clear"],
  ["? Status: perhaps", "unclear"],
])("the mark %j is %s", (cell, mark) => {
  expect(readMarkCell(cell)).toBe(mark);
});
