/** Reading: delimited text → records with the line they start on. The only file that uses csv-parse. */

import { type CsvError, parse } from "csv-parse";
import { parse as parseAtOnce } from "csv-parse/sync";
import { quotedCell } from "../delimited-lines.ts";
import { usageError } from "../errors.ts";

/** A record of a table of any format. */
export interface TableRecord {
  /** Physical line on which the record starts; of an array of objects, the number of the element. */
  line: number;
  /** How many physical lines it covers. */
  lines: number;
  /** A cell that is missing is undefined; of one with an unknown value, see `toUnknownCell`. */
  cells: (string | undefined)[];
  /** `text_after_quote`: where its cells end is a guess. `too_long`: its cells were not kept. */
  fault?: "text_after_quote" | "too_long";
  /** The text ends with it, and without a line break. */
  isLastAndOpen?: true;
}

/** How the cells of a record are written. */
export interface Dialect {
  delimiter: string;
  /** Our own tsv: its cells are escaped. */
  hasEscapes: boolean;
  /** As we wrote it: quotes are text like any other. A spreadsheet that saved it again has added quotes. */
  hasNoQuotes: boolean;
}

/** No cell of it is missing. */
export interface CsvRecord extends TableRecord {
  cells: string[];
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

/** The refusal of a file whose text cannot be read to its end; any other failure as it is. */
export function toUnreadableError(name: string, error: unknown): unknown {
  if (!(error instanceof CsvFault)) return error;
  const { kind, line, lastLine } = error;
  const place = `${name}:${line}`;
  if (kind === "too_long") {
    return usageError(
      `${place}: the row that starts here is longer than 1 MiB`,
      "Is this the right file, and the right --delimiter?",
    );
  }
  const hint = "Close it, or double it if it is part of the text";
  return kind === "quote_spans_rows"
    ? usageError(`${place}: a quote opens here and closes on line ${lastLine}, with text after it`, hint)
    : usageError(`${place}: a quote opens here and is never closed`, hint);
}

/** Longer than any record that could be sent: a contact's request must fit into 1 MiB. */
const maxRecordBytes = 1024 * 1024;
/** A quote that is not closed within so much text is taken for one that never is. */
const maxQuotedBytes = 64 * 1024 * 1024;

/** `hasNoQuotes`: quotes are text like any other; our own tsv escapes what they would be for. */
type Grammar = Pick<Dialect, "delimiter"> & Partial<Dialect>;

/** Any line break ends a record. A quote is special at the start of a cell alone. */
const grammar = {
  record_delimiter: ["\r\n", "\n", "\r"],
  relax_quotes: true,
  relax_column_count: true,
};

/**
 * Reads records in batches, one for each chunk. LF, CRLF and CR all end a record; an empty line is a record
 * with one empty cell. A record that is too long comes without its cells.
 *
 * @param chunks UTF-8 without a byte-order mark
 * @param firstLine physical line on which the text starts
 * @throws CsvFault when the text cannot be read to its end
 */
export async function* readRecords(
  chunks: AsyncIterable<Buffer>,
  dialect: Grammar,
  firstLine = 1,
): AsyncGenerator<CsvRecord[]> {
  const reader = new RecordReader(dialect, firstLine);
  let lastByte: number | undefined;
  for await (const chunk of chunks) {
    lastByte = chunk.at(-1) ?? lastByte;
    const batch = await reader.write(chunk);
    if (batch.length > 0) yield batch;
  }
  const batch = await reader.end();
  const record = batch.at(-1);
  if (record && lastByte !== 10 && lastByte !== 13) record.isLastAndOpen = true;
  if (batch.length > 0) yield batch;
}

/** csv-parse, with the lines of the record that is being read, so that its quotes can be looked at again. */
class RecordReader {
  readonly #parser;
  readonly #dialect: Grammar;
  readonly #text: TextLines;
  /** On which the next record starts. */
  #line: number;
  /** Bytes since a record last ended, without those of the chunk in which it did. */
  #openBytes = 0;

  constructor(dialect: Grammar, firstLine: number) {
    this.#dialect = dialect;
    this.#line = firstLine;
    this.#text = new TextLines(firstLine);
    const { delimiter, hasNoQuotes } = dialect;
    this.#parser = parse({ ...grammar, delimiter, quote: hasNoQuotes ? null : '"' });
    this.#parser.on("error", () => {});
  }

  async write(chunk: Buffer): Promise<CsvRecord[]> {
    this.#text.add(chunk);
    const written = toPromise((done) => this.#parser.write(chunk, done));
    const batch = this.#takeRecords();
    await written;
    if (batch.length > 0) {
      this.#text.skipTo(this.#line);
      this.#openBytes = 0;
    } else await this.#addOpen(chunk);
    return batch;
  }

  async end(): Promise<CsvRecord[]> {
    try {
      await toPromise((done) => this.#parser.end(done));
    } catch (error) {
      if ((error as Partial<CsvError>).code !== "CSV_QUOTE_NOT_CLOSED") throw error;
      // The parser has counted the bytes up to the end of the cell before.
      const before = this.#text.upTo(this.#parser.info.bytes);
      throw new CsvFault("unclosed_quote", this.#line + countLineBreaks(before));
    }
    return this.#takeRecords();
  }

  #takeRecords(): CsvRecord[] {
    const batch: CsvRecord[] = [];
    for (let cells = this.#read(); cells !== null; cells = this.#read()) {
      const record: CsvRecord = { line: this.#line, lines: countLines(cells), cells };
      this.#line += record.lines;
      if (batch.length === 0 && this.#openBytes > maxRecordBytes) {
        record.cells = [];
        record.fault = "too_long";
      } else if (!this.#dialect.hasNoQuotes && cells.some(mayStartWithQuote)) this.#readQuotesAgain(record);
      batch.push(record);
    }
    return batch;
  }

  #read(): string[] | null {
    return this.#parser.read();
  }

  /**
   * A cell that begins with a quote is either one whose value does, or
   * one with blanks or other text around its quotes.
   * @throws CsvFault when a quote took in several lines before the
   *   text after it: which rows it swallowed is unknown
   */
  #readQuotesAgain(record: CsvRecord): void {
    const { line, lines } = record;
    const text = this.#text.lines(line, lines).replace(/(?:\r\n|\n|\r)$/, "");
    const read = readCells(text, this.#dialect.delimiter);
    if ("cells" in read) {
      record.cells = read.cells;
      return;
    }
    record.fault = "text_after_quote";
    const opened = line + countLines(record.cells.slice(0, read.faultyCell)) - 1;
    const closed = opened + countLineBreaks(record.cells[read.faultyCell] ?? "");
    if (opened !== closed) throw new CsvFault("quote_spans_rows", opened, closed);
  }

  /**
   * @throws CsvFault for a text that goes on without the end of a record: that is no row, but another kind of
   * file
   */
  async #addOpen(chunk: Buffer): Promise<void> {
    const before = this.#openBytes;
    this.#openBytes += chunk.length;
    const becomesLong = before <= maxRecordBytes && this.#openBytes > maxRecordBytes;
    if (becomesLong && !this.#text.hasQuote()) throw new CsvFault("too_long", this.#line);
    if (this.#openBytes <= maxQuotedBytes) return;
    const line = this.#line;
    await this.end();
    throw new CsvFault("too_long", line);
  }
}

function toPromise(act: (done: (error?: Error | null) => void) => unknown): Promise<void> {
  return new Promise((resolve, reject) => {
    act((error) => (error ? reject(error) : resolve()));
  });
}

function mayStartWithQuote(cell: string): boolean {
  const first = cell.charCodeAt(0);
  return first === 34 || ((first === 32 || first === 9) && /^[ \t]+"/.test(cell));
}

function countLines(cells: readonly string[]): number {
  let count = 1;
  for (const cell of cells) {
    if (cell.includes("\n") || cell.includes("\r")) count += countLineBreaks(cell);
  }
  return count;
}

export function countLineBreaks(text: string): number {
  return text.match(/\r\n|\n|\r/g)?.length ?? 0;
}

/**
 * The cells of one record's text, without its line break at the end. Blanks between a quoted cell and its
 * delimiters belong to neither, although the standard has none there; where that makes no sense, blanks
 * before a quote make it text.
 */
export function readCells(text: string, delimiter: string): { cells: string[] } | { faultyCell: number } {
  const trimmed = readWrittenCells(text, delimiter, { trim: true });
  if ("cells" in trimmed) return trimmed;
  return readWrittenCells(text, delimiter, { rtrim: true });
}

interface WrittenCell {
  value: string;
  /** As it stands in the text, with its quotes and the blanks around them. */
  written: string;
  isQuoted: boolean;
}

function readWrittenCells(
  text: string,
  delimiter: string,
  trimming: { trim?: true; rtrim?: true },
): { cells: string[] } | { faultyCell: number } {
  const bytes = Buffer.from(text);
  const delimiterBytes = Buffer.byteLength(delimiter);
  const cells: WrittenCell[] = [];
  let start = 0;
  let isOneRecord = true;
  try {
    const records = parseAtOnce(bytes, {
      ...grammar,
      ...trimming,
      delimiter,
      cast: (value, { bytes: end, quoting: isQuoted }) => {
        cells.push({ value, written: bytes.toString("utf8", start, end), isQuoted });
        start = end + delimiterBytes;
        return value;
      },
    });
    isOneRecord = records.length === 1;
  } catch {
    // The cell after those that were read is the faulty one.
    return { faultyCell: cells.length };
  }
  const faulty = cells.findIndex((cell) => cell.isQuoted && !isQuotedWhole(cell));
  if (faulty !== -1) return { faultyCell: faulty };
  const opening = cells.findIndex((cell) => isOpened(cell));
  if (opening !== -1 && cells.filter(hasOddQuotes).length > 1) return { faultyCell: opening };
  if (!isOneRecord) return { faultyCell: 0 };
  return { cells: cells.map(({ value, written, isQuoted }) => (isQuoted ? value : written)) };
}

/** There is nothing but blanks around the quotes. */
function isQuotedWhole({ value, written }: WrittenCell): boolean {
  return written.replace(/^[ \t]+|[ \t]+$/g, "") === quotedCell(value);
}

/** Text that may have been meant as a quoted cell, with delimiters inside. */
function isOpened(cell: WrittenCell): boolean {
  return /^[ \t]+"/.test(cell.written) && hasOddQuotes(cell);
}

function hasOddQuotes({ written, isQuoted }: WrittenCell): boolean {
  return !isQuoted && written.split('"').length % 2 === 0;
}

const lineFeed = 10;
const carriageReturn = 13;

class TextLines {
  /** From the start of `#line` on. */
  #pieces: Buffer[] = [];
  #line: number;
  /** Bytes of the text before the pieces. */
  #passed = 0;

  /** @param firstLine the physical line on which the text starts */
  constructor(firstLine: number) {
    this.#line = firstLine;
  }

  add(bytes: Buffer): void {
    this.#pieces.push(bytes);
  }

  /** Forgets what is before a line. */
  skipTo(line: number): void {
    this.#forget(endOfLines(this.#bytes(), line - this.#line));
    this.#line = line;
  }

  /** The text of so many lines; what is before them is forgotten. */
  lines(first: number, count: number): string {
    this.skipTo(first);
    const bytes = this.#bytes();
    return bytes.toString("utf8", 0, endOfLines(bytes, count));
  }

  /** What was not forgotten, up to an offset in the whole text. */
  upTo(offset: number): string {
    return this.#bytes().toString("utf8", 0, offset - this.#passed);
  }

  hasQuote(): boolean {
    return this.#pieces.some((piece) => piece.includes('"'));
  }

  #bytes(): Buffer {
    if (this.#pieces.length !== 1) this.#pieces = [Buffer.concat(this.#pieces)];
    return this.#pieces[0]!;
  }

  #forget(count: number): void {
    this.#pieces = [this.#bytes().subarray(count)];
    this.#passed += count;
  }
}

/**
 * Behind the last of so many lines, of which LF, CRLF or CR ends
 * each; the end of the bytes where there are fewer.
 */
function endOfLines(bytes: Buffer, count: number): number {
  let end = 0;
  for (let line = 0; line < count; line++) {
    while (end < bytes.length && bytes[end] !== lineFeed && bytes[end] !== carriageReturn) end += 1;
    if (end === bytes.length) return end;
    end += bytes[end] === carriageReturn && bytes[end + 1] === lineFeed ? 2 : 1;
  }
  return end;
}
