/** Reading: the start of a file: its delimiter, and the line of its header. */

import { foldName } from "../api/names.ts";
import { isEmailKey } from "../api/structures.ts";
import { quotedCell } from "../delimited-lines.ts";
import { type EcmError, usageError } from "../errors.ts";
import type { ContactStructure } from "../wire.ts";
import type { Cells } from "./cells.ts";
import { CsvFault, type CsvRecord, readRecords, toUnreadableError } from "./csv.ts";
import { isIdName, isKeyName } from "./names.ts";
import { tableNames } from "./page.ts";
import type { ReadOptions } from "./rows.ts";
import { emptyFileError } from "./source.ts";
import { recogniseSystem } from "./systems.ts";
import { readStart, type TextSource } from "./text.ts";

export interface Header {
  delimiter: string;
  /** Physical line of the header; without one, of the first row. */
  line: number;
  /** One for each column. */
  names: string[];
  /** Names a key column, or every column that `--map` names. */
  isSure: boolean;
  /** Every name is in quotes, as in our csv with tabs, and never in our tsv. */
  isQuoted?: boolean;
}

/** Enough for a header and some rows, whatever their length. */
const startBytes = 256 * 1024;
/** Reports and some exports have a title above the header: this many records are looked at. */
const maxRecordsAboveHeader = 20;
export const delimiters = [",", ";", "\t", "|"];

/** Where a header is looked for, and what it is known by. */
interface HeaderSearch {
  /** The start of the text, from `firstLine` on. */
  text: string;
  firstLine: number;
  /** There is more text after this start. */
  isCut: boolean;
  /** The text is a table of our own making: escaped, without quotes. */
  isTable: boolean;
  options: ReadOptions;
  structure: ContactStructure;
}

/**
 * Delimiter and header, below `--skip-lines` and a line such as `sep=;`.
 * @param kind `mayBeOwnTsv`: the text may be a tsv of ours: escaped, without quotes
 * @throws UsageError for a file without any row
 */
export async function locateHeader(
  source: TextSource,
  options: ReadOptions,
  structure: ContactStructure,
  { isTable, mayBeOwnTsv }: { isTable: boolean; mayBeOwnTsv: boolean },
): Promise<Header> {
  const { skipLines = 0, hasNoHeader } = options;
  const told = options.delimiter === undefined ? undefined : parseDelimiter(options.delimiter);
  const start = await readStart(source, 1 + skipLines, startBytes);
  const separatorLine = isTable ? null : /^"?sep=(.)"?(?:\r\n|\n|\r|$)/i.exec(start.text);
  const delimiter = isTable ? "\t" : (told ?? separatorLine?.[1]);
  const search: HeaderSearch = {
    text: start.text.slice(separatorLine?.[0].length),
    firstLine: 1 + skipLines + (separatorLine ? 1 : 0),
    isCut: start.isCut,
    isTable,
    options,
    structure,
  };
  const isOwnTsvPossible = mayBeOwnTsv && !isTable && !hasNoHeader && (delimiter ?? "\t") === "\t";
  const own = isOwnTsvPossible ? findOwnTsvHeader(search) : undefined;
  const isNamedTsv = /\.(?:tsv|tab)(?:\.gz)?$/i.test(source.file.name);
  const header =
    own ??
    (await findHeader(search, delimiter, isNamedTsv).catch((error: unknown) => {
      throw toUnreadableError(source.file.name, error);
    }));
  const isQuoted = search.text.startsWith(header.names.map(quotedCell).join("\t"));
  if (header.line !== undefined) return { ...header, line: header.line, isQuoted };
  throw skipLines > 0
    ? usageError(`${source.file.name} has nothing after ${skipLines} skipped lines`, "Lower --skip-lines")
    : emptyFileError(source.file.name);
}

/** The first line of a tsv that `ecm` wrote, where quotes and other delimiters are text like any other. */
function findOwnTsvHeader({ text, firstLine }: HeaderSearch): Header | undefined {
  const end = text.indexOf("\n");
  const names = (end === -1 ? text : text.slice(0, end)).split("\t");
  if (recogniseSystem(names)?.name !== "ecm") return undefined;
  return { delimiter: "\t", line: firstLine, names, isSure: true };
}

/** What may be the header; without a line where there is no row at all. */
type FoundHeader = Omit<Header, "line" | "delimiter"> & { line: number | undefined; score: number };

/** More than any other sign of a delimiter. */
const namedTsvBonus = 10_000;

/**
 * Finds delimiter and header together: the right delimiter is the one under which a header shows.
 * @param isNamedTsv the file is named as one whose cells are parted by tabs
 * @throws CsvFault when no delimiter gives a single record
 */
async function findHeader(
  search: HeaderSearch,
  told: string | undefined,
  isNamedTsv: boolean,
): Promise<FoundHeader & { delimiter: string }> {
  let best: (FoundHeader & { delimiter: string }) | undefined;
  let firstFault: CsvFault | undefined;
  for (const delimiter of told === undefined ? delimiters : [told]) {
    const { records, fault } = await readFirstRecords(search, delimiter);
    firstFault ??= fault;
    const found = search.options.hasNoHeader ? toFirstRow(records) : chooseHeader(records, search);
    if (isNamedTsv && delimiter === "\t" && found.names.length > 1) found.score += namedTsvBonus;
    if (!best || found.score > best.score) best = { delimiter, ...found };
  }
  if (best?.line === undefined && firstFault) throw firstFault;
  return best!;
}

/** What can be read: a quote may be open at the end of the start, or make no sense under this delimiter. */
async function readFirstRecords(
  { text, firstLine, isTable, isCut }: HeaderSearch,
  delimiter: string,
): Promise<{ records: CsvRecord[]; fault?: CsvFault }> {
  const records: CsvRecord[] = [];
  try {
    const dialect = { delimiter, hasNoQuotes: isTable };
    for await (const batch of readRecords(toChunks(text), dialect, firstLine)) records.push(...batch);
  } catch (error) {
    if (!(error instanceof CsvFault)) throw error;
    return { records, fault: error };
  } finally {
    if (isTable) for (const record of records) record.cells = tableNames(record.cells);
  }
  if (isCut && records.length > 1) records.pop();
  return { records };
}

async function* toChunks(text: string): AsyncGenerator<Buffer> {
  yield Buffer.from(text);
}

function chooseHeader(records: CsvRecord[], search: HeaderSearch): FoundHeader {
  const filled = records.filter((record) => !isBlank(record)).slice(0, maxRecordsAboveHeader);
  const first = filled[0];
  let best: FoundHeader = {
    line: first?.line,
    names: first?.cells ?? [],
    isSure: false,
    score: computeEvenness(filled),
  };
  for (const [index, record] of filled.entries()) {
    const signs = computeHeaderScore(record.cells, search);
    // The same names under more columns are the better header; a later line must be better to count.
    const score = signs + countCells(record) - index / 100;
    if (signs > 0 && (!best.isSure || score > best.score))
      best = { line: record.line, names: record.cells, isSure: true, score };
  }
  return best;
}

/** 0: not a header. */
function computeHeaderScore(cells: string[], { options, structure }: HeaderSearch): number {
  const mapped = [...options.map.keys()];
  const folded = new Set(cells.map(foldName));
  if (mapped.length > 0 && mapped.every((name) => folded.has(foldName(name)))) return 2000;
  if (cells.some((name) => isKeyName(name, structure.keyName, structure.keyType))) return 1000;
  return options.takesIds && cells.some(isIdName) ? 900 : 0;
}

function toFirstRow(records: CsvRecord[]): FoundHeader {
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
function computeEvenness(records: CsvRecord[]): number {
  const width = records[0] ? countCells(records[0]) : 0;
  if (width < 2) return 0;
  const even = records.filter((record) => countCells(record) === width).length;
  return (even / records.length) * 400 + Math.min(width, 99);
}

function countCells(record: CsvRecord): number {
  return Math.min(record.cells.length, 900);
}

export function isBlank({ cells }: { cells: Cells }): boolean {
  return cells.every((cell) => cell === undefined || cell === "" || cell.trim() === "");
}

const delimitersByName = new Map(
  Object.entries({ tab: "\t", "\\t": "\t", comma: ",", semicolon: ";", pipe: "|", space: " " }),
);

/** A delimiter as it is typed: one character, or its name. @throws UsageError */
export function parseDelimiter(text: string): string {
  const delimiter = delimitersByName.get(text.toLowerCase()) ?? text;
  if ([...delimiter].length !== 1 || /["\r\n]/.test(delimiter)) {
    throw usageError(
      `--delimiter ${JSON.stringify(text)} is not a delimiter`,
      "Give one character, or tab, comma, semicolon, pipe",
    );
  }
  return delimiter;
}

/** @throws UsageError when there is a row in place of a header, or a line that is no row of cells */
export function requireHeader(
  file: string,
  header: Header,
  isDelimiterTold: boolean,
  structure: ContactStructure,
): void {
  const place = `${file}:${header.line}`;
  const layout = findUnusualLayout(place, header, isDelimiterTold, structure);
  if (layout) throw layout;
  if (!isEmailKey(structure.keyType)) return;
  const column = header.names.findIndex((cell) => /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(cell.trim()));
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
  { names, delimiter }: Header,
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
