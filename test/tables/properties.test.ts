import { gzipSync } from "node:zlib";
import fc from "fast-check";
import iconv from "iconv-lite";
import { expect, test } from "vitest";
import { EcmError } from "../../src/errors.ts";
import { readRecords } from "../../src/tables/csv.ts";
import { runs } from "../support/runs.ts";
import { read } from "./reading.ts";
import { createParts, sheet, textRow, zip } from "./workbooks.ts";

const delimiter = fc.constantFrom(",", ";", "\t", "|");
const lineBreak = fc.constantFrom("\n", "\r\n", "\r");
const special = "\" , ; \t | \n \r \r\n a é 漢 '".split(" ");
const cell = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 12 }),
  fc.string({ unit: fc.constantFrom(" ", ...special), maxLength: 8 }),
);
const table = fc
  .integer({ min: 1, max: 5 })
  .chain((width) =>
    fc.array(fc.array(cell, { minLength: width, maxLength: width }), { minLength: 1, maxLength: 8 }),
  );

/** @param quotesAll whether a cell is quoted that need not be */
function write(rows: string[][], separator: string, ending: string, quotesAll = false): string {
  const mustQuote = (text: string) => /["\r\n]/.test(text) || text.includes(separator);
  const lines = rows.map((cells) => {
    const line = cells
      .map((each) => (quotesAll || mustQuote(each) ? `"${each.replaceAll('"', '""')}"` : each))
      .join(separator);
    return line === "" ? '""' : line;
  });
  return lines.join(ending);
}

/** The physical line on which each row starts, counted on the written text alone. */
function startLines(rows: string[][]): number[] {
  let line = 1;
  return rows.map((cells) => {
    const start = line;
    line += 1 + cells.reduce((sum, each) => sum + (each.match(/\r\n|\r|\n/g)?.length ?? 0), 0);
    return start;
  });
}

async function* toChunks(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

test("any table reads back as it was written, with the lines it stands on, however it is cut into chunks", async () => {
  const size = fc.integer({ min: 1, max: 40 });
  const layout = fc.tuple(delimiter, lineBreak, fc.boolean(), fc.boolean());
  await fc.assert(
    fc.asyncProperty(table, layout, size, async (rows, [separator, ending, quotesAll, isEnded], size) => {
      const text = write(rows, separator, ending, quotesAll) + (isEnded ? ending : "");
      const records = [];
      for await (const batch of readRecords(toChunks(Buffer.from(text), size), { delimiter: separator }))
        records.push(...batch);
      expect(records.map((record) => record.cells)).toEqual(rows);
      expect(records.map((record) => record.line)).toEqual(startLines(rows));
      expect(records.some((record) => record.fault !== undefined)).toBe(false);
    }),
    { numRuns: runs(40) },
  );
});

test("any contacts read back through every encoding, delimiter and line ending", async () => {
  const city = fc.string({ unit: fc.constantFrom(...'aZéüß ’"\n,;'), maxLength: 12 });
  const cities = fc.array(city, { minLength: 1, maxLength: 20 });
  const encodings = "utf8 utf8-mark utf-16le utf-16le-mark utf-16be windows-1252";
  const encoding = fc.constantFrom(...encodings.split(" "));
  await fc.assert(
    fc.asyncProperty(cities, delimiter, lineBreak, encoding, async (cities, separator, ending, written) => {
      const people = cities.map((each, index) => [`user${index}@example.com`, each]);
      const rows = [["Email", "City"], ...people];
      const [name, hasMark] = [written.replace("-mark", ""), written.endsWith("-mark")];
      const text = write(rows, separator, ending) + ending;
      const { all } = await read(iconv.encode(text, name, { addBOM: hasMark }), {
        encoding: hasMark ? undefined : name,
      });
      expect(all.map((row) => row.kind === "row" && [row.key.sent, row.fields.get("f3")])).toEqual(
        people.map(([key, each]) => [key, each!.trim() === "" ? "" : each]),
      );
      expect(all.map((row) => row.line)).toEqual(startLines(rows).slice(1));
    }),
    { numRuns: runs(15) },
  );
});

/** Workbooks that are damaged, or whose sheet makes no sense. */
function brokenBooks(): fc.Arbitrary<Buffer> {
  const header = textRow(1, ["Email", "City"]);
  const more = { sharedTexts: ["<si><t>x</t></si>"], formats: ["0"] };
  const whole = sheet(header + textRow(2, ["a@example.com", "Rome"]), more);
  const parts = createParts({ sheets: [{ name: "P", rows: header }] });
  const markup =
    '<row>|</row>|<c t="s">|</c>|<v>|</v>|7|<![CDATA[x]]>|&amp;|&x;|<f/>|<c r="ZZ9" t="inlineStr">|<is><t>|</t></is>|<row r="-1">|<row r="2">';
  const rows = fc.string({ unit: fc.constantFrom(...markup.split("|")), maxLength: 12 });
  return fc.oneof(
    fc
      .tuple(fc.nat(whole.length - 1), fc.nat(255))
      .map(([at, byte]) => whole.map((old, n) => (n === at ? byte : old)) as Buffer),
    fc.nat(whole.length).map((end) => whole.subarray(0, end)),
    rows.map((text) => zip({ ...parts, "xl/worksheets/sheet1.xml": `<worksheet>${text}</worksheet>` })),
  );
}

test("whatever the bytes, a file is read or refused with a reason and the next step", async () => {
  const words = 'Email|@|a@example.com|,|;|"|""|\n|\r\n|\r|\0|\ufeff|sep=;|é|key|lists|\x1b$B| |=|<html>';
  const text = fc.string({ unit: fc.constantFrom(...words.split("|")), maxLength: 60 });
  const tokens = '{"Email":"a@example.com" } { [ ] , " \\ \n 1e5 null é'.split(" ");
  const json = fc.string({ unit: fc.constantFrom(...tokens), maxLength: 12 });
  const garbage = fc.uint8Array({ maxLength: 200 }).map((array) => Buffer.from(array));
  const behind = (start: Buffer) => garbage.map((end) => Buffer.concat([start, end]));
  const texts = fc.oneof(
    garbage,
    text.map((all) => Buffer.from(all)),
    text.map((all) => Buffer.from(all, "utf16le")),
    text.chain((start) => behind(Buffer.from(`Email,City\n${start}`))),
  );
  const flags = fc.record({
    ignoreUnmapped: fc.boolean(),
    hasNoHeader: fc.boolean(),
    skipLines: fc.nat(3),
    encoding: fc.option(fc.constantFrom("utf-8", "shift_jis", "windows-1252", "gb18030"), { nil: undefined }),
  });
  const others = fc.oneof(
    json.map((all) => Buffer.from(all)),
    behind(gzipSync("Email\n").subarray(0, 12)),
    brokenBooks(),
  );
  const files = fc.oneof(fc.tuple(texts, flags), fc.tuple(others, fc.constant({ ignoreUnmapped: true })));
  await fc.assert(
    fc.asyncProperty(files, async ([content, options]) => {
      try {
        for (const row of (await read(content, options)).all) expect(row.line).toBeGreaterThan(0);
      } catch (error) {
        expect(error).toBeInstanceOf(EcmError);
        expect((error as EcmError).details.hint).toBeTruthy();
      }
    }),
    { numRuns: runs(70) },
  );
});
