/** Workbooks as they are written: what no sheet or no XML takes. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { openWorkbook } from "../../src/disk/workbook.ts";
import { read } from "../tables/reading.ts";

async function write(rows: readonly (readonly string[])[], maxRows?: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  const take = async (piece: Buffer) => {
    pieces.push(piece);
  };
  const workbook = await openWorkbook(take, "People", maxRows);
  for (const row of rows) await workbook.append(row);
  await workbook.end();
  return Buffer.concat(pieces);
}

it("what does not fit on a sheet is on the next one, below the same heading", async () => {
  const people = Array.from({ length: 5 }, (_, at) => [`p${at}@x.org`]);
  const book = await write([["Email"], ...people], 3);
  const sheets = [];
  for (const sheet of ["People", "People 2", "People 3"]) {
    const { rows } = await read(book, { sheet });
    sheets.push(rows.map(({ cells }) => cells));
  }
  expect(sheets).toEqual([people.slice(0, 2), people.slice(2, 4), people.slice(4)]);
});

it("every text comes back as it was", async () => {
  const cell = fc.oneof(
    fc.string({ unit: "grapheme" }),
    fc.string({
      unit: fc.constantFrom("_", "x", "0", "A", "\r", "\n", "\t", "\u0001", "\ufffe", "<", "&", " "),
    }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(cell, { minLength: 1, maxLength: 20 }), async (cells) => {
      const rows = cells.map((text, at) => [`p${at}@x.org`, text]);
      const book = await write([["Email", "Text"], ...rows]);
      const found = await read(book, { map: new Map([["Text", "First Name"]]) });
      expect(found.rows.map((row) => row.cells[1] ?? "")).toEqual(cells);
    }),
  );
});
