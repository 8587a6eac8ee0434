/** A run while it is planned and applied: what it counts, and what its steps share. */
import type { EnteredRun } from "../runs/enter.ts";
import { type JournalRecord, shareSyncs } from "../runs/journal.ts";
import type { Ledger } from "../runs/ledger.ts";
import { type Counted, countRows, type RowCounts } from "../runs/report.ts";
import { createProgress, type Phase } from "./events.ts";
import type { Judging } from "./judge.ts";
import type { Lookup } from "./lookup.ts";
import type { PlanTally, Price } from "./numbers.ts";
import type { RunContext } from "./run-context.ts";

/** A run whose extent is known. */
export interface RunState extends RunContext, Counted {
  readonly tally: PlanTally;
  readonly ledger: Ledger;
  /** Absent in a dry run, which leaves nothing behind. */
  readonly run?: EnteredRun;
}

/** A run that looks contacts up, decides and writes. */
export interface Session extends RunState {
  readonly judging: Judging;
  readonly lookup: Lookup;
  readonly toIdentity: (key: string) => string;
  /**
   * When this invocation began, in milliseconds since the epoch:
   * what was looked up before is looked up again.
   */
  readonly startedAt: number;
  /** Resolves when the intents that were noted are on the disk. @throws JournalError; absent in a dry run */
  readonly syncIntents?: () => Promise<void>;
  /** What this run has seen of the service, and does not keep. */
  readonly observed: {
    /** Contacts that a look-up had missed, one after another. */
    missedInARow: number;
    /** References as bare ids were refused too. */
    refusesBareIds: boolean;
  };
  /** Called after each rejection; may stop the run. */
  readonly onRejected?: () => void;
}

/** The session of a run that is about to look contacts up. */
export function openSession(
  state: RunState,
  parts: Pick<Session, "judging" | "lookup" | "toIdentity" | "startedAt" | "onRejected">,
): Session {
  const { run, budget } = state;
  const syncIntents =
    run &&
    shareSyncs(
      () => run.journal.sync(),
      () => budget.underWay,
    );
  return {
    ...state,
    ...parts,
    syncIntents,
    observed: { missedInARow: 0, refusesBareIds: false },
  };
}

/** Writes a record down and counts it: the two never part. */
export function recordInJournal(
  session: Pick<Session, "run" | "ledger" | "onRejected">,
  record: JournalRecord,
): void {
  session.run?.journal.append(record);
  session.ledger.take(record);
  if (record.kind === "done" && record.outcome === "rejected") session.onRejected?.();
}

export function countRunRows(state: Counted & Pick<RunContext, "options">): RowCounts {
  return countRows(state, state.options.isDryRun);
}

/** Announces a run that was entered, and writes down that this invocation of it begins. */
export function announceEntered(state: RunState): void {
  const { run, emit, clock, engine } = state;
  if (!run) return;
  emit({ kind: "entered", run: run.manifest.id, isResumed: run.isResumed, rows: countRunRows(state) });
  recordInJournal(state, { kind: "start", at: clock.now(), program: engine.version });
}

export function beginPhase(state: RunState, phase: Phase, price?: Price): void {
  state.emit({
    kind: "phase",
    progress: () => createProgress(state, phase, { rows: countRunRows(state), price }),
  });
}

/** Whether a write has been sent, or may have been. */
export function hasBegun({ counts, openCount }: Ledger): boolean {
  return counts.created + counts.updated + counts.removed + counts.deleted + openCount > 0;
}

/** Now, by the service's clock as far as it is known. */
export function readServiceTime({ clock, budget }: Pick<RunContext, "clock" | "budget">): number {
  return clock.now() + budget.clockOffset;
}

/** Requests that this invocation may send before it stops. */
export function countSentRequests({
  options,
  send,
  budget,
}: Pick<RunContext, "options" | "send" | "budget">): number {
  const { maxRequests, waits, reserve } = options;
  const hour = waits ? undefined : budget.limits.hour;
  return Math.min(
    maxRequests === undefined ? Number.POSITIVE_INFINITY : maxRequests - send.counts.total,
    hour === undefined ? Number.POSITIVE_INFINITY : hour.remaining - reserve,
  );
}

/**
 * Whether so few requests are left that one contact is completed
 * after another, so that each invocation gets on.
 */
export function isScarce({ options, budget }: Pick<RunContext, "options" | "budget">): boolean {
  const left = budget.limits.hour?.remaining ?? Number.POSITIVE_INFINITY;
  return options.maxRequests !== undefined || left - options.reserve < 20 * options.concurrency;
}
