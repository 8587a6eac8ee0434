/** Which record is the header, and the records below it: as often as they are needed. */
import { describe, expect, test } from "vitest";
import { toUnknownCell } from "../../src/tables/cells.ts";
import type { TableRecord } from "../../src/tables/csv.ts";
import { chooseHeader, findAddressColumn, toFirstRow } from "../../src/tables/layout.ts";
import { type HeaderSigns, RecordReader } from "../../src/tables/table.ts";
import { structure } from "./reading.ts";

const signs: HeaderSigns = { options: { map: new Map() }, structure, rowKind: "contacts" };

function toRecords(...rows: (string | undefined)[][]): TableRecord[] {
  return rows.map((cells, index) => ({ line: index + 1, lines: 1, cells }));
}

describe("the header", () => {
  test.each<[string, (string | undefined)[][], Partial<HeaderSigns["options"]>, number, boolean]>([
    ["is the record with a name of a key", [["Report"], ["Name", "E-Mail"], ["Ada", "a@x.org"]], {}, 2, true],
    ["is the first of two such records", [["Email"], ["Email"]], {}, 1, true],
    ["is the wider of two such records, if it is later", [["email"], ["Email", "City"]], {}, 2, true],
    ["is where --map finds its columns", [["Email"], ["a", "b"]], { map: new Map([["B", "key"]]) }, 2, true],
    ["may have a column of ids where contacts are named", [["x"], ["_id"]], { takesIds: true }, 2, true],
    ["has no ids where contacts are made", [["x"], ["_id"]], {}, 1, false],
    [
      "is not sure without a sign",
      [
        ["Name", "City"],
        ["Ada", "Oslo"],
      ],
      {},
      1,
      false,
    ],
    ["is not a blank record", [["", "\u00a0"], ["Email"]], {}, 2, true],
    [
      "is not looked for below twenty records",
      [...Array.from({ length: 20 }, () => ["x"]), ["Email"]],
      {},
      1,
      false,
    ],
  ])("%s", (_what, rows, options, line, isSure) => {
    const found = chooseHeader(toRecords(...rows), { ...signs, options: { ...signs.options, ...options } });
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
  const found = toFirstRow(toRecords([""], ["a"], ["b", "c", "d"]));
  expect(found).toMatchObject({ line: 2, names: ["1", "2", "3"], isSure: false });
});

test.each<[string, string[][], number | undefined]>([
  [
    "the one with most addresses",
    [
      ["a@x.org", "b@x.org"],
      ["-", "Ada <c@x.org>"],
    ],
    1,
  ],
  ["the first of two alike", [["a@x.org", "b@x.org"]], 0],
  ["none", [["a", "b"]], undefined],
])("the column of addresses is %s", (_what, sample, column) => {
  expect(findAddressColumn(sample, [0, 1])).toBe(column);
});

describe("the records of a table", () => {
  /** A table of so many rows, and how often it was read. */
  function countedTable(rows: number) {
    const counted = { passes: 0 };
    const table = {
      async *records(firstLine: number): AsyncGenerator<TableRecord[]> {
        counted.passes += 1;
        for (let line = firstLine; line < firstLine + rows; line++) yield [{ line, lines: 1, cells: ["x"] }];
      },
    };
    return { table, counted };
  }

  async function readAll(reader: RecordReader, most = Number.POSITIVE_INFINITY): Promise<TableRecord[]> {
    const all: TableRecord[] = [];
    for await (const records of reader.read()) {
      all.push(...records);
      if (all.length >= most) break;
    }
    return all;
  }

  test.each([
    [5000, 1],
    [5001, 2],
  ])("%d of them are read from the file %d times of two", async (rows, passes) => {
    const { table, counted } = countedTable(rows);
    const reader = new RecordReader(() => table.records(2));
    const first = await readAll(reader);
    expect(await readAll(reader)).toEqual(first);
    expect(first[0]?.line).toBe(2);
    expect(counted.passes).toBe(passes);
    expect(reader.areKept).toBe(passes === 1);
  });

  test("are not kept before they were read to their end", async () => {
    const { table, counted } = countedTable(3);
    const reader = new RecordReader(() => table.records(1));
    expect(await readAll(reader, 1)).toHaveLength(1);
    expect(reader.areKept).toBe(false);
    expect(await readAll(reader)).toHaveLength(3);
    expect(counted.passes).toBe(2);
  });
});
