/**
 * The rejects file: the input's own columns and three of ours, so that it can be fixed and imported as it is;
 * one more where a row lacks cells, which would come back as blank ones, and one where a row is marked as not
 * subscribed, which its cells alone may not say.
 */
import { constants, open, rm } from "node:fs/promises";
import { basename, dirname, extname, join, resolve, sep } from "node:path";
import { formatCsvLine, formatTsvLine } from "../../delimited-lines.ts";
import { openAtomicFile } from "../../disk/atomic-file.ts";
import { describeDiskError, diskFullHint } from "../../disk/disk-errors.ts";
import { exists } from "../../disk/walk.ts";
import { failedError } from "../../errors.ts";
import {
  type Cells,
  findUnknown,
  type InputFacts,
  loadIconv,
  rejectsColumns,
  type SourceForm,
} from "../../tables/index.ts";
import type { Manifest } from "./folder.ts";
import { listRuns } from "./stored-runs.ts";

export interface RejectedLine {
  row: { line: number; cells: Cells };
  /** How its input marks it as not subscribed, where its cells alone may not say so. */
  mark?: string;
  code: string;
  message: string;
}

/**
 * Writes the file whole or not at all, in the dialect of the input. Cells beyond the header follow our own
 * columns, which have no name for them: such a row is rejected again until it is fixed.
 * @param rejected is read twice
 * @param form of the input; UTF-8 text without one
 * @returns how many rows it holds; with none, no file is left
 * @throws EcmError when it cannot be written
 */
export async function writeRejects(
  file: string,
  facts: Pick<InputFacts, "columns" | "delimiter" | "hasEscapes">,
  rejected: () => AsyncIterable<RejectedLine>,
  form?: SourceForm,
): Promise<number> {
  const target = resolve(file);
  const { columns } = facts;
  // Of a rejects file that is imported again, the columns of the earlier rejection are replaced.
  const own = columns.flatMap(({ name }, index) => (rejectsColumns.has(name) ? [] : [index]));
  const listMissing = ({ row }: RejectedLine) =>
    rejectsColumns.listMissing(toWrittenCells(row.cells, columns), columns, own);
  let count = 0;
  let opened: RowsFile | undefined;
  try {
    const { saysMissing, saysMarked } = await findExtras(rejected(), listMissing);
    const ours = [
      ...rejectsColumns.reason,
      ...(saysMissing ? [rejectsColumns.missing] : []),
      ...(saysMarked ? [rejectsColumns.notSubscribed] : []),
    ];
    opened = await openRowsFile(target, facts, form);
    await opened.append([...own.map((index) => columns[index]!.name), ...ours]);
    for await (const line of rejected()) {
      const { row, mark = "", code, message } = line;
      const written = toWrittenCells(row.cells, columns);
      const cells = own.map((index) => written[index] ?? "");
      const surplus = written.slice(columns.length).map((cell = "") => cell);
      const missing = saysMissing ? [listMissing(line)] : [];
      const marked = saysMarked ? [mark] : [];
      await opened.append([...cells, String(row.line), code, message, ...missing, ...marked, ...surplus]);
      count++;
    }
    if (count > 0) await opened.commit();
    else await Promise.all([opened.discard(), rm(target, { force: true })]);
  } catch (error) {
    await opened?.discard();
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    const message = `Cannot write the rejects file ${file}: ${describeDiskError(error)}`;
    throw failedError(message, diskFullHint(error, file), { type: "RejectsFileError", cause: error });
  }
  return count;
}

/** Which further columns of ours some row needs. */
async function findExtras(
  rejected: AsyncIterable<RejectedLine>,
  listMissing: (line: RejectedLine) => string,
): Promise<{ saysMissing: boolean; saysMarked: boolean }> {
  const extras = { saysMissing: false, saysMarked: false };
  for await (const line of rejected) {
    extras.saysMissing ||= listMissing(line) !== "";
    extras.saysMarked ||= line.mark !== undefined;
    if (extras.saysMissing && extras.saysMarked) break;
  }
  return extras;
}

/** An unknown cell of a field is missing, so that it clears nothing; elsewhere it stays what nobody understands. */
function toWrittenCells(cells: Cells, columns: InputFacts["columns"]): Cells {
  return cells.map((cell, index) => {
    const unknown = findUnknown(cell);
    if (unknown === undefined) return cell;
    const kind = columns[index]?.target.kind;
    return kind === "field" || kind === "tags" || kind === "lists" ? undefined : unknown;
  });
}

interface RowsFile {
  append(cells: readonly string[]): Promise<void>;
  /** Puts the file in its place. */
  commit(): Promise<void>;
  /** Leaves what stood in its place. Never throws. */
  discard(): Promise<void>;
}

/** How cells become lines. */
type TableDialect = Pick<InputFacts, "delimiter" | "hasEscapes">;

/** Lines are gathered to pieces of this many characters before they are written. */
const pieceCharacters = 64 * 1024;

/**
 * The rows as they are written down: text in the form of the input, or a workbook.
 * @param form of the input; UTF-8 without one
 */
async function openRowsFile(path: string, dialect: TableDialect, form?: SourceForm): Promise<RowsFile> {
  return form?.kind === "workbook" ? openWorkbookFile(path) : openTextFile(path, dialect, form);
}

/** @throws the system's error when the folder cannot be written */
async function openWorkbookFile(path: string): Promise<RowsFile> {
  const { openWorkbook } = await import("../../disk/workbook.ts");
  return openWorkbook(await openAtomicFile(path), "Rejected");
}

async function openTextFile(
  path: string,
  dialect: TableDialect,
  form: SourceForm | undefined,
): Promise<RowsFile> {
  const { encode, hasMark } = await encoderFor(form);
  const file = await openAtomicFile(path);
  let piece = hasMark ? "\uFEFF" : "";
  return {
    async append(cells) {
      piece += toLine(cells, dialect);
      if (piece.length < pieceCharacters) return;
      await file.append(encode(piece));
      piece = "";
    },
    async commit() {
      await file.append(encode(piece));
      await file.commit();
    },
    discard: () => file.discard(),
  };
}

interface Encoder {
  encode(text: string): string | Buffer;
  hasMark: boolean;
}

/** What cannot be written in the encoding of the input is UTF-8, with a mark that says so. */
async function encoderFor(form: SourceForm | undefined): Promise<Encoder> {
  const { encoding, hasMark } = form ?? { encoding: "utf-8", hasMark: false };
  if (encoding === "utf-8") return { encode: (text) => text, hasMark };
  const { encode, encodingExists } = await loadIconv();
  if (!encodingExists(encoding)) return { encode: (text) => text, hasMark: true };
  return { encode: (text) => encode(text, encoding, { addBOM: false }), hasMark };
}

function toLine(cells: readonly string[], { delimiter, hasEscapes }: TableDialect): string {
  return `${hasEscapes ? formatTsvLine(cells) : formatCsvLine(cells, delimiter)}\n`;
}

interface PlaceBeside {
  path: string;
  /** It could not be written: the name is free again. */
  giveUp(): Promise<void>;
}

/** With so many files that people have changed, another one helps nobody. */
const maxFiles = 100;

/**
 * Takes a name beside the input, such as `people.rejected.csv`. A file of that name stays: somebody may be at
 * work on it. A name that a run points to stays its own, also when the file is gone: `runs retry` of that run
 * reads it.
 * @returns undefined where nothing can be written beside the input
 */
export async function takePlaceBeside(
  { file, isSpooled }: Manifest["input"],
  form: SourceForm,
  stateFolder: string,
): Promise<PlaceBeside | undefined> {
  const folder = dirname(file);
  if (isSpooled || file === "" || file.startsWith(join(resolve(stateFolder), sep))) return undefined;
  if (!(await exists(folder, constants.W_OK))) return undefined;
  const pointedTo = new Set((await listRuns(stateFolder)).map(({ manifest }) => manifest.summary?.rejects));
  for (let number = 1; number <= maxFiles; number++) {
    const path = join(folder, nameBeside(file, form, number));
    const taken = path === file || pointedTo.has(path) ? "no" : await take(path);
    if (taken === "cannot") return undefined;
    if (taken === "yes") return { path, giveUp: () => rm(path, { force: true }) };
  }
  return undefined;
}

/** `people.rejected.csv`, `people.rejected-2.csv`; of a file that is one itself, the next. */
function nameBeside(file: string, { kind }: Pick<SourceForm, "kind">, number: number): string {
  const name = basename(file).replace(/\.gz$/i, "");
  const ending = extname(name);
  const stem = basename(name, ending).replace(/\.rejected(-\d+)?$/, "");
  const isTextEnding = /^\.(?:csv|tsv|tab|txt)$/i.test(ending);
  const newEnding = kind === "workbook" ? ".xlsx" : kind === "text" && isTextEnding ? ending : ".csv";
  return `${stem}.rejected${number > 1 ? `-${number}` : ""}${newEnding}`;
}

/** Makes an empty file, so that the name is nobody else's. */
async function take(path: string): Promise<"yes" | "no" | "cannot"> {
  try {
    await (await open(path, "wx", 0o600)).close();
    return "yes";
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EEXIST" ? "no" : "cannot";
  }
}
