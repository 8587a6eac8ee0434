/** Workbooks, JSON and gzip: recognised by content, read as tables. */

import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { EcmError } from "../../src/errors.ts";
import { toUnknownCell } from "../../src/tables/cells.ts";
import { runs } from "../support/runs.ts";
import { catchFailure, notesOf, read } from "./reading.ts";
import { createParts, textRow, workbook, zip } from "./workbooks.ts";

const header = textRow(1, ["Email", "City", "Last Name"]);

function createSheet(rows: string, more: object = {}) {
  return workbook({ sheets: [{ name: "People", rows: header + rows }], ...more });
}

describe("workbooks", () => {
  test("a sheet is read with the numbers of its rows, below whatever stands above its header", async () => {
    const rows =
      textRow(1, ["Our people"]) +
      textRow(3, ["Email", "", "City"]) +
      textRow(7, ["a@example.com", "", "Rome"]);
    const { rows: read1, understood } = await read(workbook({ sheets: [{ name: "People", rows }] }));
    expect(read1).toMatchObject([
      { line: 7, key: { sent: "a@example.com" }, fields: new Map([["f3", "Rome"]]) },
    ]);
    expect(understood.facts).toMatchObject({ delimiter: ",", hasEscapes: false });
    expect(understood.reading.table.startLine).toBe(3);
    expect(notesOf(understood)).toContain('Read the sheet "People" of a workbook');
  });

  test("texts are shared, in parts, escaped, and without their pronunciation", async () => {
    const shared = [
      "<si><t>a@example.com</t></si>",
      '<si><r><t xml:space="preserve">New </t></r><r><rPr/><t>York</t></r><rPh sb="0" eb="1"><t>ヨーク</t></rPh></si>',
      "<si><t>one_x000A_two &amp;\ttab \\n</t></si>",
    ];
    const cells =
      '<row r="2"><c r="A2" t="s"><v>0</v></c><c r="B2" t="s"><v>1</v></c><c r="C2" t="s"><v>2</v></c></row>';
    const { rows } = await read(createSheet(cells, { sharedTexts: shared }));
    expect(rows[0]?.cells).toEqual(["a@example.com", "New York", "one\ntwo &\ttab \\n"]);
  });

  test("dates of a workbook that counts from 1904", async () => {
    const cells = '<row r="2"><c r="A2" t="str"><v>a@example.com</v></c><c r="B2" s="1"><v>0</v></c></row>';
    const { rows } = await read(createSheet(cells, { formats: ["yyyy-mm-dd"], is1904: true }));
    expect(rows[0]?.fields.get("f3")).toBe("1904-01-01");
  });

  const cell = (text: string) => `<c t="inlineStr"><is><t>${text}</t></is></c>`;
  test("a date before the calendar begins is no number and no other date", async () => {
    const cells = `<row r="2">${cell("a@example.com")}<c s="1"><v>-1401</v></c></row>`;
    for (const is1904 of [true, false]) {
      const { rows } = await read(createSheet(cells, { formats: ["yyyy-mm-dd"], is1904 }));
      expect(rows[0]?.cells[1]).toBe(toUnknownCell("(a date before the calendar begins)"));
    }
  });

  test("a name in a script of its own half of Unicode is a value like any other", async () => {
    const { rows } = await read(createSheet(textRow(2, ["a@example.com", "𐌰𐌳𐌰", "𐀀"])));
    expect(rows[0]?.cells).toEqual(["a@example.com", "𐌰𐌳𐌰", "𐀀"]);
  });

  test("a cell behind the row's last value is as blank as one before it", async () => {
    const { rows } = await read(
      createSheet(textRow(2, ["a@example.com"]) + textRow(3, ["b@example.com", "", "D"])),
    );
    expect(rows.map(({ fields }) => [...fields.values()])).toEqual([
      ["", ""],
      ["", "D"],
    ]);
  });

  test.each([
    ["an empty cell", `<row r="2">${cell("a@example.com")}<c/>${cell("Doe")}</row>`],
    ["an empty cell with a style", `<row r="2">${cell("a@example.com")}<c s="0"></c>${cell("Doe")}</row>`],
    ["an empty text", `<row r="2">${cell("a@example.com")}${cell("")}${cell("Doe")}</row>`],
    ["an empty shared text", `<row r="2">${cell("a@example.com")}<c t="s"><v></v></c>${cell("Doe")}</row>`],
    ["a shared text without a number", `<row>${cell("a@example.com")}<c t="s"/>${cell("Doe")}</row>`],
    ["a truth without a value", `<row>${cell("a@example.com")}<c t="b"/>${cell("Doe")}</row>`],
    [
      "a place that is passed over",
      `<row r="2">${cell("a@example.com")}<c r="C2" t="str"><v>Doe</v></c></row>`,
    ],
    ["a place without a line", `<row r="2">${cell("a@example.com")}<c r="C" t="str"><v>Doe</v></c></row>`],
  ])("a cell that does not say its place stands behind the one before it: %s", async (_name, rows) => {
    const { rows: read1 } = await read(createSheet(rows, { sharedTexts: ["<si><t>Email</t></si>"] }));
    expect(read1.map(({ line, cells }) => [line, cells])).toEqual([[2, ["a@example.com", "", "Doe"]]]);
  });

  test("the parts of a workbook are where it says they are", async () => {
    const { "xl/sharedStrings.xml": texts, ...parts } = createParts({
      sheets: [{ name: "People", rows: `${header}<row r="2"><c r="A2" t="s"><v>0</v></c></row>` }],
      sharedTexts: ["<si><t>a@example.com</t></si>"],
    });
    const office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    const relations = parts["xl/_rels/workbook.xml.rels"]!.replace(
      "</Relationships>",
      `<Relationship Id="rId9" Type="${office}/sharedStrings" Target="/xl/strings/all.xml"/></Relationships>`,
    );
    const moved = {
      ...parts,
      "xl/_rels/workbook.xml.rels": relations,
      "xl/workbook.xml": parts["xl/workbook.xml"]!.replaceAll("r:id", "rel:id").replace(
        "xmlns:r=",
        "xmlns:rel=",
      ),
    };
    const whole = await read(zip({ ...moved, "xl/strings/all.xml": texts! }));
    expect(whole.rows[0]?.key.sent).toBe("a@example.com");
    expect((await catchFailure(read(zip(moved)))).message).toMatch(/xl\/strings\/all.xml is missing/);
  });

  test("a part that is not UTF-8 is refused", async () => {
    const parts = createParts({ sheets: [{ name: "People", rows: "" }] });
    const sheet = `<worksheet><sheetData>${header}${textRow(2, ["a@example.com", "Köln"])}</sheetData></worksheet>`;
    const failure = await catchFailure(
      read(zip({ ...parts, "xl/worksheets/sheet1.xml": Buffer.from(sheet, "latin1") })),
    );
    expect(failure.message).toMatch(/not valid for encoding utf-8/);
  });

  test.each([
    [
      "a number that is none",
      '<row r="2"><c r="A2" t="s"><v>length</v></c></row>',
      /refers to a shared text/,
    ],
    ["a blank", '<row r="2"><c r="A2" t="s"><v> </v></c></row>', /refers to a shared text/],
    [
      "a shared text that is not there",
      '<row r="2"><c r="A2" t="s"><v>7</v></c></row>',
      /refers to a shared text/,
    ],
    ["a cell of another row", '<row r="2"><c r="A3" t="str"><v>x</v></c></row>', /row 2 has a cell A3/],
    ["a cell without a column", '<row r="2"><c r="2" t="str"><v>x</v></c></row>', /row 2 has a cell 2/],
    ["a row without a number", '<row r="two"><c t="str"><v>x</v></c></row>', /a row has the number two/],
    [
      "two cells in one place",
      '<row r="2"><c r="A2" t="str"><v>x</v></c><c r="A2" t="str"><v>y</v></c></row>',
      /row 2 has two values in column 1/,
    ],
  ])("a sheet that contradicts itself is refused: %s", async (_name, rows, message) => {
    const failure = await catchFailure(read(createSheet(rows)));
    expect(failure.message).toMatch(message);
    expect(failure).toMatchObject({ exitCode: 2, hint: expect.any(String) });
  });

  test("hidden rows are read, and said", async () => {
    const { rows, understood } = await read(
      createSheet(textRow(2, ["a@example.com", "x"], ' hidden="1"') + textRow(3, ["b@example.com", "y"])),
    );
    expect(rows).toHaveLength(2);
    expect(notesOf(understood)).toContain("1 row is hidden in the workbook; read like the others");
  });

  test("of several visible sheets one must be named", async () => {
    const sheets = [
      { name: "Notes", rows: textRow(1, ["x"]) },
      { name: "2", rows: header + textRow(2, ["b@example.com"]) },
      { name: "Old", state: "hidden", rows: header + textRow(2, ["c@example.com"]) },
    ];
    const failure = await catchFailure(read(workbook({ sheets })));
    expect(failure).toMatchObject({
      exitCode: 2,
      message: expect.stringMatching(/has 2 sheets: "Notes", "2"$/),
    });
    expect(failure.hint).toContain("--sheet Notes,");
    const keyIn = async (sheet: string) => (await read(workbook({ sheets }), { sheet })).rows[0]?.key.sent;
    expect([await keyIn("2"), await keyIn("old"), await keyIn("3")]).toEqual([
      "b@example.com",
      "c@example.com",
      "c@example.com",
    ]);
    const missing = await catchFailure(read(workbook({ sheets }), { sheet: "Nots" }));
    expect(missing.message).toContain('has no sheet "Nots"');
    const single = workbook({ sheets: sheets.slice(1) });
    expect((await read(single)).rows).toHaveLength(1);
  });

  const parts = createParts({ sheets: [{ name: "People", rows: header }] });
  const bomb = `<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">${Array.from({ length: 9 }, (_, at) => `<!ENTITY ${"bcdefghij"[at]} "${`&${"abcdefghi"[at]};`.repeat(10)}">`).join("")}]>`;
  test.each([
    ["another archive", zip({ "people.csv": "Email\n" }), /ZIP archive, not an .xlsx workbook/],
    ["a missing sheet", zip({ ...parts, "xl/worksheets/sheet1.xml": "" }), /damaged workbook|is empty/],
    [
      "cut short",
      workbook({ sheets: [{ name: "People", rows: header }] }).subarray(0, 900),
      /damaged archive or workbook/,
    ],
    [
      "broken XML",
      zip({ ...parts, "xl/worksheets/sheet1.xml": "<worksheet><sheetData>" }),
      /damaged archive or workbook/,
    ],
    [
      "entities",
      zip({ ...parts, "xl/sharedStrings.xml": `${bomb}<sst><si><t>&j;</t></si></sst>` }),
      /document type/,
    ],
    ["a far column", createSheet('<row r="2"><c r="XFD2"><v>1</v></c></row>'), /column 16384/],
    [
      "a sheet that is a bomb",
      zip({
        ...parts,
        "xl/worksheets/sheet1.xml": Buffer.concat([
          Buffer.from("<worksheet>"),
          Buffer.alloc(80 * 1024 ** 2, 32),
        ]),
      }),
      /unpacks to far more/,
    ],
  ])("a workbook that cannot be read says why: %s", async (_name, content, message) => {
    const failure = await catchFailure(read(content));
    expect(failure.message).toMatch(message);
    expect(failure).toMatchObject({ exitCode: 2, hint: expect.any(String) });
  });
});

describe("JSON", () => {
  const objects =
    '{"Email":"a@example.com","City":12345678901234567890}\n\n{"Last Name":"x","Email":"b@example.com","City":null}\r\n{"Email":"c@example.com","City":"","extra":1.10}';

  test("one object on each line: a missing member is missing, numbers keep their digits", async () => {
    const { rows, understood } = await read(objects, {
      map: new Map([["extra", "Last Name"]]),
      ignoreUnmapped: true,
    });
    expect(rows.map((row) => [row.line, row.key.sent, [...row.fields]])).toEqual([
      [1, "a@example.com", [["f3", "12345678901234567890"]]],
      [3, "b@example.com", [["f3", ""]]],
      [
        4,
        "c@example.com",
        [
          ["f3", ""],
          ["f2", "1.10"],
        ],
      ],
    ]);
    expect(understood.facts.bytes).toBe(Buffer.byteLength(objects));
    expect(understood.reading.table.headerLines).toBe(0);
  });

  test("a mark at the start moves no line", async () => {
    const { rows } = await read(
      '\ufeff{"Email":"a@example.com"}\n{"Email":"b@example.com"}\n\n{"Email":"c@example.com"}',
    );
    expect(rows.map((row) => [row.line, row.key.sent])).toEqual([
      [1, "a@example.com"],
      [2, "b@example.com"],
      [4, "c@example.com"],
    ]);
  });

  test("an object over several lines is named by the first of them", async () => {
    const { rows } = await read(
      '{\n"Email":"a@example.com"}\n{"Email":\n"b@example.com"}\n{"Email":"c@example.com"}',
    );
    expect(rows.map((row) => row.line)).toEqual([1, 3, 5]);
    const failure = await catchFailure(read('{"Email":"a@example.com"}\n{\n"a":{}\n}'));
    expect(failure.message).toMatch(/:2: "a" is an object/);
  });

  test("an array, pretty or not, in any chunks", async () => {
    const value = [
      { Email: "a@example.com", City: 'q"{}[]\\ , é漢😀\n\t' },
      { Email: "b@example.com", tags: ["x,y", "z"], City: true },
    ];
    for (const text of [
      JSON.stringify(value),
      JSON.stringify(value, null, 2),
      `\ufeff${JSON.stringify(value, null, 1)}\n`,
    ]) {
      const { rows } = await read(text);
      expect(rows.map((row) => [row.line, row.key.sent, row.fields.get("f3"), row.tags])).toEqual([
        [1, "a@example.com", value[0]!.City, []],
        [2, "b@example.com", "true", ["x,y", "z"]],
      ]);
    }
    const many = Array.from({ length: 2000 }, (_, at) => ({ Email: `a${at}@example.com`, City: "é漢😀" }));
    const { rows } = await read(JSON.stringify(many));
    expect(rows.at(-1)).toMatchObject({ line: 2000, fields: new Map([["f3", "é漢😀"]]) });
  });

  test.each([
    [
      "a nested object",
      '{"Email":"a@example.com"}\n{"Email":"b@example.com","a":{"b":1}}',
      /:2: "a" is an object/,
    ],
    ["no JSON", '{"Email":"a@example.com"}\n{"Email":b}\n', /:2: this is not JSON/],
    ["no JSON behind a mark", '\ufeff{"Email":"a@example.com"}\r\n\r\nx\n', /:3: this is not JSON/],
    ["no JSON in an array", '[\n{"Email":"a@example.com"},\n{"Email" 1}]', /:3: this is not JSON/],
    ["an array in an array", '[{"Email":"a@example.com"}, [3]]', /element 2: expected an object/],
    ["an empty array", "[]", /contains no objects/],
    ["text behind an array", '[]{"Email":"a@example.com"', /:1: this is not JSON/],
    ["deep nesting", `{"a":${"[".repeat(100_000)}`, /ends in the middle/],
    ["an endless text", `{"a":"${"x".repeat(3_000_000)}`, /longer than 1 MiB/],
    ["cut short", '[{"Email":"a@example.com"},{"Em', /ends in the middle/],
    ["cut behind a text", '["a@example.com","b@example.com"', /ends in the middle/],
    ["cut behind an object", '[{"Email":"a@example.com"}', /ends in the middle/],
    ["cut behind a comma", '["a@example.com",\n', /ends in the middle/],
    ["lines that are cut short", '{"Email":"a@example.com"}\n{"Email":"b@exa', /ends in the middle/],
    [
      "an object around an array",
      '{"total":1,"records":[{"Email":"a@example.com"}]}',
      /:1: "records" is an array, but a cell has a single value/,
    ],
    ["Latin-1", Buffer.from('{"Email":"a@example.com","City":"K\xf6ln"}', "latin1"), /not in UTF-8/],
  ])("what is no table of objects says why: %s", async (_name, content, message) => {
    const failure = await catchFailure(read(content));
    expect(failure.message).toMatch(message);
    expect(failure.exitCode).toBe(2);
  });
});

test("whatever the bytes, a workbook, JSON or gzip is read or refused with a reason", async () => {
  const whole = createSheet(textRow(2, ["a@example.com", "Rome"]), {
    sharedTexts: ["<si><t>x</t></si>"],
    formats: ["0"],
  });
  const parts = createParts({ sheets: [{ name: "P", rows: header }] });
  const token = fc.constantFrom(...'{"Email":"a@example.com" } { [ ] , " \\ \n 1e5 null é'.split(" "));
  const markup =
    '<row>|</row>|<c t="s">|</c>|<v>|</v>|7|<![CDATA[x]]>|&amp;|&x;|<f/>|<c r="ZZ9" t="inlineStr">|<is><t>|</t></is>|<row r="-1">|<row r="2">';
  const xml = fc.constantFrom(...markup.split("|"));
  const content = fc.oneof(
    fc.tuple(fc.nat(whole.length - 1), fc.integer({ min: 0, max: 255 })).map(([at, byte]) => {
      const copy = Buffer.from(whole);
      copy[at] = byte;
      return copy;
    }),
    fc.nat(whole.length).map((end) => whole.subarray(0, end)),
    fc
      .array(xml, { maxLength: 12 })
      .map((texts) =>
        zip({ ...parts, "xl/worksheets/sheet1.xml": `<worksheet>${texts.join("")}</worksheet>` }),
      ),
    fc.array(token, { maxLength: 12 }).map((texts) => Buffer.from(texts.join(""))),
    fc
      .uint8Array({ maxLength: 40 })
      .map((bytes) => Buffer.concat([gzipSync("Email\n").subarray(0, 12), bytes])),
  );
  await fc.assert(
    fc.asyncProperty(content, async (bytes) => {
      try {
        await read(bytes, { ignoreUnmapped: true });
      } catch (error) {
        expect(error).toBeInstanceOf(EcmError);
        expect((error as EcmError).details.hint).toBeTruthy();
      }
    }),
    { numRuns: runs(25) },
  );
});

describe("gzip", () => {
  test("several members are one text, and nothing behind them is passed over", async () => {
    const people = gzipSync("Email\na@example.com\n");
    const more = gzipSync("b@example.com\n");
    const rowsIn = async (...parts: Buffer[]) => (await read(Buffer.concat(parts))).rows.length;
    expect(await rowsIn(people, more)).toBe(2);
    for (const end of [
      Buffer.alloc(512),
      Buffer.from("x"),
      Buffer.from([0x1f]),
      more.subarray(0, 15),
      Buffer.concat([Buffer.alloc(4), more]),
    ])
      expect((await catchFailure(rowsIn(people, end))).message).toMatch(/cannot be unpacked/);
  });

  const text = "Email,City\na@example.com,Köln\n";
  test.each([
    ["CSV", text],
    ["Windows CSV", Buffer.from(text, "latin1")],
    [
      "a workbook",
      workbook({
        sheets: [{ name: "P", rows: textRow(1, ["Email", "City"]) + textRow(2, ["a@example.com", "Köln"]) }],
      }),
    ],
    ["ndjson", '{"Email":"a@example.com","City":"Köln"}\n'],
  ])("of %s", async (_name, content) => {
    const { rows } = await read(gzipSync(content));
    expect(rows).toMatchObject([{ key: { sent: "a@example.com" }, fields: new Map([["f3", "Köln"]]) }]);
  });

  test.each([
    ["cut short", gzipSync(text).subarray(0, 20), /cannot be unpacked/],
    ["twice", gzipSync(gzipSync(text)), /a zero byte/],
    ["a bomb", gzipSync(Buffer.alloc(80 * 1024 ** 2, 97)), /unpacks to far more/],
    ["empty", gzipSync(""), /is empty/],
  ])("that cannot be read says why: %s", async (_name, content, message) => {
    expect((await catchFailure(read(content))).message).toMatch(message);
  });
});
