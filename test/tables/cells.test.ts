/** A cell, and the values it means by the rules of its file. */
import { expect, test } from "vitest";
import { findUnknown, splitNames, toUnknownCell, unwrapFormula } from "../../src/tables/cells.ts";
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
  [undefined, 'a, "b, c" ,, d', ["a", "b, c", "d"]],
  [undefined, 'a, "b, c', ["a", '"b', "c"]],
  [":::", "a ::: b,c:::d", ["a", "b,c", "d"]],
  [";", " a;;b ", ["a", "b"]],
  [undefined, " ", []],
] as const)("names parted by %j: %j", (splitting, cell, names) => {
  expect(splitNames(cell, splitting)).toEqual(names);
});

test("a rejects file says which cells are missing, and reads them so again", () => {
  const names = ["Email", "City, old", "Plan"];
  const columns = names.map((name) => ({ name }));
  const said = rejectsColumns.listMissing(["a@x.org", undefined, undefined], columns, [0, 1, 2]);
  expect(said).toBe('"City, old",Plan');
  const missing = findMissingCells([...names, "ECM_Missing "])!;
  expect(removeMissing(["a@x.org", "", "", said], missing)).toEqual(["a@x.org", undefined, undefined, said]);
  // What was filled in since is there.
  expect(removeMissing(["a@x.org", "Oslo", " ", said], missing)).toEqual([
    "a@x.org",
    "Oslo",
    undefined,
    said,
  ]);
  expect(findMissingCells(["Email", "City"])).toBeUndefined();
});

test("the columns of a rejects file are known whatever their letter case", () => {
  const names = ["ecm_line", " ECM_Error", "ecm_missing", "ecm_not_subscribed", "ecm", "Email"];
  expect(names.filter((name) => !rejectsColumns.has(name))).toEqual(["ecm", "Email"]);
});

test.each([
  ["", "none"],
  ["  ", "none"],
  ["Status: unsubscribed", "clear"],
  ["? Status: perhaps", "unclear"],
])("the mark %j is %s", (cell, mark) => {
  expect(readMarkCell(cell)).toBe(mark);
});
