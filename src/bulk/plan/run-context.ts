/**
 * What every step of a run is given, whatever the job: who asked
 * for what, how requests leave, and who is told.
 */

import type { Account, NamesLock } from "../../service/account.ts";
import type { Behaviors } from "../../service/behavior.ts";
import type { Suppressions } from "../../suppressions/suppressions.ts";
import type { Clock, Contact, RateLimits, Send } from "../../wire.ts";
import { Budget, type BudgetOptions } from "../pace/budget.ts";
import { PacedSend } from "../pace/paced-send.ts";
import type { GuardOptions, Manifest } from "../runs/folder.ts";
import type { JournalFile } from "../runs/journal.ts";
import type { Summary } from "../runs/report.ts";
import type { RunEvent } from "./events.ts";
import type { MissingNames } from "./names.ts";
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
  creatingNames: NamesLock;
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
  guards?: GuardOptions;
  /** Those given for this invocation: they hold for a run that has begun, too. */
  typedGuards?: GuardOptions;
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
  agree?(price: Price, planned: PlanTally, created?: MissingNames, plan?: ForeseenPlan): Promise<void>;
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
  /** Of what kind the plan is that is applied, as a head of a plan has it. */
  readonly applies?: string;
  /** What the run works on, as the summary names it: a file, conditions, or another run. */
  readonly subject: string;
  readonly engine: Engine;
  readonly options: RunOptions;
  readonly clock: Clock;
  readonly budget: Budget;
  readonly send: PacedSend;
  readonly emit: (event: RunEvent) => void;
}

export function openContext(
  about: Pick<RunContext, "kind" | "applies" | "subject" | "engine" | "options" | "emit">,
): RunContext {
  const { engine, options } = about;
  const sentBefore = engine.requestsSent();
  const budget = new Budget(options, sentBefore);
  if (engine.limits) budget.seed(engine.limits);
  const send = new PacedSend({ ...engine, sentBefore, budget, concurrency: options.concurrency });
  return { ...about, clock: engine.clock, budget, send };
}
