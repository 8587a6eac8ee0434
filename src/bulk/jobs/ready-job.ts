/** A job that is ready to be planned and applied: what it adds to the one path of every bulk run. */
import type { Account } from "../../service/account.ts";
import type { Judging } from "../plan/judge.ts";
import type { Lookup } from "../plan/lookup.ts";
import type { PlanEntries } from "../plan/make-plan.ts";
import type { NameBook } from "../plan/names.ts";
import type { PlanHead } from "../plan/plan-file.ts";
import type { RunState } from "../plan/session.ts";
import type { EnteredRun } from "../runs/enter.ts";
import type { AfterStep } from "../runs/folder.ts";
import type { SettledByInput } from "../runs/report.ts";

/** What a job puts into a plan. */
export interface PlanSource {
  entries: PlanEntries;
  /** Rows, and contacts that no row names; default: those of the job. */
  input?: SettledByInput;
  /** So many entries are the same each time that they are read: a plan can continue within them. */
  stableEntries: number;
  /** With what is kept of pages; default: that of the job. */
  lookup?: Lookup;
  removals?: PlanHead["removals"];
  close?(): void;
}

/** What a job says of its plan. Without an input it names keys. */
type PlanDescription = Pick<PlanHead, "names" | "source"> & Partial<PlanHead>;

export interface ReadyJob {
  readonly account: Account;
  readonly judging: Judging;
  /** Without what is kept of pages: for the second looks. */
  readonly lookup: Lookup;
  /** Rows that stand for no contact; all rows, as far as they are known. */
  readonly input: SettledByInput;
  /** What the run creates in the account first. */
  readonly names?: NameBook;
  /** One of them, that must not have been there before. */
  readonly newList?: string;
  /** What follows on the run once it is complete. */
  readonly after?: readonly AfterStep[];
  /** Rejected rows stop it only where a limit was given. */
  readonly isLenient?: boolean;
  /** This and the next are absent where the plan is closed. */
  head?(): Promise<PlanDescription>;
  /**
   * Reads the pages that are needed first, if any.
   * @throws RunStop; UsageError when a sync would remove too many
   */
  source?(state: RunState, scratch: string): Promise<PlanSource>;
  /** After what is missing was created. */
  created?(run: EnteredRun): Promise<void>;
}
