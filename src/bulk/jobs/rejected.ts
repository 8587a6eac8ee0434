/** What a run rejected, from its plan and what became of it: the rejects file, and what people are shown. */
import { copyFile, realpath } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { type Cells, findUnknown, type InputFacts } from "../../tables/index.ts";
import type { RunStop } from "../pace/run-stop.ts";
import { type PlanHead, readPlanHead, readPlanLines } from "../plan/plan-file.ts";
import { isPlanned, type StoredLine } from "../plan/plan-line.ts";
import { countRunRows, type Reject, type RunState } from "../plan/session.ts";
import { fileNames } from "../runs/folder.ts";
import type { Ledger } from "../runs/ledger.ts";
import { type RejectedLine, takePlaceBeside, writeRejects } from "../runs/rejects-file.ts";

/** A plan that takes longer to read again than an interrupted person waits. */
const maxRejectsAfterSignal = 5000;

/** How the input of a plan is written, or what stands for one. */
export async function readTable(plan: string): Promise<NonNullable<PlanHead["table"]>> {
  return (await readPlanHead(plan))?.head.table ?? keyTableFacts;
}

/** Of contacts that no input names. */
export const keyTableFacts: Pick<InputFacts, "columns" | "delimiter" | "hasEscapes"> = {
  columns: [{ name: "key", target: { kind: "key" } }],
  delimiter: ",",
  hasEscapes: false,
};

/**
 * Writes the rejects file into the run's folder, and to where the command wants it too; of a dry run only
 * there. For somebody at a terminal, what an import has rejected is beside its input too.
 * @param plan the run's own
 * @returns its path; null when nothing was rejected, when there is no
 *   place for it, or when it could not be written
 */
export async function writeRejected(
  state: RunState,
  stop: RunStop | undefined,
  plan: string | undefined,
): Promise<string | null> {
  const { run, options, input } = state;
  if (plan === undefined || !hasRejects(state)) return null;
  if (stop?.by === "signal" && input.read > maxRejectsAfterSignal) return null;
  const rejectsPath = options.rejects === undefined ? undefined : resolve(options.rejects);
  if (run)
    return writeRunRejects(state, { stop, plan, rejectsPath, own: join(run.folder, fileNames.rejects) });
  if (rejectsPath === undefined) return null;
  // A link stays, and what it leads to is written.
  const target = await realpath(rejectsPath).catch(() => rejectsPath);
  return (await tryWrite(target, state, plan)) ? rejectsPath : null;
}

/** Into the run's folder first, then to where people look for it. */
async function writeRunRejects(
  state: RunState,
  { stop, plan, rejectsPath, own }: { stop?: RunStop; plan: string; rejectsPath?: string; own: string },
): Promise<string | null> {
  if (!(await tryWrite(own, state, plan))) return null;
  if (rejectsPath === undefined) return (await tryWriteBeside(state, stop, plan)) ?? own;
  try {
    await copyFile(own, rejectsPath);
    return rejectsPath;
  } catch {
    state.emit({ kind: "remark", remark: { code: "rejects_file_elsewhere", file: rejectsPath } });
    return own;
  }
}

async function tryWrite(file: string, { emit, ledger }: RunState, plan: string): Promise<boolean> {
  try {
    const table = await readTable(plan);
    return (await writeRejects(file, table, () => readRejectedLines(plan, ledger))) > 0;
  } catch (error) {
    // The run is over, and its summary must not be lost over this.
    emit({ kind: "remark", remark: { code: "no_rejects_file", failure: error as Error } });
    return false;
  }
}

/**
 * Undefined for a run that has not come to its end, and where nothing
 * can be written beside the input: that is said.
 */
async function tryWriteBeside(
  { run, kind, options, engine, emit, ledger }: RunState,
  stop: RunStop | undefined,
  plan: string,
): Promise<string | undefined> {
  if (!options.isAtTerminal || kind !== "import" || stop || !run) return undefined;
  const table = await readTable(plan);
  if (!table.form) return undefined;
  const { input } = run.manifest;
  const place = await takePlaceBeside(input, table.form, engine.stateFolder);
  if (!place) {
    const folder = input.isSpooled ? undefined : dirname(input.file);
    emit({ kind: "remark", remark: { code: "rejects_in_run_only", folder } });
    return undefined;
  }
  try {
    await writeRejects(place.path, table, () => readRejectedLines(plan, ledger), table.form);
    return place.path;
  } catch (error) {
    await place.giveUp().catch(() => undefined);
    emit({ kind: "remark", remark: { code: "rejects_in_run_only", failure: error as Error } });
    return undefined;
  }
}

/** Whether a row or a contact may have a line in the file. */
function hasRejects(state: RunState): boolean {
  const remarks = state.options.isDryRun ? state.tally.remarks : state.ledger.remarks.size;
  return countRunRows(state).rejected + remarks > 0;
}

/** Rows and contacts that were rejected, in the order of the plan. */
export async function* readRejectedLines(plan: string, ledger: Ledger): AsyncGenerator<RejectedLine> {
  for await (const line of readPlanLines(plan)) {
    const reason = findReason(line, ledger);
    const row = { line: toRowNumber(line), cells: toCells(line) };
    if (reason) yield { row, mark: line.mark, ...reason };
  }
}

function findReason(
  { action, code, message, of, apply }: StoredLine,
  ledger: Ledger,
): { code: string; message: string } | undefined {
  if (action === "reject") return { code: code ?? "", message: message ?? "" };
  if (of !== undefined) return ledger.rejections.get(of);
  if (!isPlanned(apply)) return undefined;
  const { ref } = apply;
  const noted = ledger.rejections.get(ref) ?? ledger.remarks.get(ref);
  // What is to be said of a contact although it is written.
  const isToBeSaid = code !== null && !ledger.isDone(ref);
  return noted ?? (isToBeSaid ? { code, message: message ?? "" } : undefined);
}

/** Its line in the input, or its place among the contacts of the run. */
function toRowNumber({ line, apply, ref }: StoredLine): number {
  return line ?? apply?.ref ?? ref ?? 0;
}

/** A plan has null for a cell that is missing. */
function toCells({ cells = [] }: StoredLine): Cells {
  return cells.map((cell) => cell ?? undefined);
}

/**
 * What was rejected, with its cells. Follows the plan: what somebody has changed in a rejects file since is not
 * seen.
 * @param plan the run's own
 */
export async function* readRejects(plan: string, ledger: Ledger): AsyncGenerator<Reject> {
  const { columns } = await readTable(plan);
  const keyAt = columns.findIndex(({ target }) => target.kind === "key");
  for await (const { row, code, message } of readRejectedLines(plan, ledger)) {
    const value = findValue(row.cells, keyAt);
    yield { line: row.line, value, code, message, row: toRecord(row.cells, columns) };
  }
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

/** Cells that stand for a row without a key. */
const maxCells = 3;

function findValue(cells: Cells, keyAt: number): string {
  const filled = cells.map((cell = "") => cell.trim());
  return (
    filled[keyAt] ||
    filled
      .filter((cell) => cell !== "")
      .slice(0, maxCells)
      .join(", ")
  );
}

/** A row by its columns; a cell without one by its place. */
function toRecord(cells: Cells, columns: readonly { name: string }[]): Record<string, string> {
  const named = cells.flatMap((cell, index) =>
    cell === undefined ? [] : [[columns[index]?.name || String(index + 1), findUnknown(cell) ?? cell]],
  );
  return Object.fromEntries(named);
}
