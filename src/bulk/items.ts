/**
 * The unit of a bulk run: one contact, and what it should become.
 * Everything else of the engine speaks of these.
 */

import type { Cells, ContactKey } from "../tables/index.ts";
import type { Contact } from "../wire.ts";
import type { Code, Desired, DesiredValue, Operation, Reason } from "./desired.ts";

/** So many contacts, or such a share of them. */
export type Limit = { rows: number } | { percent: number };

/** What is known of a contact without a look at the account. */
export type Settled = { skip: Code } | { reject: Reason };

/** One contact of a run. */
export interface Item {
  /**
   * Names the contact within the run, its plan and its journal: the
   * line it is on, or its place in a list of its own.
   */
  ref: number;
  /** Of the input; null where no line names the contact. */
  line: number | null;
  key: ContactKey;
  /** The cells of its row, for the rejects file. */
  cells: Cells;
  /** How its input marks the person as not subscribed, for the rejects file. */
  mark?: string;
  /** Settled: it is not looked up, and nothing is written. */
  desired: Desired | Settled;
  /** A member that a sync takes out of its list. */
  isRemoval?: true;
  /** Where the job knows it. */
  contactId?: string;
  /**
   * As a page of the account had it, where that is where the contact
   * comes from: it is not looked up for the plan.
   */
  found?: Partial<Contact>;
}

export function isSettled(desired: Item["desired"]): desired is Settled {
  return !("values" in desired);
}

/** What is done about one contact. */
export type Decision =
  | Write
  | { kind: "leave" }
  | { kind: "skip"; code: Code }
  | ({ kind: "reject" } & Remark);

/** A reason that its code alone tells, with what a sentence about it needs. */
export interface CodedReason {
  code: Code;
  /** What was not restored; absent where the whole contact was not. */
  parts?: readonly { what: DesiredValue["what"]; id: string; name: string }[];
  /** Of the input: where the contact is named as well. */
  line?: number;
}

/** A code in words, as they are kept for people: in the plan, the journal and the rejects file. */
export type DescribeReason = (reason: CodedReason) => string;

/** Why a contact is not as it was wanted, in a code and in words. */
export interface Remark {
  code: Code;
  message: string;
}

/** `remark`: what is to be said of the contact although it is written. */
export type Write = Operation & { remark?: Remark };

/** `removed`: taken out of a list by a sync. */
export type Outcome = "created" | "updated" | "removed" | "deleted" | "unchanged" | "skipped" | "rejected";
