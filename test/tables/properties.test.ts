import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import iconv from "iconv-lite";
import { expect, test } from "vitest";
import { EcmError } from "../../src/errors.ts";
import { CsvFault, readRecords } from "../../src/tables/csv.ts";
import { readRows } from "../../src/tables/read-rows.ts";
import type { ReadOptions } from "../../src/tables/rows.ts";
import { requireUnderstood } from "../../src/tables/understand.ts";
import { temporaryFolder } from "../support/ecm.ts";
import { runs } from "../support/runs.ts";
import { structure, toInputFile } from "./reading.ts";

const delimiter = fc.constantFrom(",", ";", "\t", "|");
const lineBreak = fc.constantFrom("\n", "\r\n", "\r");
const cell = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 12 }),
  fc
    .array(fc.constantFrom('"', ",", ";", "\t", "|", "\n", "\r", "\r\n", " ", "a", "é", "漢", "'"), {
      maxLength: 8,
    })
    .map((parts) => parts.join("")),
);
const table = fc
  .integer({ min: 1, max: 5 })
  .chain((width) =>
    fc.array(fc.array(cell, { minLength: width, maxLength: width }), { minLength: 1, maxLength: 8 }),
  );

function write(
  rows: string[][],
  separator: string,
  ending: string,
  quoteAll: boolean,
  isEnded: boolean,
): string {
  const lines = rows.map((cells) => {
    const line = cells
      .map((each) => (quoteAll || mustQuote(each, separator) ? `"${each.replaceAll('"', '""')}"` : each))
      .join(separator);
    return line === "" ? '""' : line;
  });
  return lines.join(ending) + (isEnded ? ending : "");
}

function mustQuote(text: string, separator: string): boolean {
  return /["\r\n]/.test(text) || text.includes(separator);
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
  await fc.assert(
    fc.asyncProperty(
      table,
      delimiter,
      lineBreak,
      fc.boolean(),
      fc.boolean(),
      fc.integer({ min: 1, max: 40 }),
      async (rows, separator, ending, quoteAll, isEnded, size) => {
        const text = write(rows, separator, ending, quoteAll, isEnded);
        const records = [];
        for await (const batch of readRecords(toChunks(Buffer.from(text), size), { delimiter: separator }))
          records.push(...batch);
        expect(records.map((record) => record.cells)).toEqual(rows);
        expect(records.map((record) => record.line)).toEqual(startLines(rows));
        expect(records.some((record) => record.fault !== undefined)).toBe(false);
      },
    ),
    { numRuns: runs(40) },
  );
});

test("any contacts read back through every encoding, delimiter and line ending", async () => {
  const path = join(await temporaryFolder(), "people.csv");
  const city = fc
    .array(fc.constantFrom("a", "Z", "é", "ü", "ß", " ", "’", '"', "\n", ",", ";"), {
      minLength: 0,
      maxLength: 12,
    })
    .map((parts) => parts.join(""));
  const encodings = "utf8 utf8-mark utf-16le utf-16le-mark utf-16be windows-1252";
  const encoding = fc.constantFrom(...encodings.split(" "));
  await fc.assert(
    fc.asyncProperty(
      fc.array(city, { minLength: 1, maxLength: 20 }),
      delimiter,
      lineBreak,
      encoding,
      async (cities, separator, ending, written) => {
        const rows = [["Email", "City"], ...cities.map((each, index) => [`user${index}@example.com`, each])];
        const text = write(rows, separator, ending, false, true);
        const name = written.replace("-mark", "");
        await writeFile(path, iconv.encode(text, name, { addBOM: written.endsWith("-mark") }));
        const options: ReadOptions = {
          map: new Map(),
          encoding: written.endsWith("-mark") ? undefined : name,
        };
        const understood = await requireUnderstood("contacts", toInputFile(path), options, structure);
        const read = [];
        for await (const row of readRows(understood)) read.push(row);
        expect(read.map((row) => row.kind === "row" && [row.key.sent, row.fields.get("f3")])).toEqual(
          rows.slice(1).map(([key, each]) => [key, each!.trim() === "" ? "" : each]),
        );
        expect(read.map((row) => row.line)).toEqual(startLines(rows).slice(1));
      },
    ),
    { numRuns: runs(15) },
  );
});

test("whatever the bytes, a file is read or refused with a reason, and at once", async () => {
  const path = join(await temporaryFolder(), "people.csv");
  const words = 'Email|@|a@example.com|,|;|"|""|\n|\r\n|\r|\0|\ufeff|sep=;|é|key|lists|\x1b$B| |=|<html>';
  const token = fc.constantFrom(...words.split("|"));
  const bytes = fc.oneof(
    fc.uint8Array({ minLength: 0, maxLength: 200 }).map((array) => Buffer.from(array)),
    fc.array(token, { maxLength: 60 }).map((parts) => Buffer.from(parts.join(""))),
    fc.array(token, { maxLength: 60 }).map((parts) => Buffer.from(parts.join(""), "utf16le")),
    fc
      .tuple(fc.array(token, { maxLength: 20 }), fc.uint8Array({ maxLength: 30 }))
      .map(([parts, rest]) => Buffer.concat([Buffer.from(`Email,City\n${parts.join("")}`), rest])),
  );
  const options = fc.record({
    ignoreUnmapped: fc.boolean(),
    hasNoHeader: fc.boolean(),
    skipLines: fc.integer({ min: 0, max: 3 }),
    encoding: fc.option(fc.constantFrom("utf-8", "shift_jis", "windows-1252", "gb18030"), { nil: undefined }),
  });
  await fc.assert(
    fc.asyncProperty(bytes, options, async (content, flags) => {
      await writeFile(path, content);
      const started = performance.now();
      try {
        for await (const row of readRows(
          await requireUnderstood("contacts", toInputFile(path), { map: new Map(), ...flags }, structure),
        )) {
          expect(row.line).toBeGreaterThan(0);
        }
      } catch (error) {
        expect(error).toBeInstanceOf(EcmError);
        expect((error as EcmError).details.hint).toBeTruthy();
      }
      expect(performance.now() - started).toBeLessThan(2000);
    }),
    { numRuns: runs(40) },
  );
});

test.each([
  ["text without a line break", "a,b\n", "x", {}],
  ["text without a line break, where quotes are text", "a,b\n", "x", { hasNoQuotes: true }],
  ["empty cells without an end", "a,b\n", ",", {}],
  ["a quote that is never closed", 'a,b\nc,"d\n', "x\n", {}],
])("%s is refused before it fills the memory", async (_name, start, piece, dialect) => {
  let chunks = 0;
  async function* endless(): AsyncGenerator<Buffer> {
    yield Buffer.from(start);
    for (; chunks < 10_000; chunks += 1) yield Buffer.alloc(64 * 1024, piece);
  }
  const reading = (async () => {
    for await (const _batch of readRecords(endless(), { delimiter: ",", ...dialect }));
  })();
  await expect(reading).rejects.toBeInstanceOf(CsvFault);
  await expect(reading).rejects.toMatchObject({ line: 2 });
  expect(chunks).toBeLessThan(30);
});
