/**
 * What is known of a contact before its next write, whether that may still be relied on, and how its outcome is
 * written down.
 */

import { isInactive } from "../../api/contacts.ts";
import type { BehaviorPoints } from "../../service/behavior.ts";
import type { Contact } from "../../wire.ts";
import type { Before } from "../desired.ts";
import type { Decision, Item, Outcome, Remark, Write } from "../items.ts";
import { judge } from "../plan/judge.ts";
import type { Found } from "../plan/lookup.ts";
import { recordInJournal, type Session } from "../plan/session.ts";
import type { OpenIntent } from "../runs/ledger.ts";
import { findOne, readWritten } from "./settle.ts";

/** How a mutate names references. */
export type Elements = BehaviorPoints["mutateElements"];

/** What a decision rests on. */
export interface Seen {
  readonly found: Found;
  /** When that was looked up, in milliseconds since the epoch. */
  readonly at: number;
}

/** How old a look-up may be when what was decided on it is written. */
export interface Freshness {
  /** What the plan saw of the contact. */
  readonly lastLookUp: Seen;
  /** The contact as it is now, for a decision that is too old. */
  lookUpAgain(): Promise<Seen>;
}

export interface Attempt extends Seen {
  readonly decision: Decision;
  /** An earlier write that may have been applied. */
  readonly open: OpenIntent | undefined;
  readonly elements: Elements | undefined;
  /** How often the contact had changed meanwhile. */
  readonly conflicts: number;
  /** How often nobody knew whether the write had been applied. */
  readonly lost: number;
  /** How often it was looked at again without leaving. */
  readonly lookUps: number;
}

/** An attempt that is about to be sent, or was sent. */
export type SentAttempt = Attempt & { readonly decision: Write };

/** After so many contacts that a look-up has missed, each is looked up by itself before it is created. */
const maxMissed = 10;
/** How old a look-up may be, in milliseconds, when a change that rests on it leaves. */
const maxDecisionAgeMilliseconds = 300_000;
/**
 * With so few requests that a look and a write never fit between two waits, the write follows after a wait.
 */
const maxLooks = 3;

/** As the plan has it, unless an earlier write is to be settled first or the contact has to be seen again. */
export async function planFirstAttempt(task: Task, { lastLookUp, lookUpAgain }: Freshness): Promise<Attempt> {
  const { session, item, planned } = task;
  const { ledger, observed, lookup, clock } = session;
  const open = ledger.openIntent(item.ref);
  const start: Attempt = {
    ...lastLookUp,
    decision: planned,
    open,
    elements: lookup.behavior.get("mutateElements"),
    conflicts: 0,
    lost: 0,
    lookUps: 0,
  };
  if (open?.operation.kind === "unsubscribe" || open?.operation.kind === "delete") {
    const found = await readWritten(session, item, open.operation);
    return decided(task, start, { found, at: clock.now() });
  }
  if (open) return decided(task, start, await lookUpAgain());
  if (planned.kind !== "create" || observed.missedInARow < maxMissed) return start;
  return decided(task, start, { found: await findOne(session, item), at: clock.now() });
}

/** Decides by what was seen now, with the function that made the plan. */
export function decided(task: Task, attempt: Attempt, { found, at }: Seen): Attempt {
  const { session, item } = task;
  return { ...attempt, found, at, decision: judge(item, found, session.judging) };
}

/**
 * A create needs no second look, since the service refuses a second contact.
 */
export function mayBeSent({ session, item }: Task, { decision, at, lookUps }: Attempt): boolean {
  if (decision.kind === "create") return !isKeptFromCreation({ session, item }, { decision });
  return lookUps > maxLooks || isFresh(session, at);
}

/** Whether somebody is created who is suppressed, or was erased, by now. Asked each time a write leaves. */
export function isKeptFromCreation(
  { session, item }: Pick<Task, "session" | "item">,
  { decision }: Pick<Attempt, "decision">,
): boolean {
  return decision.kind === "create" && session.judging.suppression.holdsNow(item.key.sent);
}

/** Whether what was looked up then is new enough for a write. */
function isFresh({ clock, send, startedAt }: Session, at: number): boolean {
  const age = clock.now() - at;
  // A clock that was set back tells no age.
  return at >= startedAt && at >= send.waitEndedAt && age >= 0 && age <= maxDecisionAgeMilliseconds;
}

/** One contact of a plan. */
export interface Task {
  readonly session: Session;
  readonly item: Item;
  /** As the plan has it. */
  readonly planned: Write;
  /** What the plan saw; absent where it saw nobody. */
  readonly before: Before | undefined;
  /** What its line tells of the contact, with the key as the account spells it. */
  readonly seen: Found;
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
