/**
 * A run while it works: what it was given (who asked for what, how requests leave, who is told), what it counts,
 * and what its steps share. Whatever the job.
 */

import type { EcmError } from "../../errors.ts";
import type { Account } from "../../service/account.ts";
import type { Behaviors } from "../../service/behavior.ts";
import type { NamesCache } from "../../service/names-cache.ts";
import type { Suppressions } from "../../suppressions/suppressions.ts";
import type { Clock, Contact, RateLimits, Send } from "../../wire.ts";
import type { DescribeReason } from "../items.ts";
import { Budget, type BudgetOptions } from "../pace/budget.ts";
import { PacedSend } from "../pace/paced-send.ts";
import type { EnteredRun } from "../runs/enter.ts";
import type { GuardOptions, Manifest } from "../runs/folder.ts";
import type { JournalFile, JournalRecord } from "../runs/journal.ts";
import type { Ledger } from "../runs/ledger.ts";
import { type Counted, countRows, type RowCounts, type Summary } from "../runs/report.ts";
import { createProgress, type Phase, type RunEvent } from "./events.ts";
import type { Judging } from "./judge.ts";
import type { Lookup } from "./lookup.ts";
import type { Creation } from "./names.ts";
import type { PlanTally, Price } from "./numbers.ts";
import type { ClosedPlan } from "./plan-file.ts";

/** What a run is given by its caller. */
export interface Engine {
  send: Send;
  clock: Clock;
  /** Its reason is an InterruptedError. */
  signal: AbortSignal;
  stateFolder: string;
  version: string;
  account: { baseUrl: string; profile?: string; isReadOnly: boolean; preferredStructure?: string };
  /** What earlier answers of this process said. */
  limits?: RateLimits;
  /** How many requests the command has sent so far; asked when the run begins. */
  requestsSent(): number;
  /** Opens the account's suppression list. @throws SuppressionsError */
  openSuppressions(): Promise<Suppressions>;
  /** What is known of how the service behaves. */
  behaviors: Behaviors;
  /** Keeps others from creating names meanwhile. */
  names: NamesCache;
  /** The reasons of contacts in words, which are kept with them. */
  describeReason: DescribeReason;
  /** What is thrown where names are missing that are not to be created. */
  missingNamesError(missing: readonly Creation[]): EcmError;
  /** Replaced in tests of a disk that fails. */
  openJournalFile?: (file: string) => JournalFile;
}

export interface RunOptions extends BudgetOptions {
  isDryRun: boolean;
  isFresh: boolean;
  concurrency: number;
  /** Where the rejects file goes besides the run folder. */
  rejects?: string;
  /**
   * Somebody reads along, and will fix what is rejected: it is written
   * beside the input too, and the first of it is named.
   */
  isAtTerminal?: boolean;
  /** Those given for this invocation: they hold for a run that has begun, too. */
  guards?: GuardOptions;
  /** The run that must be resumed. */
  resumes?: Manifest;
  /**
   * Takes the plan once it is closed, before the first write. Then every
   * contact has a line, also who stays as they are.
   */
  takePlan?(plan: ClosedPlan): Promise<void>;
  /** Where the plan is written, for the manifest. */
  planFile?: string;
  /** Where a page about the run is written, to name it. */
  reportFile?: string;
  /**
   * Has the writes agreed to, between the price and the first of them, in each invocation.
   * @param planned how many contacts are created, changed and deleted
   * @param created what the run creates in the account first
   * @param plan of a run that has not begun to write
   */
  agree?(price: Price, planned: PlanTally, created?: readonly Creation[], plan?: ForeseenPlan): Promise<void>;
  /** Writes the contacts that a deletion takes as they are, whole and on the disk before it returns. */
  backUp?: BackUp;
}

/** What a run would do, for whoever is asked. */
export interface ForeseenPlan extends ClosedPlan {
  /** As that of a dry run. */
  summary: Summary;
  firstRejects: readonly Reject[];
  /** An earlier invocation has made it: it stays as it is. */
  isResumed: boolean;
}

/** A row or contact that was rejected. */
export interface Reject {
  /** Of the input; the place among the contacts of a run without one. */
  line: number;
  /** The key as it was written; of a row without one, what it has. */
  value: string;
  code: string;
  message: string;
  /** The cells of the row, by their columns. */
  row: Record<string, string>;
}

export interface BackUp {
  /** As the manifest keeps it. */
  target?: Manifest["backup"];
  /** @param folder of the run @returns the file's path */
  write(
    contacts: AsyncIterable<Partial<Contact>>,
    run: { folder: string; account: Account },
  ): Promise<string>;
}

/** Never changed: a later step that knows more spreads it into a context of its own. */
export interface RunContext {
  readonly kind: Manifest["kind"];
  /** What the run works on, as the summary names it: a file, conditions, or another run. */
  readonly subject: string;
  readonly engine: Engine;
  /** Their guards are those of the run, as far as no others are given for this invocation. */
  readonly options: RunOptions;
  /** Given for this invocation. */
  readonly typedGuards: GuardOptions | undefined;
  readonly clock: Clock;
  readonly budget: Budget;
  readonly send: PacedSend;
  readonly emit: (event: RunEvent) => void;
}

export function openContext(
  about: Pick<RunContext, "kind" | "subject" | "engine" | "options" | "emit">,
): RunContext {
  const { engine, options } = about;
  const sentBefore = engine.requestsSent();
  const budget = new Budget(options, sentBefore);
  if (engine.limits) budget.seed(engine.limits);
  const send = new PacedSend({ ...engine, sentBefore, budget, concurrency: options.concurrency });
  const { guards: typedGuards, resumes } = options;
  const kept = { ...options, guards: { ...resumes?.guards, ...typedGuards } };
  return { ...about, options: kept, typedGuards, clock: engine.clock, budget, send };
}

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
  /** How many contacts a look-up had missed, one after another. */
  readonly missed: { inARow: number };
  /** Called after each rejection; may stop the run. */
  readonly onRejected?: () => void;
}

/** The session of a run that is about to look contacts up. */
export function openSession(
  state: RunState,
  parts: Pick<Session, "judging" | "lookup" | "toIdentity" | "startedAt" | "onRejected">,
): Session {
  const { run } = state;
  return {
    ...state,
    ...parts,
    syncIntents: run && (() => run.journal.sync()),
    missed: { inARow: 0 },
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
