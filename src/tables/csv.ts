/** Reading: delimited text → records with the line they start on. The only file that uses csv-parse. */

import { type CsvError, parse } from "csv-parse";
import { usageError } from "../errors.ts";

/** A record of a table of any format. */
export interface TableRecord {
  /** Physical line on which the record starts; of an array of objects, the number of the element. */
  line: number;
  /** How many physical lines it covers. */
  lines: number;
  /** A cell that is missing is undefined; of one with an unknown value, see `toUnknownCell`. */
  cells: (string | undefined)[];
  /** Where its cells end is a guess. */
  fault?: "text_after_quote";
  /** The text ends with it, and without a line break. */
  isLastAndOpen?: true;
}

/** How the cells of a record are written. */
export interface Dialect {
  delimiter: string;
  /** Our own tsv as we wrote it: quotes are text like any other. */
  hasNoQuotes?: boolean;
  /** With our header it is our own tsv, whose cells are escaped; a spreadsheet may have added quotes. */
  mayHaveEscapes?: boolean;
}

/** No cell of it is missing. */
export interface CsvRecord extends TableRecord {
  cells: string[];
}

/** What makes the text unreadable from a line on. */
export class CsvFault extends Error {
  readonly line: number;

  constructor(line: number, what: string) {
    super(what);
    this.line = line;
  }
}

/** The refusal of a file whose text cannot be read to its end; any other failure as it is. */
export function toUnreadableError(name: string, error: unknown): unknown {
  if (!(error instanceof CsvFault)) return error;
  return usageError(
    `${name}:${error.line}: ${error.message}`,
    "Close it, or double it if it is part of the text; or is this the wrong file, or the wrong --delimiter?",
  );
}

/** Longer than any record that could be sent: a contact's request must fit into 1 MiB. */
const maxRecordBytes = 1024 * 1024;
const endOfLine = /\r\n|\n|\r/g;

/**
 * Reads records in batches, one for each chunk. LF, CRLF and CR all end a record; an empty line is a record
 * with one empty cell. A quote is special at the start of a cell alone.
 *
 * @param chunks UTF-8 without a byte-order mark
 * @param firstLine physical line on which the text starts
 * @throws CsvFault when the text cannot be read to its end
 */
export async function* readRecords(
  chunks: AsyncIterable<Buffer> | Iterable<Buffer>,
  { delimiter, hasNoQuotes = false }: Dialect,
  firstLine = 1,
): AsyncGenerator<CsvRecord[]> {
  const parser = parse({
    record_delimiter: ["\r\n", "\n", "\r"],
    relax_quotes: true,
    relax_column_count: true,
    raw: true,
    delimiter,
    quote: hasNoQuotes ? null : '"',
  });
  parser.on("error", () => {});
  /** On which the next record starts. */
  let line = firstLine;
  const takeRecords = () => {
    const batch: CsvRecord[] = [];
    for (let read = parser.read(); read !== null; read = parser.read()) {
      const { record: cells, raw } = read as { record: string[]; raw: string };
      const record: CsvRecord = { line, lines: countLines(cells), cells };
      line += record.lines;
      if (!hasNoQuotes && cells.some(mayStartWithQuote)) readQuotesAgain(record, raw, delimiter);
      batch.push(record);
    }
    return batch;
  };
  const passed = async (act: (done: (error?: Error | null) => void) => unknown) => {
    const passing = new Promise<Error | null | undefined>(act);
    // It goes on once its records are taken.
    const batch = takeRecords();
    const failure = await passing;
    if (failure) throw toFault(failure, line);
    return batch;
  };
  let lastByte: number | undefined;
  /** Bytes since a record last ended. */
  let openBytes = 0;
  for await (const chunk of chunks) {
    lastByte = chunk.at(-1) ?? lastByte;
    const batch = await passed((done) => parser.write(chunk, done));
    if (batch.length > 0) yield batch;
    openBytes = batch.length > 0 ? 0 : openBytes + chunk.length;
    if (openBytes > maxRecordBytes)
      throw new CsvFault(
        line,
        "the row that starts here is longer than 1 MiB; perhaps a quote is never closed",
      );
  }
  const batch = await passed((done) => parser.end(done));
  const last = batch.at(-1);
  if (last && lastByte !== 10 && lastByte !== 13) last.isLastAndOpen = true;
  if (batch.length > 0) yield batch;
}

function toFault(failure: Error, line: number): Error {
  const isOpen = (failure as Partial<CsvError>).code === "CSV_QUOTE_NOT_CLOSED";
  return isOpen ? new CsvFault(line, "a quote opens here and is never closed") : failure;
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
  return text.match(endOfLine)?.length ?? 0;
}

/**
 * A cell that begins with a quote is either one whose value does, or one with blanks or other text around its
 * quotes.
 * @throws CsvFault when a quote took in several lines before the text after it: which rows it swallowed is
 *   unknown
 */
function readQuotesAgain(record: CsvRecord, raw: string, delimiter: string): void {
  const read = readCells(raw.replace(/(?:\r\n|\n|\r)$/, ""), delimiter);
  if ("cells" in read) {
    record.cells = read.cells;
    return;
  }
  record.fault = "text_after_quote";
  const opened = record.line + countLineBreaks(read.before);
  const closed = opened + countLineBreaks(read.quoted);
  if (opened !== closed)
    throw new CsvFault(opened, `a quote opens here and closes on line ${closed}, with text after it`);
}

/**
 * The cells of one record's text, without its line break at the end. Blanks between a quoted cell and its
 * delimiters belong to neither, although the standard has none there; where that makes no sense, blanks
 * before a quote make it text.
 * @returns where a cell that is not quoted as a whole begins, and what is in its first quotes
 */
export function readCells(
  text: string,
  delimiter: string,
): { cells: string[] } | { before: string; quoted: string } {
  const cells = splitCells(text, delimiter);
  const texts = cells.filter(({ value }) => value === undefined);
  const odd = texts.filter(({ written }) => written.split('"').length % 2 === 0);
  const faulty =
    texts.find(({ written }) => written.startsWith('"')) ??
    (odd.length > 1 ? odd.find(({ written }) => mayStartWithQuote(written)) : undefined);
  if (faulty) return { before: text.slice(0, faulty.at), quoted: faulty.quoted };
  return { cells: cells.map(({ value, written }) => value ?? written) };
}

interface WrittenCell {
  at: number;
  written: string;
  /** The value of a cell that is quoted as a whole. */
  value?: string;
  /** What its first quotes hold. */
  quoted: string;
}

function splitCells(text: string, delimiter: string): WrittenCell[] {
  const blanks = delimiter === "\t" ? "[ ]*" : delimiter === " " ? "\\t*" : "[ \\t]*";
  const quotedCell = new RegExp(`${blanks}"((?:[^"]|"")*)"${blanks}`, "y");
  const cells: WrittenCell[] = [];
  for (let at = 0; ; at += delimiter.length) {
    quotedCell.lastIndex = at;
    const [quoted = "", value = ""] = quotedCell.exec(text) ?? [];
    const rest = text.slice(at + quoted.length);
    const isWhole = quoted !== "" && (rest === "" || rest.startsWith(delimiter));
    const [written = ""] = isWhole ? [quoted] : text.slice(at).split(delimiter, 1);
    cells.push({ at, written, quoted, ...(isWhole && { value: value.replaceAll('""', '"') }) });
    at += written.length;
    if (at >= text.length) return cells;
  }
}
