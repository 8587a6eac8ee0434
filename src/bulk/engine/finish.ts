/** The end of a run: its summary, in the report and in its folder. */
import type { Clock } from "../../wire.ts";
import type { Budget } from "../pacing/budget.ts";
import type { PacedSend } from "../pacing/paced-send.ts";
import { asRunStop, type RunStop } from "../pacing/run-stop.ts";
import type { EnteredRun } from "../runs/enter.ts";
import { writeManifest } from "../runs/folder.ts";
import type { Ledger } from "../runs/ledger.ts";
import { countCodes, countRows, type SettledByInput, type Summary } from "../runs/report.ts";
import { monthStop, type Price, priceOf } from "./estimate.ts";

export interface Closing {
  kind: Summary["kind"];
  file: string;
  input: SettledByInput;
  ledger: Ledger;
  /** Absent in a dry run. */
  run?: EnteredRun;
  stop?: RunStop;
  send: PacedSend;
  budget: Budget;
  clock: Clock;
  reserve: number;
  concurrency: number;
  /** What was said before the first write. */
  price?: Price;
  /** Requests of a real run that a dry run has not counted: for what is to be made first. */
  requestsToCreate: number;
  rejects: string | null;
  /** Where deleted contacts were written before they were deleted, if it was now. */
  backup?: string;
  /** Requests of a real run beyond one for each contact, as a dry run has found them. */
  furtherRequests?: number;
  /** What limits a real run. */
  maxRequests?: number;
  isSync: boolean;
}

export interface Closed {
  summary: Summary;
  /** What a real run would cost, after a dry run that came to its end. */
  price?: Price;
  stop?: RunStop;
}

/** Sums up, and writes it down. A disk that cannot take the end of a run has stopped it. */
export async function closeRun(closing: Closing): Promise<Closed> {
  const { run, ledger, clock, stop } = closing;
  const price = run
    ? closing.price
    : priceOfRealRun(closing, writesIn(closing) + (closing.furtherRequests ?? 0));
  const summary = summaryOf(closing, price);
  if (!run) {
    // What the month cannot hold is refused before its first write: a dry run says so too.
    const refusal = stop ?? (price && monthStop(price, closing));
    return { summary: { ...summary, stoppedBy: refusal?.by ?? null }, stop: refusal, price };
  }
  const at = clock.now();
  try {
    run.journal.append(stop ? { kind: "stop", at, by: stop.by } : { kind: "end", at });
    await run.journal.sync();
    ledger.take(stop ? { kind: "stop", at, by: stop.by } : { kind: "end", at });
    await writeManifest(run.folder, { ...run.manifest, summary });
  } catch (error) {
    // A stop that is under way says more than a disk that cannot take its note.
    if (stop) return { summary, stop };
    const failure = asRunStop(error);
    return { summary: { ...summary, status: "stopped", stoppedBy: "error" }, stop: failure };
  }
  return { summary, stop };
}

function writesIn({ input, ledger }: Closing): number {
  const rows = countRows(input, ledger);
  return rows.created + rows.updated + rows.deleted;
}

function summaryOf(closing: Closing, price: Price | undefined): Summary {
  const { run, ledger, input, stop, send } = closing;
  const rows = countRows(input, ledger);
  return {
    run: run?.manifest.id ?? null,
    kind: closing.kind,
    status: stop ? "stopped" : run ? "completed" : "dry-run",
    file: closing.file,
    rows,
    requests: { ...send.counts },
    estimate: {
      requests: price?.estimate.requests ?? send.counts.total,
      seconds: price?.estimate.seconds ?? 0,
    },
    rejects: closing.rejects,
    backup: closing.backup ?? run?.manifest.summary?.backup,
    stoppedBy: stop?.by ?? null,
    codes: countCodes(input, ledger),
    inactive: ledger.inactive,
    consent: {
      not_subscribed: ledger.codes.skipped.get("not_subscribed") ?? 0,
      suppressed: ledger.codes.skipped.get("suppressed") ?? 0,
      inactive: ledger.inactive,
      marked: ledger.marked.size,
    },
    members: closing.isSync
      ? { added: rows.created + ledger.counts.updated, removed: ledger.counts.removed }
      : undefined,
  };
}

/** A real run looks up as this dry run did, and then writes. */
function priceOfRealRun({ send, budget, clock, ...closing }: Closing, writes: number): Price {
  return priceOf({
    spent: send.counts.total,
    left: writes + closing.requestsToCreate,
    isExact: true,
    limits: budget.limits,
    reserve: closing.reserve,
    concurrency: closing.concurrency,
    windowSeconds: budget.windowSeconds,
    now: clock.now() + budget.clockOffset,
  });
}
