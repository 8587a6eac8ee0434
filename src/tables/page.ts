/**
 * Reading: workbooks and JSON as text: one physical line for each row, in the dialect of our own tsv, so that
 * everything after it reads them as it reads any table. A line keeps the number that the row has in its file.
 */

import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import { formatTsvCell, parseTsvCell } from "../delimited-lines.ts";
import { makeFolder } from "../disk/make-folder.ts";
import { type EcmError, usageError } from "../errors.ts";
import { type Cells, findUnknown, toUnknownCell } from "./cells.ts";
import type { OpenedText } from "./format.ts";
import { emptyFileError, type InputFile } from "./source.ts";

/** Marks a cell that is missing, where rows of a workbook or of JSON are written as our own tsv. */
const missingCell = "\\-";

/** Marks a cell of which nobody knows the value, in such a table. */
const unknownSign = "\\?";
/** Text is gathered to pieces of this many characters before it is written. */
const pieceCharacters = 64 * 1024;
/** Half of a character beyond the first 65,536, which text cannot hold: it would become U+FFFD. */
const loneSurrogate = /\p{Surrogate}/u;
const cutCharacterMessage =
  "A program has cut the text in the middle of a character; correct it there, and export again";
/** A small file can describe a table that fills a disk. */
const maxCharacters = 4 * 1024 ** 3;

/** A page, as it is read. */
export type Page = Pick<OpenedText, "text" | "encoding" | "hasCarriageReturn">;

/**
 * Writes rows into a file of the input's scratch folder that its owner alone can read.
 * @param part its name there
 * @param rows their lines must rise
 * @throws UsageError
 */
export async function writePage(
  input: InputFile,
  part: string,
  rows: AsyncIterable<{ line: number; cells: Cells }>,
): Promise<Page> {
  const { name } = input;
  const path = createScratchPath(input, part);
  const file = await openTarget(path, name);
  let piece = "";
  let nextLine = 1;
  let written = 0;
  const flush = async () => {
    // In front of a text it would be read as the mark of its encoding.
    if (written === 0) piece = piece.replace(/^\ufeff/, "");
    written += piece.length;
    if (written > maxCharacters) throw tooLargeError(name);
    await file.appendFile(piece).catch((error: Error) => {
      throw unwritableError(path, name, error);
    });
    piece = "";
  };
  try {
    for await (const { line, cells } of rows) {
      if (line < nextLine) {
        throw usageError(`${name}: its rows are not in order`, "Save it again in the program it comes from");
      }
      piece += `${"\n".repeat(line - nextLine)}${joinCells(cells, `${name}:${line}`)}\n`;
      nextLine = line + 1;
      if (piece.length > pieceCharacters) await flush();
    }
    await flush();
  } finally {
    await file.close();
  }
  if (nextLine === 1) throw emptyFileError(name);
  return {
    text: { ...input, path },
    encoding: { encoding: "utf-8", markBytes: 0, isGuess: false },
    hasCarriageReturn: false,
  };
}

/** A place for what an input is unpacked to. @throws UsageError for an input without a scratch folder */
export function createScratchPath({ name, scratch }: InputFile, part: string): string {
  if (scratch === undefined) throw usageError(`${name} must be unpacked first`, "Give a CSV file");
  makeFolder(scratch);
  return join(scratch, part);
}

function openTarget(path: string, name: string): Promise<FileHandle> {
  return open(path, "w", 0o600).catch((error: Error) => {
    throw unwritableError(path, name, error);
  });
}

function unwritableError(path: string, name: string, { message }: Error): EcmError {
  return usageError(`${name} cannot be unpacked to ${path}: ${message}`);
}

/** Cells that are missing at the end of a row are not written. */
function joinCells(cells: Cells, place: string): string {
  const cut = cells.findIndex((cell) => cell !== undefined && loneSurrogate.test(findUnknown(cell) ?? cell));
  if (cut !== -1)
    throw usageError(`${place}: cell ${cut + 1} contains half of a character`, cutCharacterMessage);
  const zero = cells.findIndex((cell) => cell?.includes("\0"));
  if (zero !== -1)
    throw usageError(
      `${place}: cell ${zero + 1} contains a zero byte, which text never contains`,
      "The file is damaged or not a table; export it again",
    );
  const end = 1 + cells.findLastIndex((cell) => cell !== undefined);
  // `map` passes over the holes of a list.
  return Array.from(cells.slice(0, end), (cell) => {
    if (cell === undefined) return missingCell;
    const unknown = findUnknown(cell);
    return unknown === undefined ? formatTsvCell(cell) : unknownSign + formatTsvCell(unknown);
  }).join("\t");
}

/** The refusal of a file that unpacks to far more than it is. */
export function tooLargeError(name: string): EcmError {
  return usageError(
    `${name} unpacks to far more than a list of contacts would`,
    "If this is expected, unpack it yourself and use the unpacked file",
  );
}

const minSuspiciousBytes = 64 * 1024 ** 2;
const maxUnpackRatio = 200;

/**
 * Whether so much can come of so little only by design. Text shrinks to a twentieth; a list of nearly equal
 * lines to a hundredth.
 */
export function isBomb(packedBytes: number, unpackedBytes: number): boolean {
  return unpackedBytes > minSuspiciousBytes && unpackedBytes > packedBytes * maxUnpackRatio;
}

/** The cells of a record of our own tsv. */
export function unescapedCells(cells: readonly string[]): string[] {
  return cells.map(parseTsvCell);
}

/** The same of a table of our own making, in which a cell can be missing. */
function tableCells(cells: readonly string[]): (string | undefined)[] {
  return cells.map((cell) => {
    if (cell === missingCell) return undefined;
    if (cell.startsWith(unknownSign)) return toUnknownCell(parseTsvCell(cell.slice(unknownSign.length)));
    return parseTsvCell(cell);
  });
}

/** The same of a header: a name that is not known is none. */
export function tableNames(cells: readonly string[]): string[] {
  return cells.map((cell) => (cell.startsWith(unknownSign) ? "" : parseTsvCell(cell)));
}

/** How the cells of a record are read, by the dialect of its file. */
export function cellsReader({
  isTable,
  hasEscapes,
}: {
  isTable: boolean;
  hasEscapes: boolean;
}): (cells: string[]) => (string | undefined)[] {
  if (isTable) return tableCells;
  return hasEscapes ? unescapedCells : (cells) => cells;
}
