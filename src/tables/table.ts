/** Reading: the one form in which files of all formats are read: a header, and records of cells below it. */
import { open } from "node:fs/promises";
import { join } from "node:path";
import { LineSplitter } from "../disk/log.ts";
import { makeFolder } from "../disk/make-folder.ts";
import { usageError } from "../errors.ts";
import type { ContactStructure } from "../wire.ts";
import { type Cells, findUnknown } from "./cells.ts";
import type { Dialect, TableRecord } from "./csv.ts";
import type { Note, ReadOptions, RowKind, SourceForm, Target } from "./rows.ts";
import { emptyFileError, type InputFile, type Inspection, readBytes } from "./source.ts";
import type { System } from "./systems.ts";

export interface Table {
  /** Physical line of the header; without one, of the first row. */
  line: number;
  /** How many physical lines the header covers, if it is one. */
  lines: number;
  /** One for each column: the cells of the header or of the first row, or their numbers. */
  names: string[];
  /** The names are no row of their own. */
  hasGivenNames?: true;
  /** Names a key column, or every column that `--map` names. */
  isSure: boolean;
  dialect: Dialect;
  /** The records from a physical line on. @throws UsageError where the file cannot be read to its end */
  records(firstLine: number): AsyncGenerator<TableRecord[]>;
}

/** So many records stay in memory; a larger table is read from the file again in each pass. */
const maxKeptRecords = 5000;

/** The records below the header, as often as they are needed. */
export class RecordReader {
  readonly #records: () => AsyncIterable<TableRecord[]>;
  #kept: readonly TableRecord[][] | undefined;

  constructor(records: () => AsyncIterable<TableRecord[]>) {
    this.#records = records;
  }

  /** They were read to their end, and the file is not needed any more. */
  get areKept(): boolean {
    return this.#kept !== undefined;
  }

  /** @throws UsageError where the file cannot be read to its end */
  async *read(): AsyncGenerator<readonly TableRecord[]> {
    if (this.#kept) {
      yield* this.#kept;
      return;
    }
    let kept: TableRecord[][] | undefined = [];
    let count = 0;
    for await (const records of this.#records()) {
      count += records.length;
      if (count > maxKeptRecords) kept = undefined;
      kept?.push(records);
      yield records;
    }
    this.#kept = kept;
  }
}

/** By what a header is known. */
export interface HeaderSigns {
  options: ReadOptions;
  structure: ContactStructure;
  rowKind: RowKind;
}

export type Targets = (Target | undefined)[];

/** What a file's columns are told by. */
export interface MappingInput extends HeaderSigns {
  /** One for each column; `1`, `2`, … without a header. */
  names: string[];
  /** The first rows. */
  sample: Sample;
  system?: System;
  /** `FILE:LINE` of the header, for messages. */
  place: string;
  /** What flags and the mapping file say; undefined for a column of which they say nothing. */
  explicit: Targets;
}

/** Cells of the first rows, as the file has them. */
export type Sample = readonly Cells[];

/** A file whose bytes were all read, once. Nothing of the account is needed for that. */
interface OpenedFile {
  form: SourceForm;
  notes: Note[];
  /** A quote of the text may be open at its end: those that are closed come in pairs. */
  hasOddQuotes?: boolean;
  /** Finds the header. @throws UsageError for a file without any row, and where it is not sure what its header is */
  locate(signs: HeaderSigns): Promise<Table>;
}

/** An input whose format is known. */
export interface OpenedInput extends OpenedFile {
  file: InputFile;
  /** The digest of the file as it was given. */
  sha256: string;
  bytes: number;
}

/** A further kind of file is one file that has this shape, and a line in `open.ts`. */
export interface Format {
  /** Whether a file with these first bytes is of this kind. */
  opens(start: Buffer): boolean;
  /** @throws UsageError for a flag that means nothing to it, and for a file that holds no table */
  open(file: Inspection, options: ReadOptions, chooseSheet?: ChooseSheet): Promise<OpenedFile>;
}

/** A workbook of which several sheets are visible, and none was named. */
export interface SeveralSheets {
  file: string;
  /** Their names. */
  sheets: string[];
}

/** Has a person say which sheet is meant, by its name or its number; absent where nobody is asked. */
export type ChooseSheet = (several: SeveralSheets) => Promise<string | undefined>;

/** Workbooks and JSON: rejected rows of theirs are written as CSV where no form of their own is kept. */
export const plainDialect: Dialect = { delimiter: ",", hasEscapes: false, hasNoQuotes: false };

/** What would be passed over in silence. @throws UsageError naming the flag */
export function requireNoFlags(
  { name }: InputFile,
  is: string,
  flags: Record<string, string | number | undefined>,
): void {
  for (const [flag, value] of Object.entries(flags)) {
    if (value !== undefined)
      throw usageError(`${flag} applies to text files, but ${name} is ${is}`, `Leave out ${flag}`);
  }
}

// Rows of a workbook or of JSON as lines of a scratch file, each with the number that the row has in its file: so
// they are unpacked once, and read as often as those of a text.

/** Text is gathered to pieces of this many characters before it is written. */
const pieceCharacters = 64 * 1024;

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
  const flush = async () => {
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
