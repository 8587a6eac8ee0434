/** What the parts of a running bulk run share. */
import type { Behavior } from "../../service/behavior.ts";
import type { Clock } from "../../wire.ts";
import type { Found, Lookup } from "../account/lookup.ts";
import type { Decision, Item } from "../items.ts";
import type { Budget } from "../pacing/budget.ts";
import type { PacedSend } from "../pacing/paced-send.ts";
import type { Journal, JournalRecord } from "../runs/journal.ts";
import type { Ledger } from "../runs/ledger.ts";
import type { PlanLine } from "./plan.ts";
import type { PlanRecorder } from "./plan-recorder.ts";

export interface Session {
  send: PacedSend;
  budget: Budget;
  lookup: Lookup;
  behavior: Behavior;
  /** What this run has seen of the service, and does not keep. */
  visibility: {
    /** Contacts in a row that a look-up had missed. */
    missed: number;
    /** Waiting for a search to show a contact was in vain. */
    isVain: boolean;
    /** References as bare ids were refused too. */
    isObject?: boolean;
  };
  ledger: Ledger;
  /** Absent in a dry run, which has nothing to remember. */
  journal?: Journal;
  clock: Clock;
  concurrency: number;
  /** In a dry run: requests beyond the first that the contacts need. */
  furtherRequests?: number;
  /** What is decided goes there, in input order; absent where nobody wants to know. */
  plan?: SessionPlan;
  /** Called after each rejection; may stop the run. */
  onRejected?: () => void;
}

export interface SessionPlan {
  recorder: PlanRecorder;
  lineOf(item: Item, decision: Decision, found: Found): PlanLine;
}

/** Writes a record down and counts it: the two never part. */
export function note(
  session: Pick<Session, "journal" | "ledger" | "onRejected">,
  record: JournalRecord,
): void {
  session.journal?.append(record);
  session.ledger.take(record);
  if (record.kind === "done" && record.outcome === "rejected") session.onRejected?.();
}

/** Now, by the service's clock as far as it is known. */
export function serviceNow(session: Session): number {
  return session.clock.now() + session.budget.clockOffset;
}
