/**
 * Reading: how a table lies in a file: which of its first records is the header, what its columns are called,
 * and its records below the header.
 */
import { foldName } from "../api/names.ts";
import { isEmailKey } from "../api/structures.ts";
import { parseTsvCell } from "../delimited-lines.ts";
import { usageError } from "../errors.ts";
import type { ContactStructure } from "../wire.ts";
import { type Cells, createValueReader, findUnknown, isBlankText } from "./cells.ts";
import type { Dialect, TableRecord } from "./csv.ts";
import { isIdName, isKeyName } from "./header-names.ts";
import { findMissingCells, removeMissing } from "./rejects-columns.ts";
import type { SourceForm } from "./rows.ts";
import { emptyFileError } from "./source.ts";
import { recogniseSystem } from "./systems.ts";
import type { HeaderSigns, OpenedInput, ReadRecords, Sample } from "./table.ts";

/** Reports and some exports have a title above the header: this many records are looked at. */
const maxRecordsAboveHeader = 20;

interface FoundHeader {
  /** Physical line of the header, or of the first row; undefined where there is no row at all. */
  line: number | undefined;
  /** How many physical lines the header covers, if it is one. */
  lines: number;
  /** One for each column: the cells of the header or of the first row, or their numbers. */
  names: string[];
  /** Names a key column, or every column that `--map` names. */
  isSure: boolean;
  /** How much speaks for it. */
  score: number;
}

/** The record that looks most like a header, and the first where none does. */
function chooseHeader(records: readonly TableRecord[], signs: HeaderSigns): FoundHeader {
  const filled = records.filter((record) => !isBlank(record)).slice(0, maxRecordsAboveHeader);
  const first = filled[0];
  let best: FoundHeader = {
    line: first?.line,
    lines: first?.lines ?? 0,
    names: toNames(first?.cells ?? []),
    isSure: false,
    score: computeEvenness(filled),
  };
  for (const [index, record] of filled.entries()) {
    const shown = computeHeaderScore(toNames(record.cells), signs);
    // The same names under more columns are the better header; a later line must be better to count.
    const score = shown + countCells(record) - index / 100;
    if (shown > 0 && (!best.isSure || score > best.score))
      best = { line: record.line, lines: record.lines, names: toNames(record.cells), isSure: true, score };
  }
  return best;
}

/** A name that nobody knows is none. */
function toNames(cells: Cells): string[] {
  return Array.from(cells, (cell) => (cell === undefined || findUnknown(cell) !== undefined ? "" : cell));
}

/** 0: not a header. */
function computeHeaderScore(cells: string[], { options, structure }: HeaderSigns): number {
  const mapped = [...options.map].map(([name]) => name);
  const folded = new Set(cells.map(foldName));
  if (mapped.length > 0 && mapped.every((name) => folded.has(foldName(name)))) return 2000;
  if (cells.some((name) => isKeyName(name, structure.keyName, structure.keyType))) return 1000;
  return options.takesIds && cells.some(isIdName) ? 900 : 0;
}

/** The first row, for a file without a header: its columns are called by their numbers. */
function toFirstRow(records: readonly TableRecord[]): FoundHeader {
  const filled = records.filter((record) => !isBlank(record));
  const first = filled[0];
  const width = Math.max(0, ...filled.slice(0, maxRecordsAboveHeader).map((record) => record.cells.length));
  const names = Array.from({ length: width }, (_, index) => String(index + 1));
  return { line: first?.line, lines: 1, names, isSure: false, score: computeEvenness(filled) };
}

/** Up to 500: the share of rows with as many cells as the first, if several; ties go to more cells. */
function computeEvenness(records: TableRecord[]): number {
  const width = records[0] ? countCells(records[0]) : 0;
  if (width < 2) return 0;
  const even = records.filter((record) => countCells(record) === width).length;
  return (even / records.length) * 400 + Math.min(width, 99);
}

function countCells(record: TableRecord): number {
  return Math.min(record.cells.length, 900);
}

export function isBlank({ cells }: { cells: Cells }): boolean {
  return cells.every((cell) => cell === undefined || cell === "" || cell.trim() === "");
}

/** The reading with the best header, and that header. @throws UsageError for a file without any row */
async function findHeader(opened: OpenedInput, signs: HeaderSigns) {
  const { skipLines, hasNoHeader } = signs.options;
  const found = await Promise.all(
    opened.readings.map(async (reading) => {
      const records = await reading.first();
      return { reading, records, ...(hasNoHeader ? toFirstRow(records) : chooseHeader(records, signs)) };
    }),
  );
  const best = found.reduce((one, other) => (other.score > one.score ? other : one));
  const { line, records } = best;
  if (line !== undefined) return { ...best, line, above: records.filter((record) => record.line < line) };
  // What cannot be read is said first.
  await best.reading.readAll();
  throw emptyFileError(opened.file.name, skipLines);
}

/** The column by which a file says that its cells were made safe for spreadsheets. */
const safeCellsColumn = "ecm:safe-cells";

export interface TableLayout {
  form: SourceForm;
  dialect: Dialect;
  /** Cells are escaped, as in our own tsv, in place of quoted. */
  hasEscapes: boolean;
  /** Physical line on which the header or, without one, the first row starts. */
  startLine: number;
  /** How many physical lines the header covers; 0 without one. */
  headerLines: number;
  /** Records above the header, such as a title. */
  above: readonly TableRecord[];
  /** The header names a key column, or every column that `--map` names. */
  isHeaderSure: boolean;
  /** The names of the columns as the file has them; their numbers where it has none. */
  written: string[];
  /** The names of the columns without what protects cells from being taken for formulas. */
  names: string[];
  /** The columns have names of their own. */
  isNamed: boolean;
  /** Written with `--safe-cells`: one leading apostrophe of a cell is not its own. */
  hasSafeCells: boolean;
  /** Columns up to the last that has a name. */
  width: number;
  /** The records below the header. */
  records: ReadRecords;
}

/**
 * Finds the header, and reads the file to its end.
 * @throws UsageError with the place and the next step, for a file that cannot be read
 */
export async function readTableLayout(opened: OpenedInput, signs: HeaderSigns): Promise<TableLayout> {
  const { form, names: given } = opened;
  const { options, rowKind } = signs;
  const header = given
    ? { line: 1, lines: 0, names: given, isSure: true, reading: opened.readings[0]!, above: [] }
    : await findHeader(opened, signs);
  const { line, isSure, reading } = header;
  const { dialect } = reading;
  const hasHeader =
    !given && !options.hasNoHeader && (rowKind === "contacts" || isSure || header.names.length > 1);
  const isOurs = options.from === "ecm" || recogniseSystem(header.names)?.name === "ecm";
  const hasEscapes = hasHeader && isOurs && dialect.mayHaveEscapes === true;
  const readText = hasEscapes ? parseTsvCell : (cell: string) => cell;
  const isNamed = hasHeader || given !== undefined;
  // The only column of a list of keys has a name with which its rejects file is read again.
  const isKeyList = rowKind === "keys" && header.names.length === 1 && [...options.map].length === 0;
  const nameColumn = (_: string, at: number) => (isKeyList ? "key" : String(at + 1));
  const written = header.names.map(isNamed ? readText : nameColumn);
  const hasSafeCells = isNamed && written.some((name) => foldName(name) === safeCellsColumn);
  // Columns are named by labels, and a label can look like a formula too.
  const names = written.map(createValueReader(hasSafeCells, false));
  const headerLines = hasHeader ? header.lines : 0;
  // A rejects file's rows say themselves which of their cells are missing.
  const missing = hasHeader ? findMissingCells(written) : undefined;
  // A sheet's row ends with its last value: the cells behind that are blank, not missing.
  const minCells = form.kind === "workbook" ? names.length : 0;
  const readCells = (all: TableRecord["cells"]) => {
    const cells = hasEscapes ? all.map((cell) => cell && parseTsvCell(cell)) : all;
    while (cells.length < minCells) cells.push("");
    return missing ? removeMissing(cells, missing) : cells;
  };
  const readRecords = await reading.readAll();
  return {
    form,
    dialect,
    hasEscapes,
    startLine: line,
    headerLines,
    above: header.above,
    isHeaderSure: isSure,
    written,
    names,
    isNamed,
    hasSafeCells,
    width: 1 + names.findLastIndex((name) => foldName(name) !== ""),
    async *records() {
      for await (const batch of readRecords()) {
        const below = batch.filter((record) => record.line >= line + headerLines);
        yield below.map((record) => ({ ...record, cells: readCells(record.cells) }));
      }
    },
  };
}

/** @throws UsageError when there is a row in place of a header */
export function requireHeader(file: string, layout: TableLayout, { keyType }: ContactStructure): void {
  const { startLine, headerLines, names, isHeaderSure } = layout;
  if (headerLines === 0 || isHeaderSure || !isEmailKey(keyType)) return;
  const column = names.findIndex((cell) => /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(cell.trim()));
  if (column === -1) return;
  throw usageError(
    `${file}:${startLine}: there is no header: the first row already has an address`,
    `Add a header line, or pass --no-header --map ${column + 1}=key`,
  );
}

/** The first rows, without blank lines and rows that make no sense. */
export async function readSample(records: ReadRecords): Promise<Sample> {
  const rows: Cells[] = [];
  for await (const batch of records()) {
    for (const record of batch) {
      if (record.fault || isBlank(record)) continue;
      rows.push(record.cells.map((cell) => findUnknown(cell) ?? cell));
    }
    if (rows.length >= maxSampleRows) break;
  }
  return rows.slice(0, maxSampleRows);
}

const maxSampleRows = 1000;

export function holdsValues(sample: Sample, index: number): boolean {
  return sample.some((cells) => !isBlankText(cells[index] ?? ""));
}

const address = /^\s*(?:[^<>]*<)?[^\s@<>]+@[^\s@<>]+\.[^\s@<>]+>?\s*$/;

export function isAddress(cell: string): boolean {
  return address.test(cell);
}

/** The column, of these, in which most cells hold an e-mail address; undefined when none does. */
export function findAddressColumn(sample: Sample, indexes: readonly number[]): number | undefined {
  const counts = indexes.map((index) => sample.filter((cells) => isAddress(cells[index] ?? "")).length);
  const most = Math.max(0, ...counts);
  return most === 0 ? undefined : indexes[counts.indexOf(most)];
}
