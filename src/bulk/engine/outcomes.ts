/** How a contact's outcome is written down. */
import { isInactive } from "../../service/contacts.ts";
import type { Contact } from "../../wire.ts";
import type { Decision, Item, Operation, Outcome, Remark, Work } from "../items.ts";
import { note, type Session } from "./session.ts";

/** One contact of a run that writes. */
export interface Task<T extends Item = Item> {
  readonly session: Session;
  readonly work: Work<T>;
  readonly item: T;
}

const writes: readonly Decision["kind"][] = ["create", "change", "status", "delete"];

export function isWrite(decision: Decision): decision is Operation {
  return writes.includes(decision.kind);
}

/** What a write counts as once it is carried out. */
export function outcomeOfWrite(kind: Operation["kind"], work: Pick<Work, "changed">): Outcome {
  if (kind === "create") return "created";
  return kind === "delete" ? "deleted" : (work.changed ?? "updated");
}

/** Writes down a decision that needs no request. */
export function conclude<T extends Item>(
  { session, work, item }: Task<T>,
  decision: Exclude<Decision, Operation>,
  contact: Partial<Contact> | undefined,
): void {
  if (decision.kind === "reject") {
    reject(session, item, decision);
    return;
  }
  const inactive = isInactive(contact) || undefined;
  const marked = work.isMarked?.(item, contact) || undefined;
  if (decision.kind === "leave")
    note(session, { kind: "done", ref: item.ref, outcome: "unchanged", inactive, marked });
  else
    note(session, {
      kind: "done",
      ref: item.ref,
      outcome: "skipped",
      code: decision.code,
      inactive,
      marked,
    });
}

export function reject(session: Session, { ref }: Item, { code, message }: Remark): void {
  note(session, { kind: "done", ref, outcome: "rejected", code, message });
}

/** Writes down that a contact was written, or found as it should be. */
export function done<T extends Item>(
  { session, work, item }: Task<T>,
  outcome: Outcome,
  contact: Partial<Contact> | undefined,
  remark?: Remark,
): void {
  // Whom this run has unsubscribed was active and marked, also when that is seen only after a crash.
  const wasUnsubscribed =
    work.isMarked !== undefined &&
    (session.ledger.isBegun(item.ref) || session.ledger.openIntent(item.ref)?.operation.kind === "status");
  const marked = wasUnsubscribed || work.isMarked?.(item, contact) || undefined;
  const inactive = (!marked && isInactive(contact)) || undefined;
  note(session, {
    kind: "done",
    ref: item.ref,
    outcome,
    contactId: contact?._id,
    inactive,
    marked,
    ...remark,
  });
}
