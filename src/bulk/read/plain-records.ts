/**
 * Reading: delimited text in which quotes have no meaning → records. Nothing but line breaks and delimiters is left of the
 * grammar then, and most files have no quote at all: this takes a third of what a parser of quotes takes, for the same records.
 */
import { isAscii } from "node:buffer";
import { CsvFault, type CsvRecord, type Dialect, longestRecordBytes } from "./csv.ts";

const lineFeed = 10;
const carriageReturn = 13;
const quote = 34;

/**
 * LF, CRLF and CR all end a record; an empty line is a record with one empty cell.
 * @param chunks UTF-8 without a byte-order mark
 * @throws CsvFault for a line that is longer than any row, and for a quote where there should be none
 */
export async function* readPlainRecords(
  chunks: AsyncIterable<Buffer>,
  { delimiter, hasNoQuotes }: Dialect,
  firstLine: number,
): AsyncGenerator<CsvRecord[]> {
  let line = firstLine;
  /** Bytes after the last line break. */
  let open: Buffer = Buffer.alloc(0);
  let isHalfBreak = false;
  for await (const chunk of chunks) {
    if (chunk.length === 0) continue;
    if (!hasNoQuotes && chunk.includes(quote)) throw new CsvFault("changed", line);
    const fresh = isHalfBreak && chunk[0] === lineFeed ? chunk.subarray(1) : chunk;
    const bytes = open.length > 0 ? Buffer.concat([open, fresh]) : fresh;
    const batch: CsvRecord[] = [];
    const { end, isHalf } = eachLine(bytes, open.length, (text) => {
      batch.push({ line: line++, lines: 1, cells: text.split(delimiter) });
    });
    open = bytes.subarray(end);
    isHalfBreak = isHalf;
    if (batch.length > 0) yield batch;
    if (open.length > longestRecordBytes) throw new CsvFault("too_long", line);
  }
  if (open.length === 0) return;
  yield [{ line, lines: 1, cells: open.toString("utf8").split(delimiter), isLastAndOpen: true }];
}

/**
 * @param from there is no line break before this offset
 * @returns where the last whole line ends, and whether its break may be the first half of one
 */
function eachLine(
  bytes: Buffer,
  from: number,
  take: (text: string) => void,
): { end: number; isHalf: boolean } {
  // A text of its own for each line: parts of one text would keep all of it in memory.
  const encoding = isAscii(bytes) ? "latin1" : "utf8";
  let start = 0;
  let feed = bytes.indexOf(lineFeed, from);
  let carriage = bytes.indexOf(carriageReturn, from);
  let isHalf = false;
  while (feed !== -1 || carriage !== -1) {
    const isCarriage = carriage !== -1 && (feed === -1 || carriage < feed);
    const end = isCarriage ? carriage : feed;
    take(bytes.toString(encoding, start, end));
    start = end + 1;
    if (isCarriage) {
      if (feed === start) start++;
      isHalf = start === bytes.length && feed !== end + 1;
      carriage = bytes.indexOf(carriageReturn, start);
    }
    if (feed !== -1 && feed < start) feed = bytes.indexOf(lineFeed, start);
  }
  return { end: start, isHalf };
}
