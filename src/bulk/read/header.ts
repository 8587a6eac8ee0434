/** Reading: the start of a file: its delimiter, and the line of its header. */
import { UsageError } from "../../errors.ts";
import { CsvFault, type CsvRecord, readRecords } from "./csv.ts";
import { foldName, isIdName, isKeyName } from "./names.ts";
import { recogniseSystem } from "./systems.ts";
import { unescapedCells } from "./values.ts";

export interface Header {
  delimiter: string;
  /** Physical line of the header; without one, of the first row. Undefined when the file has neither. */
  line: number | undefined;
  /** One for each column. */
  names: string[];
  /** Names a key column, or every column that `--map` names. */
  isSure: boolean;
  /** Every name is in quotes, as in our csv with tabs, and never in our tsv. */
  isQuoted?: boolean;
}

/** Reports and some exports have a title above the header: this many records are looked at. */
const maxRecordsAboveHeader = 20;
export const delimiters = [",", ";", "\t", "|"];

export interface HeaderSearch {
  /** The start of the text, from `firstLine` on. */
  text: string;
  firstLine: number;
  /** There is more text after this start. */
  isCut: boolean;
  delimiter?: string;
  /** The file is named as one whose cells are parted by tabs. */
  isNamedTsv?: boolean;
  /** The text may be a tsv of ours: escaped, without quotes. */
  mayBeOwnTsv?: boolean;
  /** The text is a table of our own making: escaped, without quotes. */
  isTable?: boolean;
  hasNoHeader: boolean;
  keyName: string;
  keyType: string;
  /** Columns that `--map` names: a header has them all. */
  mapped: readonly string[];
  takesIds?: boolean;
}

/**
 * Finds delimiter and header together: the right delimiter is the one under which a header shows.
 * @throws CsvFault when no delimiter gives a single record
 */
export async function findHeader(search: HeaderSearch): Promise<Header> {
  const own = findOwnTsvHeader(search);
  if (own) return own;
  let best: (Header & { score: number }) | undefined;
  let fault: CsvFault | undefined;
  for (const delimiter of search.delimiter === undefined ? delimiters : [search.delimiter]) {
    const { records, ...end } = await readFirstRecords(search, delimiter);
    fault ??= end.fault;
    const found = search.hasNoHeader ? toFirstRow(records) : chooseHeader(records, search);
    const header = { delimiter, ...found };
    if (search.isNamedTsv && delimiter === "\t" && found.names.length > 1) header.score += namedTsvBonus;
    if (!best || header.score > best.score) best = header;
  }
  if (best?.line === undefined && fault) throw fault;
  return best!;
}

/** More than any other sign of a delimiter. */
const namedTsvBonus = 10_000;

/** The first line of a tsv that `ecm` wrote, where quotes and other delimiters are text like any other. */
function findOwnTsvHeader({
  text,
  firstLine,
  delimiter,
  mayBeOwnTsv,
  isTable,
  hasNoHeader,
}: HeaderSearch): Header | undefined {
  if (!mayBeOwnTsv || isTable || hasNoHeader || (delimiter ?? "\t") !== "\t") return undefined;
  const end = text.indexOf("\n");
  const names = (end === -1 ? text : text.slice(0, end)).split("\t");
  if (recogniseSystem(names)?.name !== "ecm") return undefined;
  return { delimiter: "\t", line: firstLine, names, isSure: true };
}

/** What can be read: a quote may be open at the end of the start, or make no sense under this delimiter. */
async function readFirstRecords(
  search: HeaderSearch,
  delimiter: string,
): Promise<{ records: CsvRecord[]; fault?: CsvFault }> {
  const records: CsvRecord[] = [];
  try {
    for await (const batch of readRecords(
      toChunks(search.text),
      { delimiter, hasNoQuotes: search.isTable },
      search.firstLine,
    )) {
      if (search.isTable) for (const record of batch) record.cells = unescapedCells(record.cells);
      records.push(...batch);
    }
  } catch (error) {
    if (!(error instanceof CsvFault)) throw error;
    return { records, fault: error };
  }
  if (search.isCut && records.length > 1) records.pop();
  return { records };
}

async function* toChunks(text: string): AsyncGenerator<Buffer> {
  yield Buffer.from(text);
}

type FoundHeader = Omit<Header, "delimiter"> & { score: number };

function chooseHeader(records: CsvRecord[], search: HeaderSearch): FoundHeader {
  const filled = records.filter((record) => !isBlank(record)).slice(0, maxRecordsAboveHeader);
  let best: FoundHeader | undefined;
  for (const [index, record] of filled.entries()) {
    const score = computeHeaderScore(record.cells, search);
    if (score > 0 && (!best || score > best.score)) {
      // The same names under more columns are the better header; a later line must be better to count.
      best = {
        line: record.line,
        names: record.cells,
        isSure: true,
        score: score + countCells(record) - index / 100,
      };
    }
  }
  const first = filled[0];
  return (
    best ?? { line: first?.line, names: first?.cells ?? [], isSure: false, score: computeEvenness(filled) }
  );
}

/** 0: not a header. */
function computeHeaderScore(cells: string[], search: HeaderSearch): number {
  const folded = new Set(cells.map(foldName));
  if (search.mapped.length > 0 && search.mapped.every((name) => folded.has(foldName(name)))) return 2000;
  if (cells.some((name) => isKeyName(name, search.keyName, search.keyType))) return 1000;
  if (search.takesIds && cells.some(isIdName)) return 900;
  return 0;
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

export function isBlank({ cells }: { cells: (string | undefined)[] }): boolean {
  return cells.every((cell) => cell === undefined || cell === "" || cell.trim() === "");
}

const delimitersByName = new Map(
  Object.entries({ tab: "\t", "\\t": "\t", comma: ",", semicolon: ";", pipe: "|", space: " " }),
);

/** A delimiter as it is typed: one character, or its name. @throws UsageError */
export function parseDelimiter(text: string): string {
  const delimiter = delimitersByName.get(text.toLowerCase()) ?? text;
  if ([...delimiter].length !== 1 || /["\r\n]/.test(delimiter)) {
    throw new UsageError(
      `--delimiter ${JSON.stringify(text)} is not a delimiter`,
      "Give one character, or tab, comma, semicolon, pipe",
    );
  }
  return delimiter;
}
