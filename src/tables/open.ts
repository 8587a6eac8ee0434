/**
 * Reading: what kind of file an input is, by its first bytes, and its
 * text: the file itself, or what was made of it.
 */

import { usageError } from "../errors.ts";
import { unpackGzip } from "./archive.ts";
import { CsvFault, readRecords, toUnreadableError } from "./csv.ts";
import { type FoundEncoding, findEncoding } from "./encoding.ts";
import type { ChooseSheet, Format, OpenedText } from "./format.ts";
import { delimiters, parseDelimiter } from "./header.ts";
import { jsonFormat } from "./json.ts";
import { createScratchPath } from "./page.ts";
import type { ReadOptions } from "./rows.ts";
import { type InputFile, type Inspection, inspectFile, requireFile, requireTextFile } from "./source.ts";
import { recogniseSystem } from "./systems.ts";
import { readText } from "./text.ts";
import { workbookFormat } from "./workbook/workbook.ts";

/**
 * An input whose text can be read: all of its bytes were, once. Nothing of the account is needed for that.
 */
export interface OpenedInput extends OpenedText {
  file: InputFile;
  /** Of the file as it was given. */
  sha256: string;
  bytes: number;
}

const textFormat: Format = {
  opens: () => true,
  async open(inspection, options) {
    requireTextFile(inspection);
    const { file, hasCarriageReturn } = inspection;
    const encoding = await findEncoding(inspection, options.encoding);
    await requireClosedQuotes(inspection, encoding, options);
    return { text: file, encoding, hasCarriageReturn, notes: [] };
  },
};

/** The first one that opens a file reads it. */
const formats: readonly Format[] = [workbookFormat, jsonFormat, textFormat];

/** @throws UsageError for a file that cannot be read or unpacked, or that holds no table */
export async function openInput(
  file: InputFile,
  options: ReadOptions,
  chooseSheet?: ChooseSheet,
): Promise<OpenedInput> {
  await requireFile(file);
  const inspection = await inspectFile(file);
  const { sha256, bytes } = inspection;
  const inner = isGzip(inspection.start) ? await unpacked(inspection) : inspection;
  const format = formats.find(({ opens }) => opens(inner.start))!;
  if (options.sheet !== undefined && format !== workbookFormat)
    throw usageError(`--sheet applies to workbooks, but ${file.name} is not one`, "Leave out --sheet");
  return { file, sha256, bytes, ...(await format.open(inner, options, chooseSheet)) };
}

/** The content of a gzip file. */
async function unpacked({ file, bytes }: Inspection): Promise<Inspection> {
  const path = createScratchPath(file, "unpacked");
  await unpackGzip(file, bytes, path);
  const inner = await inspectFile({ ...file, path });
  if (isGzip(inner.start)) throw usageError(`${file.name} is compressed twice`, "Unpack it first");
  return inner;
}

function isGzip(start: Buffer): boolean {
  return start[0] === 0x1f && start[1] === 0x8b;
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
