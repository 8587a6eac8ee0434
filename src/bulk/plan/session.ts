/**
 * A run while it works: what it was given (who asked for what, how requests leave, who is told), what it
 * counts, and what its steps share. Whatever the job.
 */

import { join } from "node:path";
import { formatCounted } from "../../counts.ts";
import { type Lease, takeLease } from "../../disk/lease.ts";
import { EcmError } from "../../errors.ts";
import type { Account } from "../../service/account.ts";
import type { Behaviors } from "../../service/behavior.ts";
import type { NamesCache } from "../../service/names-cache.ts";
import type { Suppressions } from "../../suppressions/suppressions.ts";
import type { Clock, Contact, RateLimits, Send } from "../../wire.ts";
import type { DescribeReason } from "../desired.ts";
import { Budget, type BudgetOptions } from "../pace/budget.ts";
import { PacedSend } from "../pace/paced-send.ts";
import { RunStop } from "../pace/run-stop.ts";
import type { EnteredRun } from "../runs/enter.ts";
import { fileNames, type GuardOptions, type Manifest, type RunPlace, toLocksFolder } from "../runs/folder.ts";
import type { JournalFile, JournalRecord } from "../runs/journal.ts";
import { Ledger } from "../runs/ledger.ts";
import { countRows, type RowCounts, type SettledByInput, type Summary } from "../runs/report.ts";
import { createProgress, type Phase, type RunEvent } from "./events.ts";
import type { Judging } from "./judge.ts";
import type { Lookup } from "./lookup.ts";
import type { Creation } from "./name-book.ts";
import { countPlannedWrites, createTally, type PlanTally, type Price } from "./numbers.ts";
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
  /** The guards of this invocation: they hold for a run that has begun, too. It keeps its earlier ones. */
  guards?: GuardOptions;
  /** The run that must be resumed. */
  resumes?: Manifest;
  /**
   * Takes the plan once it is closed, before the first write. Then every
   * contact has a line, also one that stays as it is.
   */
  takePlan?(plan: ClosedPlan): Promise<void>;
  /** Where the plan is written, for the manifest. */
  planFile?: string;
  /** Where a page about the run is written, to name it. */
  reportFile?: string;
  /**
   * Has the writes agreed to, between the price and the first of them, as long as nobody has said yes.
   * @param planned how many contacts are created, changed and deleted
   * @param created what the run creates in the account first
   * @param plan of a run that has not begun to write
   * @returns whether somebody did; false where nobody could be asked
   */
  agree?(
    price: Price,
    planned: PlanTally,
    created?: readonly Creation[],
    plan?: ForeseenPlan,
  ): Promise<boolean>;
  /** Writes the contacts that a deletion takes as they are, whole and on the disk before it returns. */
  backUp?: BackUp;
}

/** What a run would do, for the person who is asked. */
export interface ForeseenPlan extends ClosedPlan {
  /** The summary that a dry run would have. */
  summary: Summary;
  firstRejects: readonly Reject[];
  /** An earlier invocation has made it: it stays as it is. */
  isResumed: boolean;
}

/** A row or contact that was rejected. */
export interface Reject {
  /** The line of the input; the place among the contacts of a run without one. */
  line: number;
  /** The key as it was written; of a row without one, what it has. */
  value: string;
  code: string;
  message: string;
  /** The cells of the row, by their columns. */
  row: Record<string, string>;
}

export interface BackUp {
  /** Where the file goes, in the form that the manifest keeps. */
  target?: Manifest["backup"];
  /** @param folder of the run @returns the file's path */
  write(
    contacts: AsyncIterable<Partial<Contact>>,
    run: { folder: string; account: Account },
  ): Promise<string>;
}

/** A run: what it was given, and how far it has come. What it has reached when it stops is reported too. */
export interface RunContext {
  readonly kind: Manifest["kind"];
  /** What the run works on, as the summary names it: a file, conditions, or another run. */
  readonly subject: string;
  readonly engine: Engine;
  readonly options: RunOptions;
  readonly clock: Clock;
  readonly budget: Budget;
  readonly send: PacedSend;
  readonly emit: (event: RunEvent) => void;
  /** When this invocation began, in milliseconds since the epoch: what was seen before is looked up again. */
  readonly startedAt: number;
  /** Becomes the folder of the run, unless it has one already; goes otherwise, as in a dry run. */
  readonly place: RunPlace;
  /** Leases on what no other process may work on until the run ends. */
  readonly leases: Lease[];
  /** The run once it was entered; absent in a dry run, which leaves nothing behind. */
  run?: EnteredRun;
  ledger: Ledger;
  /** The input's rows, as far as they were read. */
  input: SettledByInput;
  /** The plan's counts, as far as it has come. */
  tally: PlanTally;
}

/** The rows of a run whose input was not read, or that has none. */
export const noInput: SettledByInput = { read: 0, skipped: {}, rejected: {} };

export function openContext(
  about: Pick<RunContext, "kind" | "subject" | "engine" | "options" | "emit" | "place">,
): RunContext {
  const { engine, options } = about;
  const { clock, limits } = engine;
  const sentBefore = engine.requestsSent();
  const budget = new Budget(options, sentBefore);
  if (limits) budget.seed(limits);
  const send = new PacedSend({ ...engine, sentBefore, budget, concurrency: options.concurrency });
  const begun = { startedAt: clock.now(), ledger: new Ledger(), input: noInput, tally: createTally() };
  return { ...about, clock, budget, send, leases: [], ...begun };
}

/** Where the invocation keeps a file of the run. */
export function toFile({ run, place }: RunContext, name: keyof typeof fileNames): string {
  return join((run ?? place).folder, fileNames[name]);
}

/**
 * Keeps other processes out until the run ends.
 * @param what names it in the error @throws LockedError
 */
export async function hold({ engine, leases }: RunContext, resource: string, what: string): Promise<void> {
  leases.push(await takeLease(toLocksFolder(engine.stateFolder), resource, what));
}

/** A run that looks contacts up, decides and writes. */
export interface Session extends RunContext {
  readonly judging: Judging;
  readonly lookup: Lookup;
}

/** Writes a record down and counts it: the two never part. */
export function recordInJournal(context: RunContext, record: JournalRecord): void {
  context.run?.journal.append(record);
  context.ledger.take(record);
  if (record.kind === "done" && record.outcome === "rejected") stopAtMaxRejects(context);
}

export function countRunRows(context: Pick<RunContext, "input" | "tally" | "ledger" | "options">): RowCounts {
  return countRows(context, context.options.isDryRun);
}

export function beginPhase(context: RunContext, phase: Phase, price?: Price): void {
  const { emit } = context;
  emit({
    kind: "phase",
    progress: () => createProgress(context, phase, { rows: countRunRows(context), price }),
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
export function countRequestsLeft({
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

/** A resume has the limit of its run, unless another is given. */
export function readMaxRejects({ guards, resumes }: RunOptions): GuardOptions["maxRejects"] {
  return guards?.maxRejects ?? resumes?.guards?.maxRejects;
}

/** Rejected rows that stop a run of which nothing was accepted. */
const defaultMaxRejects = 50;

/** Too many rejected rows stop a run: its mapping is probably wrong. Undefined below the limit. */
export function findMaxRejectsStop(
  context: Pick<RunContext, "kind" | "input" | "tally" | "ledger" | "options">,
): RunStop | undefined {
  const { kind, ledger, tally } = context;
  const maxRejects = readMaxRejects(context.options);
  const { rejected, read, created, updated, deleted, unchanged } = countRunRows(context);
  if (!maxRejects) {
    const isAccepted = created + updated + deleted + unchanged > 0;
    // While it is planned, a row that will be written is accepted.
    const isPlanned = ledger.counts.rejected === 0 && countPlannedWrites(tally) > 0;
    // What an undo cannot restore stops it only where a limit was given.
    if (rejected < defaultMaxRejects || isAccepted || isPlanned || kind === "undo") return undefined;
  } else if ("rows" in maxRejects) {
    if (rejected < Math.max(1, maxRejects.rows)) return undefined;
  } else if (rejected === 0 || rejected * 100 < maxRejects.percent * read) return undefined;
  // What the service has refused no dry run shows: it is in the rejects file of the run.
  const howToSee =
    ledger.counts.rejected === 0
      ? `. To see them: --dry-run --rejects FILE --max-rejects ${rejected + 1}`
      : "";
  return new RunStop(
    "max-rejects",
    new EcmError(
      "rejected rows",
      `Stopped: ${formatCounted(rejected, "row was", "rows were")} rejected`,
      `Check the mapping, or allow more with --max-rejects${howToSee}`,
      { allowedBy: ["--max-rejects", `${rejected + 1}`] },
    ),
  );
}

/** Called after each rejection. */
export function stopAtMaxRejects(context: RunContext): void {
  const stop = findMaxRejectsStop(context);
  if (stop) context.send.stop(stop);
}
