/** Workbooks, read as tables: cells, rows, sheets, and the parts that hold them. */
import { expect, test } from "vitest";
import { toUnknownCell } from "../../src/tables/cells.ts";
import { readRows } from "../../src/tables/read-rows.ts";
import { createCellReader, loadNumberFormats } from "../../src/tables/workbook/cell-text.ts";
import { notesOf, outline, read, refuses } from "./reading.ts";
import { createParts, sheet, textCell, textRow, workbook, zip } from "./workbooks.ts";

const header = textRow(1, ["Email", "City", "Last Name"]);

test("a sheet is read with the numbers of its rows, below whatever stands above its header", async () => {
  const header = textRow(1, ["Our people"]) + textRow(3, ["Email", "", "City"]);
  const { rows, understood } = await read(sheet(header + textRow(7, ["a@x.org", "", "Rome"])));
  expect(rows).toMatchObject([{ line: 7, key: { sent: "a@x.org" }, fields: new Map([["f3", "Rome"]]) }]);
  expect(understood.facts).toMatchObject({ delimiter: ",", hasEscapes: false });
  expect(understood.reading.table.startLine).toBe(3);
  expect(notesOf(understood)).toContain('Read the sheet "People" of a workbook');
});

test.each<[type: string, pattern: string, value: string, text: string | undefined]>([
  ["s", "General", "0", "shared"],
  ["s", "General", "7", undefined],
  ["s", "General", "x", undefined],
  ["str", "General", "", ""],
  ["str", "General", "a_x0042__x000D_", "aB\r"],
  ["str", "General", "_x005F_x000D_", "_x000D_"],
  ["str", "General", "_x00_", "_x00_"],
  ["b", "General", "1", "TRUE"],
  ["b", "General", "2", "2"],
  ["e", "General", "#N/A", toUnknownCell("#N/A")],
  ["e", "General", "", toUnknownCell("error")],
  ["d", "General", "2024-03-01T00:00:00Z", "2024-03-01"],
  ["d", "General", "2024-03-01T10:20:30.5Z", "2024-03-01T10:20:30"],
  ["d", "General", "+010000-01-01T00:00:00Z", toUnknownCell("+010000-01-01T00:00:00Z")],
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
  ["n", "yyyy-mm-dd", "-1401", toUnknownCell("(a date before the calendar begins)")],
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
])("a cell of type %s with the format %s and the value %j is %j", async (type, pattern, value, text) => {
  const read = createCellReader(await loadNumberFormats(), 1900, [pattern], ["shared"]);
  expect(read(type, "0", value)).toBe(text);
});

test.each([
  ["0", "1904-01-01"],
  ["-1401", toUnknownCell("(a date before the calendar begins)")],
])("a cell of a workbook that counts from 1904 with the value %s is %j", async (value, text) => {
  const cells = `<row r="2">${textCell("a@example.com")}<c s="1"><v>${value}</v></c></row>`;
  const { rows } = await read(sheet(header + cells, { formats: ["yyyy-mm-dd"], is1904: true }));
  expect(rows[0]?.cells[1]).toBe(text);
});

const noResult = toUnknownCell("(a formula without a saved result)");
test.each([
  ["no result", "<f>1</f>", false, noResult],
  ["the result 0", "<f>1</f><v>0</v>", false, "0"],
  ["a 0.0, which only programs write", "<f>1</f><v>0.0</v>", false, noResult],
  ["a 0 that nobody has computed", "<f>1</f><v>0</v>", true, noResult],
  ["a result", "<f>1</f><v>7</v>", true, "7"],
])("a cell has a formula with %s", async (_what, cell, isComputedOnOpening, text) => {
  const row = `<row r="2">${textCell("a@example.com")}<c>${cell}</c></row>`;
  const { rows } = await read(sheet(header + row, { isComputedOnOpening }));
  expect(rows[0]?.cells[1]).toBe(text);
});

test("a cell has a text that is shared, in parts, escaped, of any script, and without its pronunciation", async () => {
  const sharedTexts = [
    "<si><t>a@example.com</t></si>",
    '<si><r><t xml:space="preserve">New </t></r><r><rPr/><t>York</t></r><rPh sb="0" eb="1"><t>ヨーク</t></rPh></si>',
    "<si><t>𐌰𐀀_x000A_two &amp;\ttab \\n</t></si>",
  ];
  const cells = sharedTexts.map((_, at) => `<c t="s"><v>${at}</v></c>`).join("");
  const { rows } = await read(sheet(`${header}<row r="2">${cells}</row>`, { sharedTexts }));
  expect(rows[0]?.cells).toEqual(["a@example.com", "New York", "𐌰𐀀\ntwo &\ttab \\n"]);
});

test("a cell behind the row's last value is as blank as one before it", async () => {
  const rows = textRow(2, ["a@example.com"]) + textRow(3, ["b@example.com", "", "D"]);
  const { rows: found } = await read(sheet(header + rows));
  expect(found.map(({ fields }) => [...fields.values()].join("|"))).toEqual(["|", "|D"]);
});

test.each([
  ["an empty cell", `<c/>${textCell("Doe")}`],
  ["an empty cell with a style", `<c s="0"></c>${textCell("Doe")}`],
  ["an empty text", `${textCell("")}${textCell("Doe")}`],
  ["an empty shared text", `<c t="s"><v></v></c>${textCell("Doe")}`],
  ["a shared text without a number", `<c t="s"/>${textCell("Doe")}`],
  ["a truth without a value", `<c t="b"/>${textCell("Doe")}`],
  ["a place that is passed over", textCell("Doe", "C2")],
  ["a place without a line", textCell("Doe", "C")],
])("a cell that does not say its place stands behind the one before it: %s", async (_name, cells) => {
  const row = `<row>${textCell("a@example.com")}${cells}</row>`;
  const book = sheet(header + row, { sharedTexts: ["<si><t>Email</t></si>"] });
  expect(outline(await read(book))).toEqual(["2 a@example.com||Doe"]);
});

test("a merged range has its value in each of its cells that are below a name, in every pass", async () => {
  const rows = textRow(2, ["a@x.org", "Oslo"]) + textRow(3, ["b@x.org"]) + textRow(4, ["c@x.org", "Rome"]);
  const merged = ["B3:B2", "B4:F4", "E1:F1"];
  const { all, understood } = await read(sheet(header + rows, { merged }));
  const found = all.map(({ cells }) => cells.join("|"));
  expect(found).toEqual(["a@x.org|Oslo|", "b@x.org|Oslo|", "c@x.org|Rome|Rome"]);
  const again = [];
  for await (const row of readRows(understood)) again.push(row);
  expect(again).toEqual(all);
  expect(notesOf(understood)).toContain(
    "3 merged ranges in the workbook: each of their cells is read with the value of the range",
  );
});

test("a merged mark is that of each of its rows, whatever the cells below it hide", async () => {
  const cells = [
    ["Email", "Unsubscribed"],
    ["a@x.org", "yes"],
    ["b@x.org", "no"],
    ["c@x.org", "no"],
    ["d@x.org"],
  ];
  const rows = cells.map((row, at) => textRow(at + 1, row)).join("");
  const found = await read(sheet(rows, { merged: ["B2:B3", "B4:B5"] }));
  expect(found.rows.map(({ mark }) => mark !== undefined)).toEqual([true, true, false, false]);
});

test("hidden rows are read, and said", async () => {
  const rows = textRow(2, ["a@example.com", "x"], ' hidden="1"') + textRow(3, ["b@example.com", "y"]);
  const result = await read(sheet(header + rows));
  expect(outline(result)).toEqual(["2 a@example.com|x|", "3 b@example.com|y|"]);
  expect(notesOf(result.understood)).toContain("1 row is hidden in the workbook; read like the others");
});

test("of several visible sheets one must be named", async () => {
  const sheets = [
    { name: "Notes", rows: textRow(1, ["x"]) },
    { name: "2", rows: header + textRow(2, ["b@example.com"]) },
    { name: "Old", state: "hidden", rows: header + textRow(2, ["c@example.com"]) },
  ];
  await refuses(read(workbook({ sheets })), /has 2 sheets: "Notes", "2"$/, "--sheet Notes,");
  const keyIn = async (sheet: string) => (await read(workbook({ sheets }), { sheet })).rows[0]?.key.sent;
  expect(await keyIn("2")).toBe("b@example.com");
  for (const name of ["old", "3"]) expect(await keyIn(name)).toBe("c@example.com");
  await refuses(keyIn("Nots"), 'has no sheet "Nots"');
  expect((await read(workbook({ sheets: sheets.slice(1) }))).rows).toHaveLength(1);
});

const sharedTexts = ["<si><t>a@example.com</t></si>"];
const rows = `${header}<row r="2"><c r="A2" t="s"><v>0</v></c></row>`;
const { "xl/sharedStrings.xml": texts, ...parts } = createParts({
  sheets: [{ name: "People", rows }],
  sharedTexts,
});

test("the parts of a workbook are where it says they are", async () => {
  const office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
  const moved = `<Relationship Id="rId9" Type="${office}/sharedStrings" Target="/xl/strings/all.xml"/>`;
  const relations = parts["xl/_rels/workbook.xml.rels"]!.replace("</Rel", `${moved}</Rel`);
  const book = { ...parts, "xl/_rels/workbook.xml.rels": relations };
  const whole = await read(zip({ ...book, "xl/strings/all.xml": texts! }));
  expect(whole.rows[0]?.key.sent).toBe("a@example.com");
  await refuses(read(zip(book)), "xl/strings/all.xml is missing");
});

test("the parts of a workbook have names in any letter case, and any prefixes in them", async () => {
  const { "xl/worksheets/sheet1.xml": sheet1, ...others } = parts;
  const book = parts["xl/workbook.xml"]!.replaceAll("r:id", "rel:id").replace("xmlns:r", "xmlns:rel");
  const renamed = {
    ...others,
    "xl/workbook.xml": book,
    "XL/Worksheets/SHEET1.xml": sheet1!.replaceAll(/<(\/?)(?=\w)/g, "<$1x:"),
    "xl/sharedStrings.xml": texts!,
  };
  expect((await read(zip(renamed))).rows[0]?.key.sent).toBe("a@example.com");
});

const plainParts = createParts({ sheets: [{ name: "People", rows: header }] });
const entities = Array.from(
  "bcdefghij",
  (name, at) => `<!ENTITY ${name} "${`&${"abcdefghi"[at]};`.repeat(10)}">`,
);
const bomb = `<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">${entities.join("")}]><sst><si><t>&j;</t></si></sst>`;
const latin = Buffer.from(`<worksheet>${textRow(2, ["Köln"])}</worksheet>`, "latin1");
const withPart = (part: string, content: string | Buffer) =>
  zip({ ...plainParts, [`xl/${part}.xml`]: content });
const withRow = (cells: string, number = "2") => sheet(`${header}<row r="${number}">${cells}</row>`);
test.each([
  ["a number that is none", withRow('<c t="s"><v>length</v></c>'), /refers to a shared text/],
  ["a blank", withRow('<c r="A2" t="s"><v> </v></c>'), /refers to a shared text/],
  ["a text that is not there", withRow('<c t="s"><v>7</v></c>'), /refers to a shared text/],
  ["a cell of another row", withRow('<c r="A3" t="str"><v>x</v></c>'), /row 2 has a cell A3/],
  ["a cell without a column", withRow('<c r="2" t="str"><v>x</v></c>'), /row 2 has a cell 2/],
  ["a row without a number", withRow('<c t="str"><v>x</v></c>', "two"), /a row has the number two/],
  ["two cells in one place", withRow(textCell("x", "A2").repeat(2)), /two values in column 1/],
  ["a far column", withRow('<c r="XFD2"><v>1</v></c>'), /column 16384/],
  ["another archive", zip({ "people.csv": "Email\n" }), /ZIP archive, not an .xlsx workbook/],
  ["a missing sheet", withPart("worksheets/sheet1", ""), /damaged workbook|is empty/],
  ["cut short", zip(plainParts).subarray(0, 900), /damaged archive or workbook/],
  ["broken XML", withPart("worksheets/sheet1", "<worksheet><sheetData>"), /damaged archive or workbook/],
  ["no XML", withPart("worksheets/sheet1", "<worksheet><row></worksheet>"), /Unexpected close tag/],
  ["no UTF-8", withPart("worksheets/sheet1", latin), /not valid for encoding utf-8/],
  ["entities", withPart("sharedStrings", bomb), /document type/],
])("a workbook is refused for %s", async (_name, content, message) => {
  await refuses(read(content), message);
});
