/** What a run rejected, as people read it: where, what stood there, and why. */
import { join } from "node:path";
import type { ShownReject } from "../plan/run-context.ts";
import { readRunRecord } from "../runs/damage.ts";
import { fileNames, type Manifest } from "../runs/folder.ts";
import type { Ledger } from "../runs/ledger.ts";
import type { RejectedLine } from "../runs/rejects-file.ts";
import { readRejectedLines, readTable } from "./rejected.ts";

const maxCharacters = 60;
/** Cells that stand for a row without a key. */
const maxCells = 3;

/**
 * Of a run that has a plan. Follows the plan: what somebody has changed in a rejects file since is not seen.
 */
export async function* readRejects(run: { manifest: Manifest; folder: string }): AsyncGenerator<ShownReject> {
  const { ledger } = await readRunRecord(run);
  yield* shownRejects(join(run.folder, fileNames.plan), ledger);
}

/** @param plan the run's own */
async function* shownRejects(plan: string, ledger: Ledger): AsyncGenerator<ShownReject> {
  const { columns } = await readTable(plan);
  const keyAt = columns.findIndex(({ target }) => target.kind === "key");
  for await (const { row, code, message } of readRejectedLines(plan, ledger)) {
    const value = shownValue(row, keyAt);
    yield { line: row.line, value: shortened(value), code, message: withoutEnd(message, `: ${value}`) };
  }
}

/** More are in the rejects file. */
const maxShown = 5;

/** As many as fit below a summary. @param plan the run's own */
export async function readFirstRejects(plan: string, ledger: Ledger): Promise<ShownReject[]> {
  const first: ShownReject[] = [];
  try {
    for await (const reject of shownRejects(plan, ledger)) {
      first.push(reject);
      if (first.length === maxShown) break;
    }
  } catch {
    // The run is over, and its summary must not be lost over this.
  }
  return first;
}

function shownValue({ cells }: RejectedLine["row"], keyAt: number): string {
  const filled = cells.map((cell = "") => cell.trim());
  return (
    filled[keyAt] ||
    filled
      .filter((cell) => cell !== "")
      .slice(0, maxCells)
      .join(", ")
  );
}

/** What is beside it already is not said twice. */
function withoutEnd(text: string, end: string): string {
  return text.endsWith(end) ? text.slice(0, -end.length) : text;
}

function shortened(value: string): string {
  return value.length > maxCharacters ? `${value.slice(0, maxCharacters - 1)}…` : value;
}
