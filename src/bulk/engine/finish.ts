/** The end of a run: its summary, in the report and in its folder. */
import { asRunStop, type RunStop, timestampAfter } from "../pacing/run-stop.ts";
import { writeManifest } from "../runs/folder.ts";
import { createLedger } from "../runs/ledger.ts";
import { countCodes, type SettledByInput, type Summary } from "../runs/report.ts";
import { noteUnreported } from "../runs/reported.ts";
import { monthStop, type Price, priceOfRest } from "./estimate.ts";
import type { RunContext } from "./run-context.ts";
import { type RunState, rowsOf } from "./session.ts";

/** What a run came to, besides its counts. */
export interface Ending {
  stop?: RunStop;
  /** What was said before the first write. */
  price?: Price;
  /** Requests of a real run that a dry run finds besides one for each contact that it would write. */
  furtherRequests?: number;
  rejects?: string | null;
  /** Where deleted contacts were written before they were deleted, if it was now. */
  backup?: string;
}

export interface Closed {
  summary: Summary;
  /** What a real run would cost, after a dry run that came to its end. */
  price?: Price;
  stop?: RunStop;
}

/** The rows of a run that ends before its input was read. */
export const nothingRead: SettledByInput = {
  read: 0,
  rejectedCodes: new Map(),
  passedOver: 0,
  passedOverAre: "skipped",
};

/** Sums up for a run that was never entered: rows that were read are pending. */
export function closeUnentered(
  context: RunContext,
  stop: RunStop,
  input: SettledByInput = nothingRead,
): Promise<Closed> {
  return closeRun({ ...context, input, ledger: createLedger(), run: undefined }, { stop });
}

/** Sums up, and writes it down. A disk that cannot take the end of a run has stopped it. */
export async function closeRun(state: RunState, ending: Ending): Promise<Closed> {
  const { run, ledger, clock, options } = state;
  const { stop } = ending;
  const price = run ? ending.price : priceOfRealRun(state, ending);
  const summary = summaryOf(state, { ...ending, price });
  if (!run) {
    // What the month cannot hold is refused before its first write: a dry run says so too.
    const refusal = stop ?? (price && monthStop(price, options));
    return { summary: { ...summary, stoppedBy: refusal?.by ?? null }, stop: refusal, price };
  }
  const at = clock.now();
  const record = stop ? ({ kind: "stop", at, by: stop.by } as const) : ({ kind: "end", at } as const);
  try {
    run.journal.append(record);
    await run.journal.sync();
    ledger.take(record);
    if (!stop) await noteUnreported(run.folder);
    await writeManifest(run.folder, { ...run.manifest, summary });
  } catch (error) {
    // A stop that is under way says more than a disk that cannot take its note.
    if (stop) return { summary, stop };
    const failure = asRunStop(error);
    return { summary: { ...summary, status: "stopped", stoppedBy: "error" }, stop: failure };
  }
  return { summary, stop };
}

/** A run that was completed by an earlier invocation, which did not come to say so. */
export function closeCompleted({ send, emit }: RunContext, completed: Summary): Closed {
  const text = `Run ${completed.run} is completed; this is its summary. Run the command again to start a new run`;
  emit({ kind: "remark", text });
  return { summary: { ...completed, requests: { ...send.counts } } };
}

function summaryOf(state: RunState, { stop, price, rejects, backup }: Ending): Summary {
  const { kind, subject, run, ledger, input, send } = state;
  const rows = rowsOf(state);
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
    resumableAt: timestampAfter(stop?.resumableAt),
    codes: countCodes(input, ledger),
    inactive: ledger.inactive,
    consent: {
      not_subscribed: ledger.codes.skipped.get("not_subscribed") ?? 0,
      suppressed: ledger.codes.skipped.get("suppressed") ?? 0,
      inactive: ledger.inactive,
      marked: ledger.marked.size,
    },
    partial: kind === "undo" ? ledger.remarks.size : undefined,
    members:
      kind === "sync"
        ? { added: rows.created + ledger.counts.updated, removed: ledger.counts.removed }
        : undefined,
  };
}

/** A real run looks up as this dry run did, and then writes. */
function priceOfRealRun(state: RunState, { furtherRequests = 0 }: Ending): Price {
  const { created, updated, deleted } = rowsOf(state);
  return priceOfRest(state, { left: created + updated + deleted + furtherRequests, isExact: true });
}
