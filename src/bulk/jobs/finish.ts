/** The end of a run: its summary, in the report and in its folder. */
import { formatResetTime, type RunStop, toErrorStop } from "../pace/run-stop.ts";
import { createTally, findGuardFailure, findMonthStop, type Price } from "../plan/numbers.ts";
import { countRunRows, type Reject, type RunContext, type RunState } from "../plan/session.ts";
import { type ListDeletion, writeManifest } from "../runs/folder.ts";
import { Ledger } from "../runs/ledger.ts";
import { countCodes, type SettledByInput, type Summary } from "../runs/report.ts";

/** What a run came to, besides its counts. */
export interface Ending {
  stop?: RunStop;
  /** What was said before the first write. */
  price?: Price;
  rejects?: string | null;
  /** Where deleted contacts were written before they were deleted, if it was now. */
  backup?: string;
}

export interface Closed {
  summary: Summary;
  /** What was said before the first write. */
  price?: Price;
  stop?: RunStop;
  /** What follows on a run that is complete. */
  after?: readonly ListDeletion[];
  /** For somebody at a terminal. */
  firstRejects?: readonly Reject[];
}

/** The rows of a run that ends before its input was read. */
export const noInput: SettledByInput = { read: 0, skipped: {}, rejected: {} };

/** Sums up for a run that was never entered. */
export function closeUnentered(context: RunContext, stop: RunStop): Promise<Closed> {
  const state = { ...context, input: noInput, tally: createTally(), ledger: new Ledger(), run: undefined };
  return closeRun(state, { stop });
}

/** Sums up, and writes it down. A disk that cannot take the end of a run has stopped it. */
export async function closeRun(state: RunState, ending: Ending): Promise<Closed> {
  const { run, ledger, clock, options } = state;
  const { stop, price } = ending;
  const summary = createSummary(state, ending);
  if (!run) {
    // What is refused before its first write: a dry run says so too.
    const refusal = stop ?? (price && (findMonthStop(price, options) ?? findGuardStop(state)));
    return { summary: { ...summary, stoppedBy: refusal?.by ?? null }, stop: refusal, price };
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
export function foreseeSummary(state: RunState, price: Price): Summary {
  const { options } = state;
  const unbegun = { ...state, run: undefined, ledger: new Ledger(), options: { ...options, isDryRun: true } };
  return createSummary(unbegun, { price });
}

function findGuardStop({ tally, options }: RunState): RunStop | undefined {
  const failure = findGuardFailure(tally, options.guards);
  return failure && toErrorStop(failure);
}

function createSummary(state: RunState, { stop, price, rejects, backup }: Ending): Summary {
  const { kind, subject, run, ledger, tally, send, options } = state;
  const rows = countRunRows(state);
  const codes = countCodes(state);
  const inactive = tally.inactive + ledger.inactive;
  return {
    run: run?.manifest.id ?? null,
    kind,
    status: stop ? "stopped" : run ? "completed" : "dry-run",
    file: subject,
    rows,
    requests: { ...send.counts },
    estimate: {
      requests: price?.estimate.requests ?? send.counts.total,
      seconds: price?.estimate.seconds ?? 0,
    },
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
    partial:
      kind === "undo" ? (options.isDryRun ? tally : { remarks: ledger.remarks.size }).remarks : undefined,
    members: countMembers(state),
  };
}

/** Of a sync, and of a plan that takes members out of a list. */
function countMembers({ kind, options, tally, ledger }: RunState): Summary["members"] {
  if (kind !== "sync" && tally.removed === 0) return undefined;
  const { created, updated, removed } = options.isDryRun ? tally : ledger.counts;
  return { added: created + updated, removed };
}
