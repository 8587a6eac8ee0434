/** Which record is the header, and the records below it: as often as they are needed. */
import { describe, expect, test } from "vitest";
import { toUnknownCell } from "../../src/tables/cells.ts";
import type { TableRecord } from "../../src/tables/csv.ts";
import { chooseHeader, findAddressColumn, toFirstRow } from "../../src/tables/layout.ts";
import type { HeaderSigns } from "../../src/tables/table.ts";
import { structure } from "./reading.ts";

const signs: HeaderSigns = { options: { map: [] }, structure, rowKind: "contacts" };

function toRecords(...rows: (string | undefined)[][]): TableRecord[] {
  return rows.map((cells, index) => ({ line: index + 1, lines: 1, cells }));
}

/** Records that are parted by ` / `, their cells by `|`. */
const split = (text: string) => toRecords(...text.split(" / ").map((cells) => cells.split("|")));

describe("the header", () => {
  test.each<[string, string, Partial<HeaderSigns["options"]>, line: number, isSure: boolean]>([
    ["is the record with a name of a key", "Report / Name|E-Mail / Ada|a@x.org", {}, 2, true],
    ["is the first of two such records", "Email / Email", {}, 1, true],
    ["is the wider of two such records, if it is later", "email / Email|City", {}, 2, true],
    ["is where --map finds its columns", "Email / a|b", { map: [["B", "key"]] }, 2, true],
    ["may have a column of ids where contacts are named", "x / _id", { takesIds: true }, 2, true],
    ["has no ids where contacts are made", "x / _id", {}, 1, false],
    ["is not sure without a sign", "Name|City / Ada|Oslo", {}, 1, false],
    ["is not a blank record", "|\u00a0 / Email", {}, 2, true],
    ["is not looked for below twenty records", `${"x / ".repeat(20)}Email`, {}, 1, false],
  ])("%s", (_what, text, options, line, isSure) => {
    const found = chooseHeader(split(text), { ...signs, options: { ...signs.options, ...options } });
    expect(found).toMatchObject({ line, isSure });
  });

  test("has no name where nobody knows the cell, or where there is none", () => {
    const records = toRecords(["Email", toUnknownCell("#REF!"), undefined]);
    expect(chooseHeader(records, signs).names).toEqual(["Email", "", ""]);
  });

  test("is missing where there is no row", () => {
    expect(chooseHeader([], signs).line).toBeUndefined();
    expect(toFirstRow([])).toMatchObject({ line: undefined, names: [] });
  });
});

test("without a header, columns have numbers: as many as the widest of the first rows", () => {
  expect(toFirstRow(split(" / a / b|c|d"))).toMatchObject({ line: 2, names: ["1", "2", "3"], isSure: false });
});

test.each([
  ["the one with most addresses", "a@x.org|b@x.org / -|Ada <c@x.org>", 1],
  ["the first of two alike", "a@x.org|b@x.org", 0],
  ["none", "a|b", undefined],
])("the column of addresses is %s", (_what, sample, column) => {
  expect(
    findAddressColumn(
      split(sample).map(({ cells }) => cells),
      [0, 1],
    ),
  ).toBe(column);
});
