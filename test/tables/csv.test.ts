/** Delimited text → records with their lines; and a text from a line on. */
import { describe, expect, test } from "vitest";
import { CsvFault, type CsvRecord, readRecords, toUnreadableError } from "../../src/tables/csv.ts";
import { readText } from "../../src/tables/text.ts";
import { inputFile } from "../bulk/kit.ts";
import { toInputFile } from "./reading.ts";

async function* inPieces(text: string, size: number): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function records(text: string, size: number): Promise<CsvRecord[]> {
  const found: CsvRecord[] = [];
  for await (const batch of readRecords(inPieces(text, size), { delimiter: "," })) found.push(...batch);
  return found;
}

describe.each([1, 3, 64])("in pieces of %d bytes", (size) => {
  test.each([
    ["line ends of three kinds", "a,b\nc\r\nd\re\n", ["1 a|b", "2 c", "3 d", "4 e"]],
    ["a blank line is a record of one empty cell", "a\n\nb\n", ["1 a", "2 ", "3 b"]],
    ["a quoted line break", 'a,"b\r\nc"\nd\n', ["1 a|b\r\nc", "3 d"]],
    ["doubled quotes, and delimiters in quotes", '"a ""x""","b,c"\n', ['1 a "x"|b,c']],
    ["blanks around quotes belong to neither", 'a , "b" ,c\n', ["1 a |b|c"]],
    ["blanks after the quote of a cell of several lines", 'a,"b\nc" \nd\n', ["1 a|b\nc", "3 d"]],
    ["blanks that belong to a cell without quotes", 'a, b ,5" c\n', ['1 a| b |5" c']],
    ["a quote within a cell is text", 'a "x" b,c\n', ['1 a "x" b|c']],
    ["also behind a blank, with text after it", '"a" , "b" c, "d"\n', ['1 a| "b" c|d']],
    ["a cell whose text begins with a quote", '"""a"" b",c\n', ['1 "a" b|c']],
    ["letters beyond ASCII", "é,😀\nß\n", ["1 é|😀", "2 ß"]],
  ])("%s", async (_what, text, expected) => {
    const found = await records(text, size);
    expect(found.map(({ line, cells }) => `${line} ${cells.join("|")}`)).toEqual(expected);
  });

  test.each(['a,"b"x,c', '"a" ,5" b, "c d'])("%s: its cells end at a guess, in it alone", async (text) => {
    const found = await records(`${text}\nd,e,f\n`, size);
    expect(found.map(({ fault }) => fault)).toEqual(["text_after_quote", undefined]);
  });

  test.each([
    ['a,b\nc,"d\ne\n', "a quote opens here and is never closed"],
    ['a,b\nc,"d\ne" f,g\n', "a quote opens here and closes on line 3, with text after it"],
  ])("%j stops the reading, with its line", async (text, what) => {
    const fault = await records(text, size).catch((error: unknown) => error);
    expect(fault).toBeInstanceOf(CsvFault);
    expect(toUnreadableError("people.csv", fault)).toMatchObject({ message: `people.csv:2: ${what}` });
  });
});

test.each([
  ["all of it, without the mark of its encoding", "\ufeffa\nb\n", 3, 1, "a\nb\n"],
  ["from a line on", "a\r\nb\rc\nd\n", 0, 3, "c\nd\n"],
  ["nothing behind its end", "a\n", 0, 3, ""],
])("text: %s", async (_what, content, markBytes, startLine, expected) => {
  const file = toInputFile(await inputFile(content));
  const chunks: Buffer[] = [];
  for await (const chunk of readText({ file, encoding: "utf-8", markBytes }, startLine)) chunks.push(chunk);
  expect(Buffer.concat(chunks).toString()).toBe(expected);
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
