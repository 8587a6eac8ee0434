/** What is left of a closed plan and what it costs, and the rejected rows that stop a run. */
import { formatCounted } from "../../counts.ts";
import { EcmError } from "../../errors.ts";
import { RunStop } from "../pace/run-stop.ts";
import { computePlanPrice, countPlannedWrites, type PlanRest, type Price } from "../plan/numbers.ts";
import type { ClosedPlan } from "../plan/plan-file.ts";
import { isPlanned } from "../plan/plan-line.ts";
import { countRunRows, type RunState } from "../plan/session.ts";
import { countRequestsAfter } from "../runs/folder.ts";
import type { Ledger } from "../runs/ledger.ts";
import type { Contacts } from "./job.ts";

/**
 * With everything decided the price is exact.
 * @param oldPlan an earlier invocation has made it
 */
export async function findPlanPrice(
  state: RunState,
  contacts: Contacts,
  oldPlan: ClosedPlan | undefined,
): Promise<Price> {
  const { lookup, judging, names, after } = contacts;
  const rest = oldPlan
    ? await computeRestOfOldPlan(oldPlan, state.ledger, contacts)
    : toPlanRest(state.tally, contacts);
  const creations = state.ledger.names.size > 0 ? 0 : (names?.requestsToCreate ?? 0);
  const statuses = lookup.readsStatusById ? (rest.secondLooks ?? 0) : 0;
  const further = creations + statuses + countRequestsAfter(after);
  // Who is read by the id is read right before the write in any case.
  const lookedUpTogether = judging.looks.by === "id" ? { ...rest, changes: 0, secondLooks: 0 } : rest;
  return computePlanPrice(state, lookedUpTogether, { further, blockSize: lookup.blockSize });
}

/** Of a plan that was not applied yet. */
function toPlanRest(tally: RunState["tally"], { lookup }: Contacts): PlanRest {
  const { requests, updated, removed, deleted, unsubscribed } = tally;
  const changes = updated + removed + deleted;
  const writes = countPlannedWrites(tally);
  const leaving = unsubscribed + deleted;
  // Where no search tells the status, each is read by its id as well.
  const readById = lookup.behavior.get("source") === "common" ? leaving : 0;
  const secondLooks = leaving === 0 ? 0 : Math.ceil(writes / lookup.blockSize) + readById;
  return { writes, requests, changes, secondLooks };
}

/** Contacts are looked up again in groups of so many lines of the plan, whoever of them has to be. */
async function computeRestOfOldPlan(
  { lines }: ClosedPlan,
  ledger: Ledger,
  { judging, lookup: { blockSize } }: Contacts,
): Promise<PlanRest> {
  const isReadById = judging.looks.by === "id";
  const rest = { writes: 0, requests: 0, changes: 0, searches: 0 };
  let isLookedUp = false;
  for await (const { apply } of lines()) {
    if (!isPlanned(apply) || ledger.isDone(apply.ref)) continue;
    if (rest.writes % blockSize === 0) isLookedUp = false;
    rest.writes++;
    rest.requests++;
    if (apply.before === undefined) continue;
    if (isReadById) rest.requests++;
    else if (!isLookedUp) rest.searches++;
    isLookedUp = true;
  }
  return rest;
}

/** What the plan still writes. */
export function subtractSettled({ tally, ledger: { counts } }: RunState): RunState["tally"] {
  const { created, updated, removed, deleted } = tally;
  return {
    ...tally,
    created: Math.max(0, created - counts.created),
    updated: Math.max(0, updated - counts.updated),
    removed: Math.max(0, removed - counts.removed),
    deleted: Math.max(0, deleted - counts.deleted),
  };
}

/** Rejected rows that stop a run of which nothing was accepted. */
const defaultMaxRejects = 50;

/** Too many rejected rows stop a run: the mapping is probably wrong. Undefined where they are not too many so far. */
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
      "rejected rows",
      `Stopped: ${formatCounted(rejected, "row was", "rows were")} rejected`,
      "Check the mapping, or allow more with --max-rejects",
      { allowedBy: ["--max-rejects", `${rejected + 1}`] },
    ),
  );
}
