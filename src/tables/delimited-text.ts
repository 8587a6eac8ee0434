/** Reading: delimited text: what is none of it, its encoding, its delimiter, and the line of its header. */
import { parseTsvCell, quotedCell } from "../delimited-lines.ts";
import { usageError } from "../errors.ts";
import { CsvFault, type Dialect, readRecords, type TableRecord, toUnreadableError } from "./csv.ts";
import { findEncoding } from "./encoding.ts";
import { chooseHeader, delimiters, type FoundHeader, toFirstRow } from "./layout.ts";
import { emptyFileError, type Inspection } from "./source.ts";
import { recogniseSystem } from "./systems.ts";
import type { Format, HeaderSigns, Table } from "./table.ts";
import { readStart, readText, type TextSource } from "./text.ts";

/** Every file that is of no other kind. */
export const textFormat: Format = {
  opens: () => true,
  async open(inspection, options) {
    requireTextFile(inspection);
    const { file, hasCarriageReturn, hasOddQuotes } = inspection;
    const found = await findEncoding(inspection, options.encoding);
    const { encoding, markBytes, isGuess, firstForeign } = found;
    const isSaid = encoding !== "utf-8" && (isGuess || firstForeign !== undefined);
    return {
      form: { kind: "text", encoding, hasMark: markBytes > 0 },
      hasOddQuotes,
      notes: isSaid ? [{ code: "encoding", encoding, isGuess, firstForeign }] : [],
      locate: (signs) => locateTable({ file, encoding, markBytes }, signs, hasCarriageReturn),
    };
  },
};

const otherKinds: { starts: string | RegExp; is: string; hint: string }[] = [
  {
    starts: "\xd0\xcf\x11\xe0",
    is: "an old Excel workbook (.xls), or one protected by a password",
    hint: "Open it in a spreadsheet and save it as .xlsx without a password",
  },
  { starts: "%PDF", is: "a PDF document", hint: "Export the table as CSV from where it comes from" },
  {
    starts: "BEGIN:VCARD",
    is: "a vCard file",
    hint: "Export the contacts as CSV, or import the cards into an address book that exports CSV",
  },
  {
    starts: /^\s*(?:<!doctype html|<html|<table|<head|<meta|<\?xml|<!--)/i,
    is: "HTML or XML, despite its name",
    hint: "Open it in a spreadsheet and save the sheet as CSV UTF-8",
  },
];

/** @throws UsageError for a file of a kind that holds no delimited text */
function requireTextFile({ file: { name }, start }: Inspection): void {
  const head = start.toString("latin1", 0, 512).replace(/^\xef\xbb\xbf/, "");
  const kind = otherKinds.find(({ starts }) =>
    typeof starts === "string" ? head.startsWith(starts) : starts.test(head),
  );
  if (kind) throw usageError(`${name} is ${kind.is}`, kind.hint);
}

/** Enough for a header and some rows, whatever their length. */
const startBytes = 256 * 1024;

/** Where a header is looked for. */
interface HeaderSearch extends HeaderSigns {
  /** The start of the text, from `firstLine` on. */
  text: string;
  firstLine: number;
  /** There is more text after this start. */
  isCut: boolean;
}

type LocatedHeader = FoundHeader & { delimiter: string };

/**
 * Delimiter and header, below `--skip-lines` and a line such as `sep=;`.
 * @param hasCarriageReturn our own tsv has none
 * @throws UsageError for a file without any row
 */
async function locateTable(
  source: TextSource,
  signs: HeaderSigns,
  hasCarriageReturn: boolean,
): Promise<Table> {
  const { name } = source.file;
  const { skipLines = 0, hasNoHeader, delimiter: typed } = signs.options;
  const start = await readStart(source, 1 + skipLines, startBytes);
  const separatorLine = /^"?sep=(.)"?(?:\r\n|\n|\r|$)/i.exec(start.text);
  const delimiter = typed === undefined ? separatorLine?.[1] : parseDelimiter(typed);
  const search: HeaderSearch = {
    ...signs,
    text: start.text.slice(separatorLine?.[0].length),
    firstLine: 1 + skipLines + (separatorLine ? 1 : 0),
    isCut: start.isCut,
  };
  const mayBeOwnTsv = !hasCarriageReturn && !hasNoHeader && (delimiter ?? "\t") === "\t";
  const header =
    (mayBeOwnTsv ? findOwnTsvHeader(search) : undefined) ??
    (await findHeader(search, delimiter).catch((error: unknown) => {
      throw toUnreadableError(name, error);
    }));
  if (header.line === undefined) {
    throw skipLines > 0
      ? usageError(`${name} has nothing after ${skipLines} skipped lines`, "Lower --skip-lines")
      : emptyFileError(name);
  }
  const dialect = findDialect(header, search, hasCarriageReturn);
  return {
    ...header,
    line: header.line,
    dialect,
    records: (firstLine) => readTextRecords(source, dialect, firstLine),
  };
}

/** Records from a line on. @throws UsageError where the text cannot be read to its end */
async function* readTextRecords(
  source: TextSource,
  dialect: Dialect,
  firstLine: number,
): AsyncGenerator<TableRecord[]> {
  try {
    for await (const records of readRecords(readText(source, firstLine), dialect, firstLine)) {
      if (dialect.hasEscapes) for (const record of records) record.cells = record.cells.map(parseTsvCell);
      yield records;
    }
  } catch (error) {
    throw toUnreadableError(source.file.name, error);
  }
}

/** Whether a text is a tsv that `ecm` wrote, and whether it is still as it was written: our line ends are LF alone. */
function findDialect(
  { delimiter, names }: LocatedHeader,
  { text, options }: HeaderSearch,
  hasCarriageReturn: boolean,
): Dialect {
  const isOurs = options.from === "ecm" || recogniseSystem(names)?.name === "ecm";
  // Every name is in quotes in our csv with tabs, and never in our tsv.
  const isQuoted = text.startsWith(names.map(quotedCell).join("\t"));
  const hasEscapes = delimiter === "\t" && !options.hasNoHeader && isOurs && !isQuoted;
  return { delimiter, hasEscapes, hasNoQuotes: hasEscapes && !hasCarriageReturn };
}

/** The first line of a tsv that `ecm` wrote, where quotes and other delimiters are text like any other. */
function findOwnTsvHeader({ text, firstLine }: HeaderSearch): LocatedHeader | undefined {
  const [line = ""] = text.split("\n", 1);
  const names = line.split("\t");
  if (recogniseSystem(names)?.name !== "ecm") return undefined;
  return {
    delimiter: "\t",
    line: firstLine,
    lines: 1,
    names: text.startsWith(names.map(quotedCell).join("\t")) ? names : names.map(parseTsvCell),
    isSure: true,
    score: 0,
  };
}

/**
 * Finds delimiter and header together: the right delimiter is the one under which a header shows.
 * @throws CsvFault when no delimiter gives a single record
 */
async function findHeader(search: HeaderSearch, told: string | undefined): Promise<LocatedHeader> {
  let best: LocatedHeader | undefined;
  let firstFault: CsvFault | undefined;
  for (const delimiter of told === undefined ? delimiters : [told]) {
    const { records, fault } = await readFirstRecords(search, delimiter);
    firstFault ??= fault;
    const found = search.options.hasNoHeader ? toFirstRow(records) : chooseHeader(records, search);
    if (!best || found.score > best.score) best = { delimiter, ...found };
  }
  if (best?.line === undefined && firstFault) throw firstFault;
  return best!;
}

/** What can be read: a quote may be open at the end of the start, or make no sense under this delimiter. */
async function readFirstRecords(
  { text, firstLine, isCut }: HeaderSearch,
  delimiter: string,
): Promise<{ records: TableRecord[]; fault?: CsvFault }> {
  const records: TableRecord[] = [];
  try {
    for await (const batch of readRecords(toChunks(text), { delimiter }, firstLine)) records.push(...batch);
  } catch (error) {
    if (!(error instanceof CsvFault)) throw error;
    return { records, fault: error };
  }
  if (isCut && records.length > 1) records.pop();
  return { records };
}

async function* toChunks(text: string): AsyncGenerator<Buffer> {
  yield Buffer.from(text);
}

const delimitersByName = new Map(
  Object.entries({ tab: "\t", "\\t": "\t", comma: ",", semicolon: ";", pipe: "|", space: " " }),
);

/** A delimiter as it is typed: one character of ASCII, or its name. @throws UsageError */
function parseDelimiter(text: string): string {
  const delimiter = delimitersByName.get(text.toLowerCase()) ?? text;
  if (!/^[\x01-\x7f]$/.test(delimiter) || /["\r\n]/.test(delimiter)) {
    throw usageError(
      `--delimiter ${JSON.stringify(text)} is not a delimiter`,
      "Give one character, or tab, comma, semicolon, pipe",
    );
  }
  return delimiter;
}
