/** Too many rejected rows stop a run: the mapping is probably wrong. */
import { formatCounted } from "../../counts.ts";
import { EcmError, exitCodes } from "../../errors.ts";
import { RunStop } from "../pace/run-stop.ts";
import { countPlannedWrites } from "../plan/numbers.ts";
import { countRunRows, type RunState } from "../plan/session.ts";

/** Rejected rows that stop a run of which nothing was accepted. */
const defaultMaxRejects = 50;

/** Undefined where not too many are rejected so far. */
export function findMaxRejectsStop(state: RunState): RunStop | undefined {
  const { maxRejects } = state.options.guards ?? {};
  const { rejected, read, created, updated, deleted, unchanged } = countRunRows(state);
  if (!maxRejects) {
    const isAccepted = created + updated + deleted + unchanged > 0;
    // While it is planned, a row that will be written is accepted.
    const isPlanning = state.ledger.counts.rejected === 0;
    if (rejected < defaultMaxRejects || isAccepted || (isPlanning && countPlannedWrites(state.tally) > 0))
      return undefined;
  } else if ("rows" in maxRejects) {
    if (rejected < Math.max(1, maxRejects.rows)) return undefined;
  } else if (rejected === 0 || rejected * 100 < maxRejects.percent * read) return undefined;
  return new RunStop(
    "max-rejects",
    new EcmError(
      exitCodes.rejectedRows,
      `Stopped: ${formatCounted(rejected, "row was", "rows were")} rejected`,
      {
        type: "TooManyRejectsError",
        hint: "Check the mapping, or allow more with --max-rejects",
        allowedBy: ["--max-rejects", `${rejected + 1}`],
      },
    ),
  );
}
