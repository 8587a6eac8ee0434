/**
 * Reading: how a table lies in a file: its encoding and dialect,
 * where it begins, what its columns are called.
 */
import { foldName } from "../api/names.ts";
import type { ContactStructure } from "../wire.ts";
import { type Cells, createValueReader, findUnknown, isBlankText, unwrapFormula } from "./cells.ts";
import { type CsvRecord, type Dialect, readRecords, toUnreadableError } from "./csv.ts";
import { type Header, isBlank, locateHeader, requireHeader } from "./header.ts";
import type { OpenedInput } from "./open.ts";
import { cellsReader, tableNames, unescapedCells } from "./page.ts";
import { findMissingCells, type MissingCells } from "./rejects-columns.ts";
import type { ReadOptions } from "./rows.ts";
import { recogniseSystem } from "./systems.ts";
import { readText, type TextSource } from "./text.ts";

/** The column by which a file says that its cells were made safe for spreadsheets. */
const safeCellsColumn = "ecm:safe-cells";

/** How the cells of a record are written. */
interface TableDialect extends Dialect {
  /** As we wrote it: quotes are text like any other. A spreadsheet that saved it again has added quotes. */
  hasNoQuotes: boolean;
  /** Our own tsv: its cells are escaped. */
  hasEscapes: boolean;
  /** The text is a table of our own making, in which a cell can be missing. */
  isTable: boolean;
}

export interface TableLayout {
  source: TextSource;
  dialect: TableDialect;
  /** Physical line on which the header or, without one, the first row starts. */
  startLine: number;
  /** How many physical lines the header covers; 0 without one. */
  headerLines: number;
  /** The header names a key column, or every column that `--map` names. */
  isHeaderSure: boolean;
  /** The names of the columns as the file has them; their numbers where it has none. */
  written: string[];
  /** The same without what protects cells from being taken for formulas. */
  names: string[];
  /** The columns have names of their own. */
  isNamed: boolean;
  /** A sheet's row ends with its last value: the cells behind that are blank, not missing. */
  isSheet: boolean;
  /** Written with `--safe-cells`: one leading apostrophe of a cell is not its own. */
  hasSafeCells: boolean;
  /** Columns whose cells are all written as `="…"`. */
  formulaColumns: number[];
  /** Of a rejects file: its rows say themselves which of their cells are missing. */
  missing?: MissingCells;
  /** Columns up to the last that has a name. */
  width: number;
}

/**
 * @returns the layout and the first rows
 * @throws UsageError with the place and the next step, for a file that cannot be read or whose header is not
 * sure
 */
export async function readTableLayout(
  { file, text, hasCarriageReturn, table, encoding: found }: OpenedInput,
  options: ReadOptions,
  structure: ContactStructure,
  rowKind: "contacts" | "keys",
): Promise<{ layout: TableLayout; sample: Sample }> {
  const source = { file: text, encoding: found.encoding, markBytes: found.markBytes };
  // The only column of a list of keys has a name with which its rejects file is read again.
  const nameColumn = (_: string, at: number, { length }: readonly string[]) =>
    rowKind === "keys" && length === 1 ? "key" : String(at + 1);
  const header: Header = table?.names
    ? { delimiter: "\t", line: 1, names: table.names, isSure: true }
    : await locateHeader(source, options, structure, {
        isTable: table !== undefined,
        mayBeOwnTsv: !hasCarriageReturn,
      });
  const hasHeader =
    !table?.names &&
    !options.hasNoHeader &&
    (rowKind === "contacts" || header.isSure || header.names.length > 1);
  const dialect = table
    ? { delimiter: header.delimiter, isTable: true, hasEscapes: true, hasNoQuotes: true }
    : findTextDialect(hasCarriageReturn, header, options);
  const { first, firstLines, rows: sample } = await readSample(source, dialect, header.line, hasHeader);
  const written =
    table?.names ??
    (hasHeader ? (dialect.hasNoQuotes && first) || header.names : header.names.map(nameColumn));
  const isNamed = hasHeader || table?.names !== undefined;
  const hasSafeCells = isNamed && written.some((name) => foldName(name) === safeCellsColumn);
  // Columns are named by labels, and a label can look like a formula too.
  const names = written.map(createValueReader(hasSafeCells, false));
  if (hasHeader && !header.isSure)
    requireHeader(file.name, header, options.delimiter !== undefined, structure);
  const layout: TableLayout = {
    source,
    dialect,
    startLine: header.line,
    headerLines: hasHeader ? firstLines : 0,
    isHeaderSure: header.isSure,
    written,
    names,
    isNamed,
    isSheet: table !== undefined && table.names === undefined,
    hasSafeCells,
    formulaColumns: [...names.keys()].filter((index) => hasOnlyFormulas(sample, index)),
    missing: hasHeader ? findMissingCells(written) : undefined,
    width: 1 + names.findLastIndex((name) => foldName(name) !== ""),
  };
  return { layout, sample };
}

/** The header and the first rows, as the file has them; without blank lines and rows that make no sense. */
async function readSample(
  source: TextSource,
  dialect: TableDialect,
  startLine: number,
  hasHeader: boolean,
): Promise<{ first?: string[]; firstLines: number; rows: Sample }> {
  const head: CsvRecord[] = [];
  const isSound = (record: CsvRecord) => !record.fault && !isBlank(record);
  for await (const records of readTableRecords(source, dialect, startLine)) {
    head.push(...records.filter((record) => record.line === startLine || isSound(record)));
    if (head.length > maxSampleRows + 1) break;
  }
  const sound = head.filter(isSound);
  const first = hasHeader ? sound.find(({ line }) => line === startLine) : undefined;
  const rows = sound.filter((record) => record !== first).slice(0, maxSampleRows);
  const plain = cellsReader(dialect);
  return {
    first: first && readNames(first.cells, dialect),
    firstLines: head[0]?.lines ?? 1,
    rows: rows.map(({ cells }) => plain(cells).map((cell) => findUnknown(cell) ?? cell)),
  };
}

function readNames(cells: string[], { isTable, hasEscapes }: TableDialect): string[] {
  if (isTable) return tableNames(cells);
  return hasEscapes ? unescapedCells(cells) : cells;
}

/** Records from a line on. @throws UsageError where the text cannot be read to its end */
export async function* readTableRecords(
  source: TextSource,
  dialect: Dialect,
  startLine: number,
): AsyncGenerator<CsvRecord[]> {
  try {
    yield* readRecords(readText(source, startLine), dialect, startLine);
  } catch (error) {
    throw toUnreadableError(source.file.name, error);
  }
}

/**
 * Whether a text is a tsv that `ecm` wrote, and whether it is still
 * as it was written: our line ends are LF alone.
 */
function findTextDialect(
  hasCarriageReturn: boolean,
  { delimiter, names, isQuoted }: Header,
  options: ReadOptions,
): TableDialect {
  const isOurs = options.from === "ecm" || recogniseSystem(names)?.name === "ecm";
  const hasEscapes = delimiter === "\t" && !options.hasNoHeader && isOurs && !isQuoted;
  return { delimiter, isTable: false, hasEscapes, hasNoQuotes: hasEscapes && !hasCarriageReturn };
}

/** Cells of the first rows, as the file has them. */
export type Sample = readonly Cells[];

export const maxSampleRows = 1000;

export function holdsValues(sample: Sample, index: number): boolean {
  return sample.some((cells) => !isBlankText(cells[index] ?? ""));
}

/** Whether every cell of a column that is not blank is written as `="…"`. */
function hasOnlyFormulas(sample: Sample, index: number): boolean {
  const filled = sample.map((cells) => cells[index] ?? "").filter((cell) => !isBlankText(cell));
  return filled.length > 0 && filled.every((cell) => unwrapFormula(cell) !== undefined);
}

const address = /^\s*(?:[^<>]*<)?[^\s@<>]+@[^\s@<>]+\.[^\s@<>]+>?\s*$/;

export function isAddress(cell: string): boolean {
  return address.test(cell);
}

/** Of these columns the one in which most cells hold an e-mail address; undefined when none does. */
export function findAddressColumn(sample: Sample, indexes: readonly number[]): number | undefined {
  let best: number | undefined;
  let maxCount = 0;
  for (const index of indexes) {
    const count = sample.filter((cells) => isAddress(cells[index] ?? "")).length;
    if (count > maxCount) {
      best = index;
      maxCount = count;
    }
  }
  return best;
}
