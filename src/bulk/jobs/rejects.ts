/**
 * What a run rejected, from its plan and what became of it: what people are shown, and the rejects file. That
 * has the input's own columns and three of ours, so that it can be fixed and imported as it is; one more
 * where a row lacks cells, which would come back as blank ones, and one where a row is marked as not
 * subscribed, which its cells alone may not say.
 */
import { open, realpath, rm } from "node:fs/promises";
import { basename, dirname, extname, join, resolve, sep } from "node:path";
import { formatCsvLine, formatTsvLine } from "../../delimited-lines.ts";
import { AtomicFile } from "../../disk/atomic-file.ts";
import { describeDiskError, diskFullHint } from "../../disk/disk-errors.ts";
import { failedError } from "../../errors.ts";
import {
  type Cells,
  findUnknown,
  type InputFacts,
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

/** What a run has rejected: its own plan, and what became of it. */
interface Rejected {
  plan: string;
  ledger: Ledger;
}

/** A row or contact that was rejected, in the order of the plan. */
interface RejectedLine extends Omit<Reject, "value" | "row"> {
  cells: Cells;
  /** How its input marks it as not subscribed, where its cells alone may not say so. */
  mark?: string;
}

async function* readLines({ plan, ledger }: Rejected): AsyncGenerator<RejectedLine> {
  for await (const stored of readPlanLines(plan)) {
    const reason = findReason(stored, ledger);
    if (!reason) continue;
    const { line, cells = [], mark, apply, ref } = stored;
    const { code, message = "" } = reason;
    const place = line ?? apply?.ref ?? ref ?? 0;
    // A plan has null for a cell that is missing.
    yield { line: place, cells: cells.map((cell) => cell ?? undefined), mark, code, message };
  }
}

function findReason({ action, code, message, of, apply }: StoredLine, ledger: Ledger): Remark | undefined {
  const planned = code === null ? undefined : { code, message: message ?? "" };
  if (action === "reject") return planned;
  if (of !== undefined) return ledger.rejections.get(of);
  if (!isPlanned(apply)) return undefined;
  const { ref } = apply;
  const noted = ledger.rejections.get(ref) ?? ledger.remarks.get(ref);
  // What is to be said of a contact although it is written.
  return noted ?? (ledger.isDone(ref) ? undefined : planned);
}

/** How the input is written, or what stands for one. */
async function readTable({ plan }: Rejected): Promise<Table> {
  return (await readPlanHead(plan))?.head.table ?? keyTable;
}

/**
 * What was rejected, with its cells. Follows the plan: what somebody has changed in a rejects file since is
 * not seen.
 */
export async function* readRejects(rejected: Rejected): AsyncGenerator<Reject> {
  const { columns } = await readTable(rejected);
  const keyAt = columns.findIndex(({ target }) => target.kind === "key");
  for await (const { line, cells, code, message } of readLines(rejected)) {
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

/** The first rejects, as many as fit below a summary. */
export async function readFirstRejects(rejected: Rejected): Promise<Reject[]> {
  const first: Reject[] = [];
  for await (const reject of readRejects(rejected)) if (first.push(reject) === maxShown) break;
  return first;
}

/**
 * Writes the rejects file into the run's folder, and besides to where the command wants it, or, for somebody
 * at a terminal, beside the input of an import that has come to its end.
 * @param plan the run's own
 * @returns the path of the last one; null when nothing was rejected, or when none could be written
 */
export async function writeRejected(
  context: RunContext,
  stop: RunStop | undefined,
  plan: string,
): Promise<string | null> {
  const { run, kind, options, tally, ledger, emit } = context;
  const remarks = options.isDryRun ? tally.remarks : ledger.remarks.size;
  if (countRunRows(context).rejected + remarks === 0) return null;
  const rejected = { plan, ledger };
  let written: string | null = null;
  try {
    if (run) {
      const own = join(run.folder, fileNames.rejects);
      if ((await writeRejects(own, rejected)) === 0) return null;
      written = own;
    }
    if (options.rejects !== undefined) {
      const wanted = resolve(options.rejects);
      // A link stays, and what it leads to is written.
      const count = await writeRejects(await realpath(wanted).catch(() => wanted), rejected);
      return count === 0 ? null : wanted;
    }
    if (!options.isAtTerminal || kind !== "import" || stop || !run) return written;
    return (await writeBeside(context, run.manifest.input, rejected)) ?? written;
  } catch (error) {
    // The run is over, and its summary must not be lost over this.
    const code = written === null ? "no_rejects_file" : "rejects_in_run_only";
    emit({ kind: "remark", remark: { code, failure: error as Error } });
    return written;
  }
}

/** Undefined where nothing can be written beside the input: that is said. */
async function writeBeside(
  { engine, emit }: RunContext,
  input: Manifest["input"],
  rejected: Rejected,
): Promise<string | undefined> {
  const { form } = await readTable(rejected);
  if (!form) return undefined;
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
    throw error;
  }
}

/**
 * Takes a name beside the input, such as `people.rejected.csv`, by an empty file. A file of that name stays:
 * somebody may be at work on it. A name that a run points to stays its own, also when the file is gone:
 * `runs retry` reads it.
 * @returns undefined where nothing can be written beside the input
 */
async function takeNameBeside(
  { file, isSpooled }: Manifest["input"],
  form: SourceForm,
  stateFolder: string,
): Promise<string | undefined> {
  if (isSpooled || file === "" || file.startsWith(join(resolve(stateFolder), sep))) return undefined;
  const pointedTo = new Set((await listRuns(stateFolder)).map(({ manifest }) => manifest.summary?.rejects));
  for (let number = 1; ; number++) {
    const path = join(dirname(file), nameBeside(file, form, number));
    if (path === file || pointedTo.has(path)) continue;
    try {
      await (await open(path, "wx", 0o600)).close();
      return path;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") return undefined;
    }
  }
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

/**
 * Writes the file whole or not at all, with the delimiter of the input. Cells beyond the header follow our
 * own columns, which have no name for them: such a row is rejected again until it is fixed.
 * @param form of the input; text without one
 * @returns how many rows it holds; with none, no file is left
 * @throws EcmError when it cannot be written
 */
export async function writeRejects(file: string, rejected: Rejected, form?: SourceForm): Promise<number> {
  const table = await readTable(rejected);
  const { columns } = table;
  // A rejects file may be imported again: the columns of the earlier rejection are replaced.
  const own = columns.flatMap(({ name }, index) => (rejectsColumns.has(name) ? [] : [index]));
  const listMissing = (cells: Cells) => rejectsColumns.listMissing(cells, columns, own);
  let count = 0;
  let opened: AtomicFile | undefined;
  try {
    let [saysMissing, saysMarked] = [false, false];
    for await (const { cells, mark } of readLines(rejected)) {
      saysMissing ||= listMissing(toWrittenCells(cells, columns)) !== "";
      saysMarked ||= mark !== undefined;
    }
    opened = new AtomicFile(file);
    const { append, end } = await openRows(opened, table, form);
    await append([
      ...own.map((index) => columns[index]!.name),
      ...rejectsColumns.reason,
      ...(saysMissing ? [rejectsColumns.missing] : []),
      ...(saysMarked ? [rejectsColumns.notSubscribed] : []),
    ]);
    for await (const { line, cells, mark = "", code, message } of readLines(rejected)) {
      const written = toWrittenCells(cells, columns);
      await append([
        ...own.map((index) => written[index] ?? ""),
        ...[String(line), code, message],
        ...(saysMissing ? [listMissing(written)] : []),
        ...(saysMarked ? [mark] : []),
        ...written.slice(columns.length).map((cell = "") => cell),
      ]);
      count++;
    }
    await end();
    if (count > 0) opened.commit();
    else await rm(file, { force: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    const message = `Cannot write the rejects file ${file}: ${describeDiskError(error)}`;
    throw failedError(message, diskFullHint(error, file), { type: "RejectsFileError", cause: error });
  } finally {
    opened?.discard();
  }
  return count;
}

/** An unknown cell of a field is missing, so that it clears nothing; in any other column it stays. */
function toWrittenCells(cells: Cells, columns: InputFacts["columns"]): Cells {
  return cells.map((cell, index) => {
    const unknown = findUnknown(cell);
    if (unknown === undefined) return cell;
    const kind = columns[index]?.target.kind;
    return kind === "field" || kind === "tags" || kind === "lists" ? undefined : unknown;
  });
}

/** Writes rows into the file: as text, or as a workbook. */
async function openRows(
  file: AtomicFile,
  { delimiter, hasEscapes }: Table,
  { kind, encoding, hasMark }: SourceForm = { kind: "text", encoding: "utf-8", hasMark: false },
): Promise<{ append(cells: readonly string[]): Promise<void>; end(): Promise<void> }> {
  if (kind === "workbook") {
    const { openWorkbook } = await import("../../disk/workbook.ts");
    return openWorkbook(file, "Rejected");
  }
  // Programs that have written another encoding read UTF-8 by its mark.
  if (hasMark || encoding !== "utf-8") file.append("\uFEFF");
  return {
    append: async (cells) =>
      file.append(`${hasEscapes ? formatTsvLine(cells) : formatCsvLine(cells, delimiter)}\n`),
    end: async () => undefined,
  };
}
