/**
 * Reading: how a table lies in a file: its encoding and dialect,
 * where it begins, what its columns are called.
 */
import type { ContactStructure } from "../../wire.ts";
import { type CsvRecord, type Dialect, readRecords } from "./csv.ts";
import type { OpenedInput } from "./formats/open.ts";
import { type Header, isBlank } from "./header.ts";
import { toUnreadableError } from "./input-errors.ts";
import type { Inspection } from "./inspect.ts";
import { locateHeader, requireHeader } from "./locate-header.ts";
import { foldName } from "./names.ts";
import type { ReadOptions } from "./rows.ts";
import { maxSampleRows } from "./sample.ts";
import { recogniseSystem } from "./systems.ts";
import { readText, type TextSource } from "./text.ts";
import { cellsReader, createValueReader, unescapedCells } from "./values.ts";

/** The column by which a file says that its cells were made safe for spreadsheets. */
const safeCellsColumn = "ecm:safe-cells";

export interface TableLayout {
  source: TextSource;
  header: Header & { line: number };
  hasHeader: boolean;
  /** How many physical lines the header covers. */
  headerLines: number;
  dialect: OwnTsv & Required<Dialect>;
  /** The names of the columns as the file has them; their numbers where it has none. */
  written: string[];
  /** The same without what protects cells from being taken for formulas. */
  names: string[];
  /** The columns have names of their own. */
  isNamed: boolean;
  /** A sheet of a workbook. */
  isSheet: boolean;
  hasSafeCells: boolean;
  /** The first rows. */
  rows: (string | undefined)[][];
}

/**
 * @throws UsageError with the place and the next step, for a file that cannot be read or whose header is not
 * sure
 */
export async function readTableLayout(
  { file, text: inspection, table, encoding: found }: OpenedInput,
  options: ReadOptions,
  structure: ContactStructure,
  rowKind: "contacts" | "keys",
): Promise<TableLayout> {
  const source = { file: inspection.file, encoding: found.encoding, markBytes: found.markBytes };
  // The only column of a list of keys has a name with which its rejects file is read again.
  const nameColumn = (_: string, at: number, { length }: readonly string[]) =>
    rowKind === "keys" && length === 1 ? "key" : String(at + 1);
  const header: TableLayout["header"] = table?.names
    ? { delimiter: "\t", line: 1, names: table.names, isSure: true }
    : await locateHeader(source, options, structure, {
        isTable: table !== undefined,
        mayBeOwnTsv: !inspection.hasCarriageReturn,
      });
  const hasHeader =
    !table?.names &&
    !options.hasNoHeader &&
    (rowKind === "contacts" || header.isSure || header.names.length > 1);
  const tsv = table
    ? { isTable: true, hasEscapes: true, hasNoQuotes: true }
    : readOwnTsv(inspection, header, options);
  const dialect = { delimiter: header.delimiter, ...tsv };
  const { first, firstLines, rows } = await readSample(source, dialect, header.line, hasHeader);
  const written =
    table?.names ?? (hasHeader ? (tsv.hasNoQuotes && first) || header.names : header.names.map(nameColumn));
  const isNamed = hasHeader || table?.names !== undefined;
  const hasSafeCells = isNamed && written.some((name) => foldName(name) === safeCellsColumn);
  // Columns are named by labels, and a label can look like a formula too.
  const names = written.map(createValueReader(hasSafeCells, false));
  if (hasHeader && !header.isSure) requireHeader(file.name, header, options.delimiter, structure);
  const headerLines = hasHeader ? firstLines : 0;
  const isSheet = table !== undefined && table.names === undefined;
  const columns = { written, names, isNamed, hasSafeCells };
  return { source, header, hasHeader, headerLines, dialect, isSheet, ...columns, rows };
}

/** The header and the first rows, as the file has them; without blank lines and rows that make no sense. */
async function readSample(
  source: TextSource,
  dialect: OwnTsv & Dialect,
  startLine: number,
  hasHeader: boolean,
): Promise<{ first?: string[]; firstLines: number; rows: TableLayout["rows"] }> {
  let first: string[] | undefined;
  let firstLines = 1;
  const rows: TableLayout["rows"] = [];
  const plain = cellsReader(dialect);
  for await (const { line, lines, cells, fault } of recordsFrom(source, dialect, startLine)) {
    if (line === startLine) firstLines = lines;
    if (fault || isBlank({ cells })) continue;
    if (hasHeader && line === startLine) first = dialect.hasEscapes ? unescapedCells(cells) : cells;
    else if (rows.push(plain(cells)) === maxSampleRows) break;
  }
  return { first, firstLines, rows };
}

async function* recordsFrom(
  source: TextSource,
  dialect: Dialect,
  startLine: number,
): AsyncGenerator<CsvRecord> {
  try {
    for await (const records of readRecords(readText(source, startLine), dialect, startLine)) yield* records;
  } catch (error) {
    throw toUnreadableError(source.file.name, error);
  }
}

interface OwnTsv {
  isTable: boolean;
  hasEscapes: boolean;
  hasNoQuotes: boolean;
}

/**
 * Whether the file is a tsv that `ecm` wrote, and whether it is still
 * as it was written: our line ends are LF alone.
 */
function readOwnTsv(
  { hasCarriageReturn }: Inspection,
  { delimiter, names, isQuoted }: Header,
  options: ReadOptions,
): OwnTsv {
  const isOurs = options.from === "ecm" || recogniseSystem(names)?.name === "ecm";
  const hasEscapes = delimiter === "\t" && !options.hasNoHeader && isOurs && !isQuoted;
  return { isTable: false, hasEscapes, hasNoQuotes: hasEscapes && !hasCarriageReturn };
}
