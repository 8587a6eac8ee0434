/** Reading: the form in which files of all formats are read: records of cells, perhaps with a header. */
import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import { describeDiskError, folderHint } from "../disk/disk-errors.ts";
import { LineSplitter } from "../disk/log.ts";
import { makeFolder } from "../disk/make-folder.ts";
import { type EcmError, failedError, usageError } from "../errors.ts";
import type { ContactStructure } from "../wire.ts";
import { type Cells, findUnknown } from "./cells.ts";
import type { Dialect, TableRecord } from "./csv.ts";
import type { Note, ReadOptions, RowKind, SourceForm, Target } from "./rows.ts";
import { emptyFileError, type InputFile, type Inspection, readBytes, requireUnchanged } from "./source.ts";
import type { System } from "./systems.ts";

/** All records of a file, in its order; as often as they are needed. */
export type ReadRecords = () => AsyncIterable<readonly TableRecord[]>;

/** What a file holds. Nothing of the account is needed to know it. */
interface Content {
  form: SourceForm;
  notes: Note[];
  /** The names of the columns, where they are no record of their own. */
  names?: string[];
  /** How it may be read: the right way is the one in which a header shows. */
  readings: readonly TableReading[];
}

/** A file, read under one dialect. */
export interface TableReading {
  dialect: Dialect;
  /** Enough of its first records to find a header among them, as far as they can be read. */
  first(): Promise<readonly TableRecord[]>;
  /** Reads the file to its end, at the first call. @throws UsageError where that is not possible */
  readAll(): Promise<ReadRecords>;
}

export interface OpenedInput extends Content {
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
  open(file: Inspection, options: ReadOptions, chooseSheet?: ChooseSheet): Promise<Content>;
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

/** A workbook of which several sheets are visible, and none was named. */
export interface SeveralSheets {
  file: string;
  /** Their names. */
  sheets: string[];
}

/** Has a person say which sheet is meant, by its name or its number; absent where nobody is asked. */
export type ChooseSheet = (several: SeveralSheets) => Promise<string | undefined>;

/** Workbooks and JSON: rejected rows of theirs are written as CSV where no form of their own is kept. */
export const plainDialect: Dialect = { delimiter: "," };

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

/** So many bytes of a table are kept in memory, in pieces of a size that is read at once. */
const maxKeptBytes = 1024 * 1024;
const pieceCharacters = 16 * 1024;

/**
 * Takes records as lines of JSON: those of a small table in memory, those of a larger one in a file of the
 * input's scratch folder that its owner alone can read. So a file is decoded and parsed once, and what
 * happens to it later changes nothing.
 * @param part the name of that file
 * @param batches their lines must rise
 * @param skippedLines above them
 * @throws UsageError; EcmError for a file that was written to meanwhile; the reason of the file's signal
 */
export async function takeRecords(
  inspection: Inspection,
  part: string,
  batches: AsyncIterable<readonly TableRecord[]>,
  skippedLines = 0,
): Promise<ReadRecords> {
  const { file } = inspection;
  /** Undefined as long as memory is enough. */
  let overflow: { path: string; handle: FileHandle } | undefined;
  let kept: Buffer[] = [];
  let keptBytes = 0;
  const keep = async (text: string) => {
    kept.push(Buffer.from(text));
    keptBytes += kept.at(-1)!.length;
    if (keptBytes <= maxKeptBytes && !overflow) return;
    overflow ??= await openScratch(file, part);
    await overflow.handle.appendFile(Buffer.concat(kept)).catch((error: Error) => {
      throw unpackError(file, error);
    });
    [kept, keptBytes] = [[], 0];
  };
  let lastLine = 0;
  let piece = "";
  try {
    for await (const records of batches) {
      file.signal?.throwIfAborted();
      for (const record of records) {
        if (record.line <= lastLine)
          throw usageError(
            `${file.name}: its rows are not in order`,
            "Save it again in the program it comes from",
          );
        lastLine = record.line;
        piece += `${toText(record, file.name)}\n`;
        if (piece.length < pieceCharacters) continue;
        await keep(piece);
        piece = "";
      }
    }
    await keep(piece);
  } finally {
    await overflow?.handle.close();
  }
  if (lastLine === 0) throw emptyFileError(file.name, skippedLines);
  await requireUnchanged(inspection);
  const path = overflow?.path;
  return async function* () {
    const splitter = new LineSplitter();
    const decoder = new TextDecoder();
    for await (const bytes of path === undefined ? kept : readBytes({ name: file.name, path })) {
      const lines = splitter.take(decoder.decode(bytes, { stream: true }));
      if (lines.length > 0) yield lines.map(parseRecord);
    }
  };
}

async function openScratch(file: InputFile, part: string): Promise<{ path: string; handle: FileHandle }> {
  const path = toScratchPath(file, part);
  try {
    return { path, handle: await open(path, "w", 0o600) };
  } catch (error) {
    throw unpackError(file, error);
  }
}

function unpackError({ name, scratch }: InputFile, cause: unknown): EcmError {
  return failedError(
    `${name} cannot be unpacked to ${scratch}: ${describeDiskError(cause)}`,
    folderHint(cause, scratch),
  );
}

function toText(record: TableRecord, name: string): string {
  const text = JSON.stringify(record);
  if (text.includes("\\u")) requireText(record.cells, `${name}:${record.line}`);
  return text;
}

/** A cell that is missing is `null` in JSON. */
function parseRecord(text: string): TableRecord {
  const record = JSON.parse(text) as TableRecord;
  return { ...record, cells: record.cells.map((cell) => cell ?? undefined) };
}

/** A place for what an input is unpacked to. */
export function toScratchPath({ scratch }: InputFile, part: string): string {
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
