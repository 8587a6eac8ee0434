/**
 * Reading: rows of a workbook or of JSON as lines of a scratch file, each with the number that the row has in its
 * file: so they are unpacked once, and read as often as those of a text.
 */
import { open } from "node:fs/promises";
import { join } from "node:path";
import { LineSplitter } from "../disk/log.ts";
import { makeFolder } from "../disk/make-folder.ts";
import { usageError } from "../errors.ts";
import { type Cells, findUnknown } from "./cells.ts";
import type { TableRecord } from "./csv.ts";
import { emptyFileError, type InputFile, readBytes, tooLargeError } from "./source.ts";

/** Text is gathered to pieces of this many characters before it is written. */
const pieceCharacters = 64 * 1024;
/** A small file can describe a table that fills a disk. */
const maxCharacters = 4 * 1024 ** 3;

/**
 * Writes rows into a file of the input's scratch folder that its owner alone can read.
 * @param part its name there
 * @param rows their lines must rise
 * @returns the file, for `readPage`
 * @throws UsageError
 */
export async function writePage(
  input: InputFile,
  part: string,
  rows: AsyncIterable<{ line: number; cells: Cells }>,
): Promise<InputFile> {
  const { name } = input;
  const path = createScratchPath(input, part);
  const fail = (error: Error) => {
    throw usageError(`${name} cannot be unpacked to ${path}: ${error.message}`);
  };
  const file = await open(path, "w", 0o600).catch(fail);
  let piece = "";
  let lastLine = 0;
  let written = 0;
  const flush = async () => {
    written += piece.length;
    if (written > maxCharacters) throw tooLargeError(name);
    await file.appendFile(piece).catch(fail);
    piece = "";
  };
  try {
    for await (const { line, cells } of rows) {
      if (line <= lastLine) {
        throw usageError(`${name}: its rows are not in order`, "Save it again in the program it comes from");
      }
      requireText(cells, `${name}:${line}`);
      piece += `${JSON.stringify([line, cells])}\n`;
      lastLine = line;
      if (piece.length > pieceCharacters) await flush();
    }
    await flush();
  } finally {
    await file.close();
  }
  if (lastLine === 0) throw emptyFileError(name);
  return { ...input, path };
}

/** The rows of a page, again. */
export async function* readPage(file: InputFile): AsyncGenerator<TableRecord[]> {
  const splitter = new LineSplitter();
  const decoder = new TextDecoder();
  for await (const chunk of readBytes(file)) {
    const lines = splitter.take(decoder.decode(chunk, { stream: true }));
    if (lines.length > 0) yield lines.map(toRecord);
  }
}

function toRecord(text: string): TableRecord {
  const [line, cells] = JSON.parse(text) as [number, (string | null)[]];
  return { line, lines: 1, cells: cells.map((cell) => cell ?? undefined) };
}

/** A place for what an input is unpacked to. @throws UsageError for an input without a scratch folder */
export function createScratchPath({ name, scratch }: InputFile, part: string): string {
  if (scratch === undefined) throw usageError(`${name} must be unpacked first`, "Give a CSV file");
  makeFolder(scratch);
  return join(scratch, part);
}

/** @throws UsageError for half of a character beyond the first 65,536, and for a zero byte */
function requireText(cells: Cells, place: string): void {
  const wrong = cells.findIndex(
    (cell) => cell !== undefined && /[\p{Surrogate}\0]/u.test(findUnknown(cell) ?? cell),
  );
  if (wrong === -1) return;
  throw usageError(
    `${place}: cell ${wrong + 1} contains a character that text cannot hold`,
    "The file is damaged, or a program has cut the text in the middle of a character; export it again",
  );
}
