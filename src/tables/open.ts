/**
 * Reading: what kind of file an input is, by its first bytes, and its
 * text: the file itself, or what was made of it.
 */

import { join } from "node:path";
import { formatCounted } from "../counts.ts";
import { makeFolder } from "../disk/make-folder.ts";
import { UsageError } from "../errors.ts";
import { CsvFault, readRecords } from "./csv.ts";
import { type FoundEncoding, findEncoding } from "./encoding.ts";
import { delimiters, parseDelimiter } from "./header.ts";
import { toUnreadableError } from "./input-errors.ts";
import type { ReadOptions } from "./rows.ts";
import { type InputFile, type Inspection, inspectFile, requireFile, requireTextFile } from "./source.ts";
import { recogniseSystem } from "./systems.ts";
import { readText } from "./text.ts";
import type { WorkbookTable } from "./workbook/workbook.ts";

/**
 * An input whose text can be read: all of its bytes were, once. Nothing of the account is needed for that.
 */
export interface OpenedInput {
  file: InputFile;
  /** Of the file as it was given. */
  sha256: string;
  bytes: number;
  /** What holds the text, and what its bytes are. */
  text: Inspection;
  encoding: FoundEncoding;
  /** The text is a table of our own making, and this is what is known of it. */
  table?: { names?: string[] };
  /** Sentences for the reader. */
  notes: string[];
}

/** @throws UsageError for a file that cannot be read or unpacked, or that holds no table */
export async function openInput(file: InputFile, options: ReadOptions): Promise<OpenedInput> {
  await requireFile(file);
  const unpacked = await unpack(file, options);
  const { text, table } = unpacked;
  const encoding = await findEncoding(text, table ? undefined : options.encoding);
  if (!table) await requireClosedQuotes(text, encoding, options);
  return { file, ...unpacked, encoding };
}

/** The text of an input, and what is known of it from the file that held it. */
type Unpacked = Pick<OpenedInput, "text" | "table" | "notes">;

async function unpack(
  file: InputFile,
  options: ReadOptions,
): Promise<Unpacked & Pick<OpenedInput, "sha256" | "bytes">> {
  const inspection = await inspectFile(file);
  const { sha256, bytes } = inspection;
  const inner = isGzip(inspection) ? await ungzipped(inspection) : inspection;
  return { sha256, bytes, ...(await readContent(file, inner, options)) };
}

async function ungzipped({ file, bytes }: Inspection): Promise<Inspection> {
  const { unpackGzip } = await import("./archive.ts");
  const path = await createScratchPath(file, "unpacked");
  await unpackGzip(file, bytes, path);
  const inner = await inspectFile({ ...file, path });
  if (isGzip(inner)) throw new UsageError(`${file.name} is compressed twice`, "Unpack it first");
  return inner;
}

async function readContent(file: InputFile, inner: Inspection, options: ReadOptions): Promise<Unpacked> {
  if (isZip(inner)) return sheetText(file, inner, options);
  if (options.sheet !== undefined)
    throw new UsageError(`--sheet applies to workbooks, but ${file.name} is not one`, "Leave out --sheet");
  if (isJson(inner)) return jsonText(file, inner, options);
  requireTextFile(inner);
  return { text: inner, notes: [] };
}

async function sheetText(file: InputFile, inner: Inspection, options: ReadOptions): Promise<Unpacked> {
  requireNoTextFlags(file, "a workbook", {
    "--encoding": options.encoding,
    "--delimiter": options.delimiter,
  });
  const { readWorkbook } = await import("./workbook/workbook.ts");
  const path = await createScratchPath(file, "sheet");
  const notes = notesOnSheet(await readWorkbook(inner.file, path, options.sheet));
  return { text: await inspectFile({ ...file, path }), table: {}, notes };
}

function notesOnSheet(sheet: WorkbookTable): string[] {
  const { hiddenRows, mergedRanges } = sheet;
  const notes = [`Read the sheet ${JSON.stringify(sheet.sheet)} of a workbook`];
  if (hiddenRows > 0)
    notes.push(
      `${formatCounted(hiddenRows, "row is", "rows are")} hidden in the workbook; read like the others`,
    );
  if (mergedRanges > 0) {
    notes.push(
      `${formatCounted(mergedRanges, "merged range")} in the workbook: each of their cells is read with the value of the range`,
    );
  }
  return notes;
}

async function jsonText(file: InputFile, inner: Inspection, options: ReadOptions): Promise<Unpacked> {
  requireNoTextFlags(file, "JSON", {
    "--encoding": options.encoding,
    "--delimiter": options.delimiter,
    "--skip-lines": options.skipLines,
  });
  const { readJson } = await import("./json.ts");
  if (!inner.isUtf8) throw new UsageError(`${file.name} is JSON, but not in UTF-8`, "Save it as UTF-8");
  const path = await createScratchPath(file, "objects");
  const { names, isArray } = await readJson(inner.file, path);
  if (names.length === 0)
    throw new UsageError(`${file.name} contains no objects`, "Name a file with contacts");
  const notes = isArray ? ["Rows are counted as elements of the array, from 1"] : [];
  return { text: await inspectFile({ ...file, path }), table: { names }, notes };
}

/** What would be passed over in silence. @throws UsageError naming the flag */
function requireNoTextFlags(
  { name }: InputFile,
  is: string,
  flags: Record<string, string | number | undefined>,
): void {
  for (const [flag, value] of Object.entries(flags)) {
    if (value !== undefined)
      throw new UsageError(`${flag} applies to text files, but ${name} is ${is}`, `Leave out ${flag}`);
  }
}

function isGzip({ start }: Inspection): boolean {
  return start[0] === 0x1f && start[1] === 0x8b;
}

function isZip({ start }: Inspection): boolean {
  return start.toString("latin1", 0, 4) === "PK\x03\x04";
}

/** An object or an array at the beginning; a CSV file can begin with a brace in a name, but not so. */
function isJson({ start }: Inspection): boolean {
  const head = start.toString("latin1", 0, 512).replace(/^\xef\xbb\xbf/, "");
  return /^\s*(?:\[\s*(?:$|[{["\]])|\{\s*(?:"[^"\n]*"\s*:|\}))/.test(head);
}

async function createScratchPath({ name, scratch }: InputFile, part: string): Promise<string> {
  if (scratch === undefined) throw new UsageError(`${name} must be unpacked first`, "Give a CSV file");
  makeFolder(scratch);
  return join(scratch, part);
}

/**
 * Looks at files with an odd number of quotes alone: closed quotes come in pairs.
 * @throws UsageError for a quote that is open at the end
 */
async function requireClosedQuotes(
  { file, start, hasOddQuotes }: Inspection,
  { encoding, markBytes }: FoundEncoding,
  { delimiter, skipLines }: ReadOptions,
): Promise<void> {
  if (!hasOddQuotes || skipLines) return;
  const [first = ""] = start.toString("latin1", markBytes).split(/[\r\n]/, 1);
  // In our own tsv a quote is text; what a line before the header says of the delimiter is read later.
  if (recogniseSystem(first.split("\t"))?.name === "ecm" || /^"?sep=/i.test(first)) return;
  const usedDelimiters = delimiters.filter((each) => first.includes(each));
  // Of several it is the header that decides, and the header needs the account.
  if (delimiter === undefined && usedDelimiters.length > 1) return;
  const usedDelimiter = delimiter === undefined ? (usedDelimiters[0] ?? ",") : parseDelimiter(delimiter);
  try {
    for await (const _records of readRecords(readText({ file, encoding, markBytes }), {
      delimiter: usedDelimiter,
    }));
  } catch (error) {
    if (error instanceof CsvFault && error.kind === "unclosed_quote")
      throw toUnreadableError(file.name, error);
    if (!(error instanceof CsvFault)) throw error;
  }
}
