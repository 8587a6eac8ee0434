/** Reading: delimited text: what is none of it, its encoding, and which delimiters it may have. */
import { usageError } from "../errors.ts";
import { CsvFault, type Dialect, readRecords, type TableRecord, toUnreadableError } from "./csv.ts";
import { findEncoding } from "./encoding.ts";
import type { ReadOptions } from "./rows.ts";
import { type Inspection, toHead } from "./source.ts";
import { recogniseSystem } from "./systems.ts";
import { type Format, type ReadRecords, type TableReading, takeRecords } from "./table.ts";
import { decodeAll, readText, skipLines } from "./text.ts";

const delimiters = [",", ";", "\t", "|"];

/** Every file that is of no other kind. */
export const textFormat: Format = {
  opens: () => true,
  async open(inspection, options) {
    requireTextFile(inspection);
    const { file, start, bytes } = inspection;
    const found = await findEncoding(inspection, options.encoding);
    const { encoding, markBytes, isGuess, firstForeign } = found;
    const { skipLines: skipped = 0, delimiter: typed } = options;
    const decoded = Buffer.from(await decodeAll(start.subarray(markBytes), encoding));
    let text = "";
    for await (const chunk of skipLines([decoded], skipped)) text += chunk.toString();
    const [separatorLine = "", separator] = /^"?sep=(.)"?(?:\r\n|\n|\r|$)/i.exec(text) ?? [];
    text = text.slice(separatorLine.length);
    const firstLine = 1 + skipped + (separatorLine === "" ? 0 : 1);
    const toReading = (dialect: Dialect): TableReading => {
      let taken: Promise<ReadRecords> | undefined;
      const readAll = () => {
        const records = readRecords(readText({ file, encoding, markBytes }, firstLine), dialect, firstLine);
        return takeRecords(inspection, `text-${dialect.delimiter.charCodeAt(0)}`, records, skipped).catch(
          (error: unknown) => {
            throw toUnreadableError(file.name, error);
          },
        );
      };
      return {
        dialect,
        first: () => readStart(text, start.length < bytes, dialect, firstLine),
        readAll: () => (taken ??= readAll()),
      };
    };
    const explicitDelimiter = typed === undefined ? separator : parseDelimiter(typed);
    const isSaid = encoding !== "utf-8" && (isGuess || firstForeign !== undefined);
    return {
      form: { kind: "text", encoding, hasMark: markBytes > 0 },
      notes: isSaid ? [{ code: "encoding", encoding, isGuess, firstForeign }] : [],
      readings: listDialects(inspection, text, explicitDelimiter, options).map(toReading),
    };
  },
};

/**
 * In a tsv that `ecm` wrote, quotes and other delimiters are text like any other, unless a spreadsheet saved
 * it again: our line ends are LF alone. In our csv with tabs, every name is in quotes.
 */
function listDialects(
  { hasCarriageReturn }: Inspection,
  text: string,
  explicitDelimiter: string | undefined,
  { hasNoHeader }: ReadOptions,
): Dialect[] {
  const mayHaveEscapes = !hasNoHeader && !text.startsWith('"');
  const [firstLine = ""] = text.split("\n", 1);
  const isOurs = recogniseSystem(firstLine.split("\t"))?.name === "ecm";
  if (mayHaveEscapes && !hasCarriageReturn && isOurs && (explicitDelimiter ?? "\t") === "\t")
    return [{ delimiter: "\t", mayHaveEscapes, hasNoQuotes: true }];
  return (explicitDelimiter === undefined ? delimiters : [explicitDelimiter]).map((delimiter) => ({
    delimiter,
    mayHaveEscapes: mayHaveEscapes && delimiter === "\t",
  }));
}

/** What can be read: a quote may be open at the end of the start, or make no sense under this delimiter. */
async function readStart(
  text: string,
  isCut: boolean,
  dialect: Dialect,
  firstLine: number,
): Promise<TableRecord[]> {
  const records: TableRecord[] = [];
  try {
    for await (const batch of readRecords([Buffer.from(text)], dialect, firstLine)) records.push(...batch);
  } catch (error) {
    if (!(error instanceof CsvFault)) throw error;
    return records;
  }
  return isCut && records.length > 1 ? records.slice(0, -1) : records;
}

const otherKinds: { starts: RegExp; is: string; hint: string }[] = [
  {
    starts: /^\xd0\xcf\x11\xe0/,
    is: "an old Excel workbook (.xls), or one protected by a password",
    hint: "Open it in a spreadsheet and save it as .xlsx without a password",
  },
  { starts: /^%PDF/, is: "a PDF document", hint: "Export the table as CSV from where it comes from" },
  {
    starts: /^BEGIN:VCARD/,
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
  const head = toHead(start);
  const kind = otherKinds.find(({ starts }) => starts.test(head));
  if (kind) throw usageError(`${name} is ${kind.is}`, kind.hint);
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
