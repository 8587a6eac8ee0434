import { parse } from "csv-parse/sync";
import fc from "fast-check";
import { expect, it } from "vitest";
import { formatCsvLine, formatTsvLine, toSafeCell } from "../src/delimited-lines.ts";
import { anyText } from "./support/runs.ts";

const hostile = fc.oneof(anyText(), fc.stringMatching(/^[ ,;"'\n\r\t=+@\\-]{0,6}$/));

it("writes csv that reads back as the same cells, whatever they hold", () => {
  fc.assert(
    fc.property(fc.array(fc.array(hostile, { minLength: 3, maxLength: 3 }), { minLength: 1 }), (rows) => {
      const csv = rows.map((row) => `${formatCsvLine(row)}\n`).join("");
      expect(parse(csv, { record_delimiter: "\n" })).toEqual(rows);
    }),
  );
});

it("writes a single empty cell so that it is no blank line", () => expect(formatCsvLine([""])).toBe('""'));

it("escapes tabs, line breaks and backslashes in tsv so that they come back", () => {
  const meanings: Record<string, string> = { t: "\t", n: "\n", r: "\r", "\\": "\\" };
  fc.assert(
    fc.property(fc.array(hostile, { minLength: 1 }), (cells) => {
      const line = formatTsvLine(cells);
      expect(line).not.toMatch(/[\n\r]/);
      const read = (cell: string) => cell.replace(/\\(.)/g, (_, code: string) => meanings[code]!);
      expect(line.split("\t").map(read)).toEqual(cells);
    }),
  );
});

it("puts an apostrophe before what a spreadsheet would run, and before an apostrophe", () => {
  const run = ["=1+1", "+49", "-5", "@x", "'quoted", "\n=1", " =1", "\u00a0=1", "\u200b=1", "\ufeff-1"];
  const wide = ["\uff1d1", "\uff0b1", "\uff0d1", "\uff201"];
  for (const cell of [...run, ...wide]) expect(toSafeCell(cell)).toBe(`'${cell}`);
  for (const cell of ["plain", "", "a=1", " text", "2-1", "|cmd", ";=1"]) expect(toSafeCell(cell)).toBe(cell);
});
