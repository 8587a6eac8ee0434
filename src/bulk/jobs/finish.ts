/** What a run costs and what it came to: the price of the rest of its plan, and its summary at the end. */
import type { EcmError } from "../../errors.ts";
import { isStatusUntold } from "../../service/contact-search.ts";
import { formatResetTime, type RunStop, toErrorStop } from "../pace/run-stop.ts";
import {
  computePlanPrice,
  countPlannedWrites,
  findMonthStop,
  type PlanRest,
  type PlanTally,
  type Price,
} from "../plan/numbers.ts";
import type { ClosedPlan } from "../plan/plan-file.ts";
import { isPlanned } from "../plan/plan-line.ts";
import { countRunRows, type Reject, type RunContext } from "../plan/session.ts";
import { countRequestsAfter, type ListDeletion, writeManifest } from "../runs/folder.ts";
import { Ledger } from "../runs/ledger.ts";
import { countCodes, type Summary } from "../runs/report.ts";
import type { Contacts } from "./job.ts";

/** What a run came to, besides its counts. */
export interface Ending {
  stop?: RunStop;
  /** What was said before the first write. */
  price?: Price;
  /** The plan does more than its guards allow. */
  refusal?: EcmError;
  rejects?: string | null;
  /** Where deleted contacts were written before they were deleted, if it was now. */
  backup?: string;
}

export interface Closed {
  summary: Summary;
  price?: Price;
  stop?: RunStop;
  /** What follows on a run that is complete. */
  after?: readonly ListDeletion[];
  /** For somebody at a terminal. */
  firstRejects?: readonly Reject[];
}

/** Sums up, and writes it down. A disk that cannot take the end of a run has stopped it. */
export async function closeRun(context: RunContext, ending: Ending): Promise<Closed> {
  const { run, ledger, clock, options } = context;
  const { stop, price, refusal } = ending;
  const summary = createSummary(context, ending);
  if (!run) {
    // What is refused before its first write: a dry run says so too.
    const refused = stop ?? (price && findMonthStop(price, options)) ?? (refusal && toErrorStop(refusal));
    return { summary: { ...summary, stoppedBy: refused?.by ?? null }, stop: refused, price };
  }
  const at = clock.now();
  const record = stop ? ({ kind: "stop", at, by: stop.by } as const) : ({ kind: "end", at } as const);
  try {
    run.journal.append(record);
    await run.journal.sync();
    ledger.take(record);
    await writeManifest(run.folder, { ...run.manifest, summary });
  } catch (error) {
    // A stop that is under way says more than a disk that cannot take its note.
    if (stop) return { summary, stop, price };
    const failure = toErrorStop(error);
    return { summary: { ...summary, status: "stopped", stoppedBy: "error" }, stop: failure };
  }
  return { summary, stop, price, after: stop ? undefined : run.manifest.after };
}

/** What a run would come to, as a dry run has it. */
export function foreseeSummary(context: RunContext, price: Price): Summary {
  const options = { ...context.options, isDryRun: true };
  return createSummary({ ...context, run: undefined, ledger: new Ledger(), options }, { price });
}

function createSummary(context: RunContext, { stop, price, rejects, backup }: Ending): Summary {
  const { kind, subject, run, ledger, tally, send, options } = context;
  const codes = countCodes(context);
  const inactive = tally.inactive + ledger.inactive;
  const { created, updated, removed } = options.isDryRun ? tally : ledger.counts;
  const remarks = options.isDryRun ? tally.remarks : ledger.remarks.size;
  return {
    run: run?.manifest.id ?? null,
    kind,
    status: stop ? "stopped" : run ? "completed" : "dry-run",
    file: subject,
    rows: countRunRows(context),
    requests: { ...send.counts },
    estimate: price?.estimate ?? { requests: send.counts.total, seconds: 0 },
    rejects: rejects ?? null,
    backup: backup ?? run?.manifest.summary?.backup,
    stoppedBy: stop?.by ?? null,
    resumableAt: formatResetTime(stop?.resumableAt),
    codes,
    inactive,
    consent: {
      not_subscribed: codes.skipped.not_subscribed ?? 0,
      suppressed: codes.skipped.suppressed ?? 0,
      inactive,
      marked: tally.marked,
    },
    partial: kind === "undo" ? remarks : undefined,
    // A sync has them, and so has a plan that takes members out of a list.
    members: kind === "sync" || tally.removed > 0 ? { added: created + updated, removed } : undefined,
  };
}

/**
 * With everything decided the price is exact.
 * @param oldPlan an earlier invocation has made it @param after what follows on the run
 */
export async function findPlanPrice(
  context: RunContext,
  contacts: Contacts,
  { oldPlan, after }: { oldPlan: ClosedPlan | undefined; after: readonly ListDeletion[] | undefined },
): Promise<Price> {
  const { lookup, judging, names } = contacts;
  const { ledger, tally } = context;
  const rest = oldPlan ? await computeRestOfOldPlan(oldPlan, ledger, contacts) : toPlanRest(tally, contacts);
  const creations = ledger.names.size > 0 ? 0 : (names?.requestsToCreate ?? 0);
  const statuses = lookup.keys.readsStatusById ? (rest.secondLooks ?? 0) : 0;
  const further = creations + statuses + countRequestsAfter(after);
  // Contacts that are read by their ids are read right before their write in any case: no search is counted.
  const lookedUpTogether = judging.looks.by === "id" ? { ...rest, changes: 0, secondLooks: 0 } : rest;
  return computePlanPrice(context, lookedUpTogether, { further, blockSize: lookup.blockSize });
}

/** What is left of a plan that was not applied yet: all of it. */
function toPlanRest(tally: PlanTally, { lookup }: Contacts): PlanRest {
  const { requests, updated, removed, deleted, unsubscribed } = tally;
  const changes = updated + removed + deleted;
  const writes = countPlannedWrites(tally);
  const leaving = unsubscribed + deleted;
  // Where no search tells the status, each is read by its id as well.
  const readById = isStatusUntold(lookup.behavior) ? leaving : 0;
  const secondLooks = leaving === 0 ? 0 : Math.ceil(writes / lookup.blockSize) + readById;
  return { writes, requests, changes, secondLooks };
}

/** Contacts are looked up again in groups of so many lines of the plan, where one of the group has to be. */
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
export function subtractSettled({ tally, ledger: { counts } }: RunContext): PlanTally {
  const left = { ...tally };
  for (const what of ["created", "updated", "removed", "deleted"] as const)
    left[what] = Math.max(0, tally[what] - counts[what]);
  return left;
}
