/** Reading: delimited text → records with the line they start on. The only door to csv-parse. */
import { type CsvError, parse } from "csv-parse";

export interface CsvRecord {
  /** Physical line on which the record starts. */
  line: number;
  /** How many physical lines it covers. */
  lines: number;
  cells: string[];
  /** Text stands after a closing quote: where its cells end is a guess. */
  hasTextAfterQuote: boolean;
}

/** What makes the text unreadable from a line on. */
export class CsvFault extends Error {
  readonly line: number;
  readonly kind: "unclosed_quote" | "quote_spans_rows" | "too_long";
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
const longestRecordBytes = 1024 * 1024;

const quoteMark = '"';

/**
 * Reads records in batches, one batch per chunk. Quotes are special at the start of a cell alone; LF, CRLF and CR all
 * end a record; an empty line is a record with one empty cell.
 *
 * @param chunks UTF-8 without a byte-order mark
 * @param firstLine physical line on which the text starts
 * @throws CsvFault when the text cannot be read to its end
 */
export async function* readRecords(
  chunks: AsyncIterable<Buffer>,
  delimiter: string,
  firstLine = 1,
): AsyncGenerator<CsvRecord[]> {
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
    const record = { line, lines: linesOf(cells), cells, hasTextAfterQuote: false };
    const end = parser.info.bytes;
    // The parser keeps such a cell with its quotes, as it keeps a cell whose text really starts with a quote.
    if (cells.some(startsWithQuote)) inspectQuotes(record, text.slice(end), delimiter);
    text.forget(end);
    // Before each first record the parser takes its width for granted; for any other width it would build an error.
    (parser.info as { records: number }).records = 0;
    line += record.lines;
    batch.push(record);
    return true;
  };
  parser.on("error", () => {});
  try {
    for await (const chunk of chunks) {
      text.add(chunk);
      await settled((done) => parser.write(chunk, done));
      if (batch.length > 0) yield batch;
      batch = [];
      if (text.size() > longestRecordBytes) throw endlessFrom(text.slice(), line, delimiter);
    }
    await settled((done) => parser.end(done));
  } catch (error) {
    const isOpen = (error as Partial<CsvError>).code === "CSV_QUOTE_NOT_CLOSED";
    throw isOpen ? endlessFrom(text.slice(), line, delimiter) : error;
  }
  if (batch.length > 0) yield batch;
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

function startsWithQuote(cell: string): boolean {
  return cell.charCodeAt(0) === 34;
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
  const fault = quoteFault(text, delimiter);
  if (!fault) return;
  record.hasTextAfterQuote = true;
  const opened = record.line + lineBreaksIn(text.slice(0, fault.opened));
  const broken = record.line + lineBreaksIn(text.slice(0, fault.closed));
  if (opened !== broken) throw new CsvFault("quote_spans_rows", opened, broken);
}

/** Follows the quotes of one record's text. `closed` is undefined for a quote that is never closed. */
function quoteFault(text: string, delimiter: string): { opened: number; closed?: number } | undefined {
  let at = 0;
  while (at < text.length) {
    if (text[at] === quoteMark) {
      const opened = at;
      let closed = text.indexOf(quoteMark, at + 1);
      while (closed !== -1 && text[closed + 1] === quoteMark) closed = text.indexOf(quoteMark, closed + 2);
      if (closed === -1) return { opened };
      at = closed + 1;
      const next = text[at];
      const isEnd = next === undefined || next === "\n" || next === "\r" || text.startsWith(delimiter, at);
      if (!isEnd) return { opened, closed };
    }
    const nextDelimiter = text.indexOf(delimiter, at);
    if (nextDelimiter === -1) return undefined;
    at = nextDelimiter + delimiter.length;
  }
  return undefined;
}

/** The fault of a record without an end: a quote that is open, or a text without line breaks. */
function endlessFrom(text: string, line: number, delimiter: string): CsvFault {
  const fault = quoteFault(text, delimiter);
  if (!fault || fault.closed !== undefined) return new CsvFault("too_long", line);
  return new CsvFault("unclosed_quote", line + lineBreaksIn(text.slice(0, fault.opened)));
}
