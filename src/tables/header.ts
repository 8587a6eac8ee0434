/** Reading: which of a file's first records is its header. */
import { foldName } from "../api/names.ts";
import { isEmailKey } from "../api/structures.ts";
import { type EcmError, usageError } from "../errors.ts";
import type { ContactStructure } from "../wire.ts";
import { type Cells, findUnknown } from "./cells.ts";
import type { TableRecord } from "./csv.ts";
import { isIdName, isKeyName } from "./names.ts";
import type { HeaderSigns, Table } from "./table.ts";

/** Reports and some exports have a title above the header: this many records are looked at. */
export const maxRecordsAboveHeader = 20;
export const delimiters = [",", ";", "\t", "|"];

export interface FoundHeader extends Pick<Table, "names" | "isSure"> {
  /** Undefined where there is no row at all. */
  line: number | undefined;
  /** How much speaks for it. */
  score: number;
}

/** The record that looks most like a header, and the first where none does. */
export function chooseHeader(records: readonly TableRecord[], signs: HeaderSigns): FoundHeader {
  const filled = records.filter((record) => !isBlank(record)).slice(0, maxRecordsAboveHeader);
  const first = filled[0];
  let best: FoundHeader = {
    line: first?.line,
    names: toNames(first?.cells ?? []),
    isSure: false,
    score: computeEvenness(filled),
  };
  for (const [index, record] of filled.entries()) {
    const shown = computeHeaderScore(toNames(record.cells), signs);
    // The same names under more columns are the better header; a later line must be better to count.
    const score = shown + countCells(record) - index / 100;
    if (shown > 0 && (!best.isSure || score > best.score))
      best = { line: record.line, names: toNames(record.cells), isSure: true, score };
  }
  return best;
}

/** A name that nobody knows is none. */
function toNames(cells: Cells): string[] {
  return Array.from(cells, (cell) => (cell === undefined || findUnknown(cell) !== undefined ? "" : cell));
}

/** 0: not a header. */
function computeHeaderScore(cells: string[], { options, structure }: HeaderSigns): number {
  const mapped = [...options.map.keys()];
  const folded = new Set(cells.map(foldName));
  if (mapped.length > 0 && mapped.every((name) => folded.has(foldName(name)))) return 2000;
  if (cells.some((name) => isKeyName(name, structure.keyName, structure.keyType))) return 1000;
  return options.takesIds && cells.some(isIdName) ? 900 : 0;
}

/** The first row, for a file without a header: its columns are called by their numbers. */
export function toFirstRow(records: readonly TableRecord[]): FoundHeader {
  const filled = records.filter((record) => !isBlank(record));
  const first = filled[0];
  const width = Math.max(0, ...filled.slice(0, maxRecordsAboveHeader).map((record) => record.cells.length));
  const names = Array.from({ length: width }, (_, index) => String(index + 1));
  return { line: first?.line, names, isSure: false, score: computeEvenness(filled) };
}

/**
 * Up to 500: the share of rows that have as many cells as the
 * first, if these are several; ties go to more cells.
 */
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

/** @throws UsageError when there is a row in place of a header, or a line that is no row of cells */
export function requireHeader(
  file: string,
  table: Table,
  isDelimiterTold: boolean,
  structure: ContactStructure,
): void {
  const place = `${file}:${table.line}`;
  const layout = findUnusualLayout(place, table, isDelimiterTold, structure);
  if (layout) throw layout;
  if (!isEmailKey(structure.keyType)) return;
  const column = table.names.findIndex((cell) => /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(cell.trim()));
  if (column === -1) return;
  throw usageError(
    `${place}: there is no header: the first row already has an address`,
    `Add a header line, or pass --no-header --map ${column + 1}=key`,
  );
}

/**
 * The refusal of a file whose whole lines are quoted, or whose cells are separated by a character that is not
 * tried without being told; undefined when a key column does not show that way either.
 * @param place `FILE:LINE` of the first line
 */
function findUnusualLayout(
  place: string,
  { names, dialect: { delimiter } }: Table,
  isDelimiterTold: boolean,
  { keyName, keyType }: ContactStructure,
): EcmError | undefined {
  const line = names.join(delimiter);
  const showsKey = (each: string) => {
    const parts = line.split(each).map((name) => name.replace(/^\s*"+|"+\s*$/g, ""));
    return parts.length > 1 && parts.some((name) => isKeyName(name, keyName, keyType));
  };
  // A detected delimiter splits every line that holds it, unless it is quoted.
  if (!isDelimiterTold && names.length === 1 && delimiters.some(showsKey)) {
    return usageError(
      `${place}: every line is quoted as a whole, so that it is a single cell`,
      "Export the file again, with quotes around cells instead of lines",
    );
  }
  const candidates = [...new Set(line.match(/[^\p{L}\p{N} "'()@._+-]/gu) ?? [])];
  const found = candidates.find(
    (each) => (isDelimiterTold ? each !== delimiter : !delimiters.includes(each)) && showsKey(each),
  );
  if (found === undefined) return undefined;
  const code = found.codePointAt(0)!;
  const isControl = code < 32;
  return usageError(
    `${place}: cells seem to be separated by ${isControl ? `the control character ${code}` : JSON.stringify(found)}`,
    `Pass --delimiter ${found === "\t" ? "tab" : isControl ? `$'\\x${code.toString(16).padStart(2, "0")}'` : `'${found}'`}`,
  );
}
