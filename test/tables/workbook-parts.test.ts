/** The parts of a workbook by themselves: entries, XML, texts, cells and rows. */
import { writeFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { toUnknownCell } from "../../src/tables/cells.ts";
import { inspectFile } from "../../src/tables/source.ts";
import { createCellReader, loadNumberFormats } from "../../src/tables/workbook/cell-text.ts";
import { Archive, unescapeText, type XmlElement } from "../../src/tables/workbook/parts.ts";
import { unpackSheet } from "../../src/tables/workbook/sheet.ts";
import { catchFailure, fileWith, toInputFile } from "./reading.ts";
import { zip } from "./workbooks.ts";

async function openArchive(entries: Record<string, string | Buffer>): Promise<Archive> {
  return Archive.open(toInputFile(await fileWith(zip(entries))));
}

/** The elements `a` of an entry's XML, as a text. */
async function readEntry(archive: Archive, path: string): Promise<string> {
  const toText = ({ name, attributes, text, children }: XmlElement): string =>
    `<${name}${Object.keys(attributes).join()}>${text}${children.map(toText).join("")}</${name}>`;
  return (await archive.read(path, "a")).map(toText).join("");
}

describe("an archive", () => {
  test("has its entries by name, whatever their letter case", async () => {
    const archive = await openArchive({ "xl/A.xml": "<a>one</a>", "b.xml": "<b/>" });
    expect([archive.has("XL/a.XML"), archive.has("c.xml")]).toEqual([true, false]);
    expect(await readEntry(archive, "xl/a.xml")).toBe("<a>one</a>");
    expect((await catchFailure(readEntry(archive, "c.xml"))).message).toContain("c.xml is missing in it");
    archive.close();
  });

  test("is refused where it was cut off", async () => {
    const path = await fileWith("");
    await writeFile(path, zip({ "a.xml": "a" }).subarray(0, 40));
    expect((await catchFailure(Archive.open(toInputFile(path)))).message).toContain("damaged archive");
  });
});

describe("XML", () => {
  test("has elements by their names without a prefix, wherever they are", async () => {
    const text = "<r>0<x:a x:id='1'><b>2</b>1</x:a><c><a/></c><b/></r>";
    const found = await readEntry(await openArchive({ "a.xml": text }), "a.xml");
    expect(found).toBe("<ax:id>1<b>2</b></a><a></a>");
  });

  test.each([
    ["no XML", "<a><b></a>", /Unexpected close tag/],
    ["entities", '<!DOCTYPE a [<!ENTITY b "b">]><a>&b;</a>', /document type/],
    ["no UTF-8", Buffer.from("<a>\xff</a>", "latin1"), /damaged/],
  ])("with %s is refused", async (_what, text, message) => {
    const archive = await openArchive({ "a.xml": text });
    expect((await catchFailure(readEntry(archive, "a.xml"))).message).toMatch(message);
  });
});

test.each([
  ["a_x000D_b", "a\rb"],
  ["_x005F_x000D_", "_x000D_"],
  ["_x00_", "_x00_"],
])("%s is %j", (written, text) => {
  expect(unescapeText(written)).toBe(text);
});

describe("a cell", () => {
  test.each<[type: string, pattern: string, value: string, text: string | undefined]>([
    ["s", "General", "0", "shared"],
    ["s", "General", "7", undefined],
    ["s", "General", "x", undefined],
    ["str", "General", "a_x0042_", "aB"],
    ["b", "General", "1", "TRUE"],
    ["b", "General", "2", "2"],
    ["e", "General", "#N/A", toUnknownCell("#N/A")],
    ["e", "General", "", toUnknownCell("error")],
    ["d", "General", "2024-03-01T00:00:00Z", "2024-03-01"],
    ["d", "General", "2024-03-01T10:20:30.5Z", "2024-03-01T10:20:30"],
    ["n", "General", "", ""],
    ["n", "General", "4860070080", "4860070080"],
    ["n", "00000", "1067", "01067"],
    ["n", "0%", "0.5", "50%"],
    ["n", "0.00E+00", "8.19E+11", "819000000000"],
    ["n", ";;;", "7", "7"],
    ["n", "#,##0.00", "1234.5", "1,234.50"],
    ["n", "yyyy-mm-dd", "45352", "2024-03-01"],
    ["n", "yyyy-mm-dd", "45352.5", "2024-03-01T12:00:00"],
    ["n", "yyyy-mm-dd", "0", "1900-01-00"],
    ["n", "yyyy-mm-dd", "2958466", toUnknownCell("(a date beyond 9999)")],
    ["n", "h:mm", "0.5", "12:00:00"],
    ["n", "General", "not a number", "not a number"],
    ["n", "General", "0.30000000000000004", "0.3"],
    ["n", "General", "1E-7", "1e-7"],
    ["n", "@", "42", "42"],
    ["n", '"No. "0', "7", "No. 7"],
    ["n", "d/m/yy h:mm", "45000.75", "2023-03-15T18:00:00"],
    ["n", "[$-407]d. mmmm yyyy;@", "45000", "2023-03-15"],
    ["n", "yyyy", "1", "1900-01-01"],
    ["n", "yyyy", "61", "1900-03-01"],
    ["n", "[h]:mm", "1.5", "36:00"],
    ["n", "mmm", "45000", "2023-03-15"],
    ["n", "General;-General", "441234567890", "441234567890"],
    ["n", 'General" pcs"', "441234567890123", "441234567890123"],
    ["n", "General", "1234567890123456789", "1234567890123456789"],
    ["n", "0", "-123456789012345678", "-123456789012345678"],
    ["n", "@", "9007199254740993", "9007199254740993"],
    // Of more digits than a number of JavaScript keeps.
    ["n", "General", "1.2345678901234567E+19", "12345678901234600000"],
    ["n", "General", "12345678901234.5E5", "1234567890123450000"],
    ["n", "General", "1E+21", "1000000000000000000000"],
    ["n", "General", "-1.5e+16", "-15000000000000000"],
    ["n", "General", "123456789012345", "123456789012345"],
  ])("of type %s with the format %s and the value %j is %j", async (type, pattern, value, text) => {
    const read = createCellReader(await loadNumberFormats(), 1900, [pattern], ["shared"]);
    expect(read(type, "0", value)).toBe(text);
  });
});

describe("a sheet", () => {
  const noResult = toUnknownCell("(a formula without a saved result)");

  async function rowsOf(rows: string, merged = "", isZeroResult = true) {
    const xml = `<worksheet><sheetData>${rows}</sheetData>${merged}</worksheet>`;
    const file = toInputFile(await fileWith(zip({ "sheet.xml": xml })));
    const formatCell = (_type: string, _style: string | undefined, value: string) => value;
    const sheet = await unpackSheet(await Archive.open(file), "sheet.xml", await inspectFile(file), {
      formatCell,
      isZeroResult,
    });
    const read = async () => {
      const found: [number, (string | undefined)[]][] = [];
      for await (const batch of sheet.records())
        found.push(...batch.map((row) => [row.line, row.cells] as [number, (string | undefined)[]]));
      return found;
    };
    return { ...sheet, rows: await read(), again: read };
  }

  test.each<[string, string, boolean, string]>([
    ["no result", "<f>1</f>", true, noResult],
    ["the result 0", "<f>1</f><v>0</v>", true, "0"],
    ["a 0.0, which only programs write", "<f>1</f><v>0.0</v>", true, noResult],
    ["a 0 that nobody has computed", "<f>1</f><v>0</v>", false, noResult],
    ["a result", "<f>1</f><v>7</v>", false, "7"],
  ])("has a formula with %s", async (_what, cell, isZeroResult, text) => {
    expect((await rowsOf(`<row><c>${cell}</c></row>`, "", isZeroResult)).rows).toEqual([[1, [text]]]);
  });

  test("gives the value of a merged range to each of its cells, in every pass", async () => {
    const xml =
      '<row r="1"><c r="A1"><v>no</v></c><c r="B1"><v>x</v></c></row><row r="2"><c r="B2"><v>y</v></c></row>';
    const sheet = await rowsOf(
      xml,
      '<mergeCells><mergeCell ref="A1:A2"/><mergeCell ref="D1:E1"/></mergeCells>',
    );
    const filled = [
      [1, ["no", "x"]],
      [2, ["no", "y"]],
    ];
    expect(sheet.rows).toEqual(filled);
    expect(await sheet.again()).toEqual(filled);
    expect(sheet.mergedRanges).toBe(2);
  });
});
