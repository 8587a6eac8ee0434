/** Reading: delimited text → records with the line they start on. The only file that uses csv-parse. */
import { type CsvError, parse } from "csv-parse";
import { readPlainRecords } from "./plain-records.ts";
import { createRecordScanner, splitQuoted } from "./quotes.ts";

export interface CsvRecord {
  /** Physical line on which the record starts. */
  line: number;
  /** How many physical lines it covers. */
  lines: number;
  cells: string[];
  /**
   * `text_after_quote`: where its cells end is a guess. `too_long`: it has no cells, since it was passed over unread.
   */
  fault?: "text_after_quote" | "too_long";
  /** The text ends with it, and without a line break. */
  isLastAndOpen?: true;
}

/** What makes the text unreadable from a line on. */
export class CsvFault extends Error {
  readonly line: number;
  /** `changed`: there is a quote where none was when the file was inspected. */
  readonly kind: "unclosed_quote" | "quote_spans_rows" | "too_long" | "changed";
  /** For `quote_spans_rows`: the line with the text after the closing quote. */
  readonly lastLine: number;

  constructor(kind: CsvFault["kind"], line: number, lastLine = line) {
    super(`${kind} on line ${line}`);
    this.kind = kind;
    this.line = line;
    this.lastLine = lastLine;
  }
}

/** Longer than any record that could be sent: a contact's request must fit into 1 MiB. */
export const longestRecordBytes = 1024 * 1024;
/** A quote that is not closed within so much text is taken for one that never is. */
const longestScanBytes = 64 * 1024 * 1024;

export interface Dialect {
  delimiter: string;
  /** Quotes are text like any other: our own tsv escapes what they would be for. */
  hasNoQuotes?: boolean;
  /** There is no quote in the text. */
  isQuoteFree?: boolean;
}

/**
 * Reads records in batches, at most two for each chunk. Quotes are special at the start of a cell alone; LF, CRLF and CR
 * all end a record; an empty line is a record with one empty cell. A quoted record that is too long comes without its cells.
 *
 * @param chunks UTF-8 without a byte-order mark
 * @param firstLine physical line on which the text starts
 * @throws CsvFault when the text cannot be read to its end
 */
export async function* readRecords(
  chunks: AsyncIterable<Buffer>,
  dialect: Dialect,
  firstLine = 1,
): AsyncGenerator<CsvRecord[]> {
  if (dialect.hasNoQuotes || dialect.isQuoteFree) {
    yield* readPlainRecords(chunks, dialect, firstLine);
    return;
  }
  let parser = openParser(dialect, firstLine);
  let skipping: LongRecord | undefined;
  let last: number | undefined;
  let isHalfBreak = false;
  for await (const chunk of chunks) {
    let rest: Buffer = isHalfBreak && chunk[0] === 10 ? chunk.subarray(1) : chunk;
    isHalfBreak = false;
    last = chunk.at(-1) ?? last;
    if (skipping) {
      const end = skipping.scan(rest);
      if (end === undefined) continue;
      yield [skipping.record()];
      parser = openParser(dialect, skipping.nextLine());
      skipping = undefined;
      isHalfBreak = end === rest.length && rest[end - 1] === 13;
      rest = rest.subarray(end);
    }
    const batch = await parser.write(rest);
    if (batch.length > 0) yield batch;
    if (parser.openBytes() > longestRecordBytes) {
      skipping = skipRecord(parser.openText(), parser.line(), dialect);
    }
  }
  if (skipping) throw skipping.fault();
  const batch = await parser.end();
  const record = batch.at(-1);
  if (record && last !== 10 && last !== 13) record.isLastAndOpen = true;
  if (batch.length > 0) yield batch;
}

interface LongRecord {
  scan(chunk: Buffer): number | undefined;
  record(): CsvRecord;
  nextLine(): number;
  fault(): CsvFault;
}

/** @throws CsvFault for a text without quotes and line breaks: that is no row, but another kind of file */
function skipRecord(start: Buffer, line: number, { delimiter }: Dialect): LongRecord {
  const scanner = createRecordScanner(delimiter);
  scanner.scan(start);
  if (scanner.openedAfter === undefined) throw new CsvFault("too_long", line);
  let scanned = start.length;
  const fault = () =>
    scanner.isQuoted
      ? new CsvFault("unclosed_quote", line + (scanner.openedAfter ?? 0))
      : new CsvFault("too_long", line);
  return {
    fault,
    scan(chunk) {
      scanned += chunk.length;
      if (scanned > longestScanBytes) throw fault();
      return scanner.scan(chunk);
    },
    record: () => ({ line, lines: scanner.breaks + 1, cells: [], fault: "too_long" }),
    nextLine: () => line + scanner.breaks + 1,
  };
}

function openParser({ delimiter }: Dialect, firstLine: number) {
  const text = createWindow();
  let line = firstLine;
  let batch: CsvRecord[] = [];
  const parser = parse({
    delimiter,
    record_delimiter: ["\r\n", "\n", "\r"],
    relax_quotes: true,
    relax_column_count: true,
  });
  // Records are taken as they are made: the stream's own queue would cost as much again as the parsing, and only
  // here does `info.bytes` still point to the end of this very record.
  parser.push = (cells: string[] | null) => {
    if (cells === null) return false;
    const end = parser.info.bytes;
    const record: CsvRecord = { line, lines: linesOf(cells), cells };
    // The parser keeps such a cell with its quotes, as it keeps a cell whose text really starts with a quote.
    if (cells.some(mayStartWithQuote)) inspectQuotes(record, text.slice(end), delimiter);
    text.forget(end);
    // Before each first record the parser takes its width for granted; for any other width it would build an error.
    (parser.info as { records: number }).records = 0;
    line += record.lines;
    batch.push(record);
    return true;
  };
  parser.on("error", () => {});
  const take = () => {
    const taken = batch;
    batch = [];
    return taken;
  };
  return {
    async write(chunk: Buffer): Promise<CsvRecord[]> {
      text.add(chunk);
      await settled((done) => parser.write(chunk, done));
      return take();
    },
    async end(): Promise<CsvRecord[]> {
      try {
        await settled((done) => parser.end(done));
      } catch (error) {
        const isOpen = (error as Partial<CsvError>).code === "CSV_QUOTE_NOT_CLOSED";
        throw isOpen ? openQuote(text.slice(), line, delimiter) : error;
      }
      return take();
    },
    /** Of the record that is not complete yet. */
    openBytes: text.size,
    openText: text.bytes,
    line: () => line,
  };
}

/** The bytes since the end of the last record, so that a record's own text can be looked at. */
function createWindow() {
  let bytes: Buffer = Buffer.alloc(0);
  let start = 0;
  let recordStart = 0;
  return {
    add(chunk: Buffer) {
      const rest = bytes.subarray(recordStart - start);
      bytes = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk;
      start = recordStart;
    },
    size: () => bytes.length - (recordStart - start),
    bytes: () => bytes.subarray(recordStart - start),
    /** From the end of the last record to this offset, or to the end of what there is. */
    slice(end?: number): string {
      return bytes.toString("utf8", recordStart - start, end === undefined ? undefined : end - start);
    },
    forget(end: number) {
      recordStart = end;
    },
  };
}

function settled(act: (done: (error?: Error | null) => void) => unknown): Promise<void> {
  return new Promise((resolve, reject) => {
    act((error) => (error ? reject(error) : resolve()));
  });
}

function mayStartWithQuote(cell: string): boolean {
  const first = cell.charCodeAt(0);
  return first === 34 || ((first === 32 || first === 9) && /^[ \t]+"/.test(cell));
}

function linesOf(cells: string[]): number {
  let count = 1;
  for (const cell of cells) {
    if (cell.includes("\n") || cell.includes("\r")) count += lineBreaksIn(cell);
  }
  return count;
}

export function lineBreaksIn(text: string): number {
  return text.match(/\r\n|\n|\r/g)?.length ?? 0;
}

/** @throws CsvFault when a quote took in several lines before the text after it: which rows it swallowed is unknown. */
function inspectQuotes(record: CsvRecord, text: string, delimiter: string): void {
  const split = splitQuoted(text, delimiter);
  if ("cells" in split) {
    record.cells = split.cells;
    record.lines = linesOf(split.cells);
    return;
  }
  record.fault = "text_after_quote";
  const opened = record.line + lineBreaksIn(text.slice(0, split.opened));
  const broken = record.line + lineBreaksIn(text.slice(0, split.closed));
  if (opened !== broken) throw new CsvFault("quote_spans_rows", opened, broken);
}

function openQuote(text: string, line: number, delimiter: string): CsvFault {
  const split = splitQuoted(text, delimiter);
  const before = "opened" in split ? text.slice(0, split.opened) : "";
  return new CsvFault("unclosed_quote", line + lineBreaksIn(before));
}
