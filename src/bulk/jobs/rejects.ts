/**
 * What a run rejected, from its plan and what became of it: what people are shown, and the rejects file. That has
 * the input's own columns and three of ours, so that it can be fixed and imported as it is; one more where a row
 * lacks cells, which would come back as blank ones, and one where a row is marked as not subscribed, which its
 * cells alone may not say.
 */
import { constants, copyFile, open, realpath, rm } from "node:fs/promises";
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
import type { Remark } from "../desired.ts";
import type { RunStop } from "../pace/run-stop.ts";
import { type PlanHead, readPlanHead, readPlanLines } from "../plan/plan-file.ts";
import { isPlanned, type StoredLine } from "../plan/plan-line.ts";
import { countRunRows, type Reject, type RunContext } from "../plan/session.ts";
import { fileNames, type Manifest } from "../runs/folder.ts";
import type { Ledger } from "../runs/ledger.ts";
import { listRuns } from "../runs/stored-runs.ts";
import { keyTable } from "./job.ts";

type Table = NonNullable<PlanHead["table"]>;

/** Rows and contacts that a run rejected, and how its input is written, or what stands for one. */
interface Rejected {
  table: Table;
  /** In the order of the plan. */
  lines(): AsyncGenerator<RejectedLine>;
}

interface RejectedLine {
  line: number;
  cells: Cells;
  /** How its input marks it as not subscribed, where its cells alone may not say so. */
  mark?: string;
  code: string;
  message: string;
}

async function openRejected(plan: string, ledger: Ledger): Promise<Rejected> {
  const table = (await readPlanHead(plan))?.head.table ?? keyTable;
  return {
    table,
    async *lines() {
      for await (const stored of readPlanLines(plan)) {
        const { line, cells = [], mark, apply, ref } = stored;
        const reason = findReason(stored, ledger);
        if (!reason) continue;
        const place = line ?? apply?.ref ?? ref ?? 0;
        // A plan has null for a cell that is missing.
        yield { line: place, cells: cells.map((cell) => cell ?? undefined), mark, ...reason };
      }
    },
  };
}

function findReason(
  { action, code, message, of, apply }: StoredLine,
  ledger: Ledger,
): { code: string; message: string } | undefined {
  if (action === "reject") return { code: code ?? "", message: message ?? "" };
  if (of !== undefined) return toReason(ledger.rejections.get(of));
  if (!isPlanned(apply)) return undefined;
  const { ref } = apply;
  const noted = ledger.rejections.get(ref) ?? ledger.remarks.get(ref);
  // What is to be said of a contact although it is written.
  const isToBeSaid = code !== null && !ledger.isDone(ref);
  return toReason(noted ?? (isToBeSaid ? { code, message: message ?? "" } : undefined));
}

const toReason = (remark?: Remark) => remark && { code: remark.code, message: remark.message ?? "" };

/**
 * What was rejected, with its cells. Follows the plan: what somebody has changed in a rejects file since is not
 * seen.
 * @param plan the run's own
 */
export async function* readRejects(plan: string, ledger: Ledger): AsyncGenerator<Reject> {
  const { table, lines } = await openRejected(plan, ledger);
  const { columns } = table;
  const keyAt = columns.findIndex(({ target }) => target.kind === "key");
  for await (const { line, cells, code, message } of lines()) {
    const named = cells.flatMap((cell, index) =>
      cell === undefined ? [] : [[columns[index]?.name || String(index + 1), findUnknown(cell) ?? cell]],
    );
    yield { line, value: findValue(cells, keyAt), code, message, row: Object.fromEntries(named) };
  }
}

/** The key; of a row without one its first three cells. */
function findValue(cells: Cells, keyAt: number): string {
  const filled = cells.map((cell = "") => cell.trim());
  const others = filled.filter((cell) => cell !== "").slice(0, 3);
  return filled[keyAt] || others.join(", ");
}

/** More are in the rejects file. */
const maxShown = 5;

/** As many as fit below a summary. @param plan the run's own */
export async function readFirstRejects(plan: string, ledger: Ledger): Promise<Reject[]> {
  const first: Reject[] = [];
  try {
    for await (const reject of readRejects(plan, ledger)) {
      first.push(reject);
      if (first.length === maxShown) break;
    }
  } catch {
    // The run is over, and its summary must not be lost over this.
  }
  return first;
}

/** A plan that takes longer to read again than an interrupted person waits. */
const maxRowsAfterSignal = 5000;

/**
 * Writes the rejects file into the run's folder, and then to where the command wants it; of a dry run only
 * there. For somebody at a terminal, what an import has rejected is beside its input too.
 * @param plan the run's own
 * @returns its path; null when nothing was rejected, when there is no
 *   place for it, or when it could not be written
 */
export async function writeRejected(
  state: RunContext,
  stop: RunStop | undefined,
  plan: string | undefined,
): Promise<string | null> {
  const { run, options, input, tally, ledger, emit } = state;
  const remarks = options.isDryRun ? tally.remarks : ledger.remarks.size;
  if (plan === undefined || countRunRows(state).rejected + remarks === 0) return null;
  if (stop?.by === "signal" && input.read > maxRowsAfterSignal) return null;
  const wanted = options.rejects === undefined ? undefined : resolve(options.rejects);
  // A link stays, and what it leads to is written.
  const own = run
    ? join(run.folder, fileNames.rejects)
    : wanted && (await realpath(wanted).catch(() => wanted));
  if (own === undefined) return null;
  let rejected: Rejected;
  try {
    rejected = await openRejected(plan, ledger);
    if ((await writeRejects(own, rejected)) === 0) return null;
  } catch (error) {
    // The run is over, and its summary must not be lost over this.
    emit({ kind: "remark", remark: { code: "no_rejects_file", failure: error as Error } });
    return null;
  }
  if (!run) return wanted!;
  if (wanted === undefined) return (await writeBeside(state, stop, rejected)) ?? own;
  return copyFile(own, wanted).then(
    () => wanted,
    () => {
      emit({ kind: "remark", remark: { code: "rejects_file_elsewhere", file: wanted } });
      return own;
    },
  );
}

/**
 * Undefined for a run that has not come to its end, and where nothing
 * can be written beside the input: that is said.
 */
async function writeBeside(
  { run, kind, options, engine, emit }: RunContext,
  stop: RunStop | undefined,
  rejected: Rejected,
): Promise<string | undefined> {
  const { form } = rejected.table;
  if (!options.isAtTerminal || kind !== "import" || stop || !run || !form) return undefined;
  const { input } = run.manifest;
  const path = await takeNameBeside(input, form, engine.stateFolder);
  if (path === undefined) {
    const folder = input.isSpooled ? undefined : dirname(input.file);
    emit({ kind: "remark", remark: { code: "rejects_in_run_only", folder } });
    return undefined;
  }
  try {
    await writeRejects(path, rejected, form);
    return path;
  } catch (error) {
    await rm(path, { force: true }).catch(() => undefined);
    emit({ kind: "remark", remark: { code: "rejects_in_run_only", failure: error as Error } });
    return undefined;
  }
}

/** With so many files that people have changed, another one helps nobody. */
const maxFiles = 100;

/**
 * Takes a name beside the input, such as `people.rejected.csv`, by an empty file. A file of that name stays:
 * somebody may be at work on it. A name that a run points to stays its own, also when the file is gone: `runs
 * retry` of that run reads it.
 * @returns undefined where nothing can be written beside the input
 */
async function takeNameBeside(
  { file, isSpooled }: Manifest["input"],
  form: SourceForm,
  stateFolder: string,
): Promise<string | undefined> {
  const folder = dirname(file);
  if (isSpooled || file === "" || file.startsWith(join(resolve(stateFolder), sep))) return undefined;
  if (!(await exists(folder, constants.W_OK))) return undefined;
  const pointedTo = new Set((await listRuns(stateFolder)).map(({ manifest }) => manifest.summary?.rejects));
  for (let number = 1; number <= maxFiles; number++) {
    const path = join(folder, nameBeside(file, form, number));
    if (path === file || pointedTo.has(path)) continue;
    try {
      await (await open(path, "wx", 0o600)).close();
      return path;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") return undefined;
    }
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

/** Makes the rejects file of a run again. @param file in its folder */
export async function rewriteRejects(file: string, plan: string, ledger: Ledger): Promise<void> {
  await writeRejects(file, await openRejected(plan, ledger));
}

/**
 * Writes the file whole or not at all, in the dialect of the input. Cells beyond the header follow our own
 * columns, which have no name for them: such a row is rejected again until it is fixed.
 * @param form of the input; UTF-8 text without one
 * @returns how many rows it holds; with none, no file is left
 * @throws EcmError when it cannot be written
 */
async function writeRejects(file: string, { table, lines }: Rejected, form?: SourceForm): Promise<number> {
  const { columns } = table;
  // Of a rejects file that is imported again, the columns of the earlier rejection are replaced.
  const own = columns.flatMap(({ name }, index) => (rejectsColumns.has(name) ? [] : [index]));
  const listMissing = (cells: Cells) => rejectsColumns.listMissing(cells, columns, own);
  let count = 0;
  let opened: RowsFile | undefined;
  try {
    let [saysMissing, saysMarked] = [false, false];
    for await (const { cells, mark } of lines()) {
      saysMissing ||= listMissing(toWrittenCells(cells, columns)) !== "";
      saysMarked ||= mark !== undefined;
    }
    opened = await openRowsFile(file, table, form);
    await opened.append([
      ...own.map((index) => columns[index]!.name),
      ...rejectsColumns.reason,
      ...(saysMissing ? [rejectsColumns.missing] : []),
      ...(saysMarked ? [rejectsColumns.notSubscribed] : []),
    ]);
    for await (const { line, cells, mark = "", code, message } of lines()) {
      const written = toWrittenCells(cells, columns);
      await opened.append([
        ...own.map((index) => written[index] ?? ""),
        ...[String(line), code, message],
        ...(saysMissing ? [listMissing(written)] : []),
        ...(saysMarked ? [mark] : []),
        ...written.slice(columns.length).map((cell = "") => cell),
      ]);
      count++;
    }
    if (count > 0) await opened.commit();
    else await Promise.all([opened.discard(), rm(file, { force: true })]);
  } catch (error) {
    await opened?.discard();
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    const message = `Cannot write the rejects file ${file}: ${describeDiskError(error)}`;
    throw failedError(message, diskFullHint(error, file), { type: "RejectsFileError", cause: error });
  }
  return count;
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

/** The rows as they are written down: text in the form of the input, or a workbook. */
interface RowsFile {
  append(cells: readonly string[]): Promise<void>;
  /** Puts the file in its place. */
  commit(): Promise<void>;
  /** Leaves what stood in its place. Never throws. */
  discard(): Promise<void>;
}

async function openRowsFile(path: string, table: Table, form?: SourceForm): Promise<RowsFile> {
  if (form?.kind !== "workbook") return openTextFile(path, table, form);
  const { openWorkbook } = await import("../../disk/workbook.ts");
  return openWorkbook(await openAtomicFile(path), "Rejected");
}

/** Lines are gathered to pieces of this many characters before they are written. */
const pieceCharacters = 64 * 1024;

/** What cannot be written in the encoding of the input is UTF-8, with a mark that says so. */
async function openTextFile(
  path: string,
  { delimiter, hasEscapes }: Table,
  { encoding, hasMark }: Pick<SourceForm, "encoding" | "hasMark"> = { encoding: "utf-8", hasMark: false },
): Promise<RowsFile> {
  const iconv = encoding === "utf-8" ? undefined : await loadIconv();
  const isKnown = iconv?.encodingExists(encoding) ?? false;
  const encode = (text: string) => (isKnown ? iconv!.encode(text, encoding, { addBOM: false }) : text);
  const file = await openAtomicFile(path);
  let piece = hasMark || (iconv && !isKnown) ? "\uFEFF" : "";
  return {
    async append(cells) {
      piece += `${hasEscapes ? formatTsvLine(cells) : formatCsvLine(cells, delimiter)}\n`;
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
