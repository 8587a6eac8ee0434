/** How a contact's outcome is written down. */
import { isInactive } from "../../api/contacts.ts";
import type { Contact } from "../../wire.ts";
import type { Before } from "../desired.ts";
import type { Decision, Item, Outcome, Remark, Write } from "../items.ts";
import { recordInJournal, type Session } from "../plan/session.ts";

/** One contact of a plan. */
export interface Task {
  readonly session: Session;
  readonly item: Item;
  /** As the plan has it. */
  readonly planned: Write;
  /** What the plan saw; absent where it saw nobody. */
  readonly before: Before | undefined;
}

/** Writes down a decision that needs no request. */
export function settleWithoutWrite(
  task: Task,
  decision: Exclude<Decision, Write>,
  contact: Partial<Contact> | undefined,
): void {
  const { session, item } = task;
  if (decision.kind === "reject") {
    recordRejection(task, decision);
    return;
  }
  const outcome = decision.kind === "leave" ? "unchanged" : "skipped";
  const code = decision.kind === "skip" ? { code: decision.code } : {};
  recordInJournal(session, {
    kind: "done",
    ref: item.ref,
    outcome,
    ...code,
    inactive: isNewlyInactive(task, contact),
  });
}

export function recordRejection({ session, item: { ref } }: Task, { code, message }: Remark): void {
  recordInJournal(session, { kind: "done", ref, outcome: "rejected", code, message });
}

/** Writes down that a contact was written, or found as it should be. */
export function settleWrite(
  task: Task,
  outcome: Outcome,
  contact: Partial<Contact> | undefined,
  remark?: Remark,
): void {
  const { session, item } = task;
  const inactive = isNewlyInactive(task, contact);
  recordInJournal(session, {
    kind: "done",
    ref: item.ref,
    outcome,
    contactId: contact?._id,
    inactive,
    ...remark,
  });
}

/**
 * Whom the plan took for absent or active, and the account holds as inactive;
 * the others were counted when they were planned.
 */
function isNewlyInactive({ planned, before }: Task, contact: Partial<Contact> | undefined): true | undefined {
  const wasCounted = planned.kind === "change" ? before?.isInactive : planned.kind !== "create";
  return !wasCounted && isInactive(contact) ? true : undefined;
}
