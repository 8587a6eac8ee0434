/** One contact's write, from its line of the plan to a certain outcome: sent, and settled when the answer was lost. */
import type { EcmError, ServiceError } from "../../errors.ts";
import type { BehaviorPoints } from "../../service/behavior.ts";
import { hasReferences, mayBeElements, withElements } from "../../service/contact-changes.ts";
import {
  changeStatusRequest,
  createContactRequest,
  deleteContactRequest,
  isInactive,
  mutateContactRequest,
} from "../../service/contacts.ts";
import type { ApiRequest, Contact } from "../../wire.ts";
import type { Decision, Operation } from "../items.ts";
import type { RequestKind } from "../pace/paced-send.ts";
import type { Reply } from "../pace/reply.ts";
import { holdsChange } from "../plan/decide.ts";
import type { Found } from "../plan/found.ts";
import { note, serviceNow } from "../plan/session.ts";
import { isWrite, plannedOutcome } from "../plan/tally.ts";
import type { OpenIntent } from "../runs/ledger.ts";
import { conclude, done, reject, type Task } from "./outcomes.ts";
import { findOne, readAfterRefusal, readWritten } from "./read-back.ts";
import { wasApplied } from "./settle.ts";

/** How often a contact may have changed while it is being written before its row is given up. */
const maxConflicts = 5;
/** How often a contact's write may go without an answer, while others are answered, before its row is given up. */
const maxLost = 10;
/** After so many contacts that a look-up has missed, the next ones are looked up by themselves before they are created. */
const maxMissed = 10;

type Elements = BehaviorPoints["mutateElements"];

/** What a decision rests on. */
export interface Seen {
  readonly found: Found;
  /** When that was looked up, in milliseconds since the epoch. */
  readonly at: number;
}

/** How old a look-up may be when what was decided on it is written. */
export interface Freshness {
  /** What the plan saw of the contact. */
  readonly seen: Seen;
  /** The contact as it is now, for a decision that is too old. */
  lookAgain(): Promise<Seen>;
}

/** What is known of a contact before its next write. */
interface Attempt extends Seen {
  readonly decision: Decision;
  /** An earlier write that may have been applied. */
  readonly open: OpenIntent | undefined;
  /** How a mutate names references. */
  readonly elements: Elements | undefined;
  /** How often the contact had changed meanwhile. */
  readonly conflicts: number;
  /** How often nobody knew whether the write had been applied. */
  readonly lost: number;
  /** How often it was looked at again without leaving. */
  readonly looks: number;
}

/**
 * Carries out a line of the plan and writes its outcome down. Decides again when the contact has changed meanwhile.
 * @throws RunStop when the run ends first; then the intent may be left open
 */
export async function carryOut(task: Task, freshness: Freshness): Promise<void> {
  const { session } = task;
  let next: Attempt | undefined = await firstAttempt(task, freshness);
  while (next) {
    if (isWrite(next.decision) && !next.open && !mayLeave(task, next)) {
      const looks = next.looks + 1;
      next = { ...decided(task, next, await freshness.lookAgain()), looks };
    }
    next = await attempt(task, next, session.behavior.get("mutateElements"));
  }
}

async function firstAttempt(task: Task, { seen, lookAgain }: Freshness): Promise<Attempt> {
  const { session, item, planned } = task;
  const { ledger, visibility, behavior, clock } = session;
  const open = ledger.openIntent(item.ref);
  const start: Attempt = {
    ...seen,
    decision: planned,
    open,
    elements: behavior.get("mutateElements"),
    conflicts: 0,
    lost: 0,
    looks: 0,
  };
  if (open?.operation.kind === "status" || open?.operation.kind === "delete") {
    const found = await readWritten(session, item, open.operation);
    return decided(task, start, { found, at: clock.now() });
  }
  if (open || ledger.isBegun(item.ref)) return decided(task, start, await lookAgain());
  if (planned.kind !== "create" || visibility.missed < maxMissed) return start;
  return decided(task, start, { found: await findOne(session, item), at: clock.now() });
}

/** Decides by what was seen now, with the function that made the plan. */
function decided({ session, item }: Task, known: Attempt, { found, at }: Seen): Attempt {
  const { refused } = found;
  const decision: Decision = refused
    ? { kind: "reject", code: refused.type, message: refused.message }
    : session.work.decide(item, found.contact);
  return { ...known, found, at, decision };
}

/** How old a look-up may be, in milliseconds, when a change that rests on it leaves. */
const maxAge = 300_000;

/** Where so few requests are allowed that a look and a write never fit between two waits, the write follows after a wait. */
const maxLooks = 3;

/** A create needs no second look: the service refuses a second contact. */
function mayLeave({ session, item }: Task, { decision, at, looks }: Attempt): boolean {
  const { send, clock, work } = session;
  if (decision.kind === "create") return !work.isSuppressed?.(item);
  if (looks > maxLooks) return true;
  const age = clock.now() - at;
  // A clock that was set back tells no age.
  return at >= session.startedAt && at >= send.waitEndedAt && age >= 0 && age <= maxAge;
}

/** @returns what is known for another attempt; undefined once the outcome is written down */
async function attempt(
  task: Task,
  known: Attempt,
  learned: Elements | undefined,
): Promise<Attempt | undefined> {
  const { session, item } = task;
  const { found, decision } = known;
  const elements = known.elements ?? learned;
  let { open } = known;
  if (open?.operation.kind === "status" && isWrite(decision) && isInactive(found.contact)) {
    note(session, { kind: "applied", ref: item.ref });
    open = undefined;
  }
  if (open && wasApplied(open, found.contact)) {
    const { operation } = open;
    const contact = found.contact ?? { _id: operation.kind === "create" ? undefined : operation.contactId };
    return void done(task, plannedOutcome(item, operation), contact, operation.remark);
  }
  if (!isWrite(decision)) {
    const isBegun = session.ledger.isBegun(item.ref) && decision.kind !== "reject";
    return isBegun ? void done(task, "updated", found.contact) : void conclude(task, decision, found.contact);
  }
  if (known.conflicts > maxConflicts) {
    const message = "the contact keeps changing while it is being written";
    return void reject(task, { code: "keeps_changing", message });
  }
  // The key as the account holds it, so that an undo finds it again.
  const key = found.contact?.key ?? item.key.sent;
  const intent: OpenIntent = { key, at: open?.at ?? serviceNow(session), operation: decision };
  const tried = { ...known, decision, open, elements };
  const reply = await write(task, intent, tried);
  switch (reply.kind) {
    case "withheld":
      return tried;
    case "answered":
      return afterAnswer(task, tried, reply.answer.body);
    case "refused":
      return afterRefusal(task, tried, reply.error);
    case "uncertain":
      return afterLoss(task, { ...tried, open: open ?? intent, lost: known.lost + 1 }, reply.error);
  }
}

/** An attempt whose write was sent. */
type Tried = Attempt & { readonly decision: Operation };

/** After a status has changed, the fields may still have to. */
function afterAnswer(task: Task, tried: Tried, body: unknown): Attempt | undefined {
  const { session, item } = task;
  const { found, decision, elements } = tried;
  learnFromAnswer(task, decision, body, elements);
  if (decision.kind === "status" && decision.next) {
    note(session, { kind: "applied", ref: item.ref });
    return { ...tried, open: undefined, decision: decision.next };
  }
  const written = decision.kind === "create" ? { _id: idIn(body) } : found.contact;
  return void done(task, plannedOutcome(item, decision), written, decision.remark);
}

async function afterRefusal(task: Task, tried: Tried, error: ServiceError): Promise<Attempt | undefined> {
  const { session, item } = task;
  const { behavior, visibility, clock } = session;
  const { decision: operation, open, elements } = tried;
  if (elements === undefined && !visibility.isObject && isAboutElements(error, operation)) {
    if (!open) note(session, { kind: "void", ref: item.ref });
    return { ...tried, elements: "id" };
  }
  // Bare ids are refused too: the form was not the reason.
  if (behavior.get("mutateElements") === undefined && elements === "id") visibility.isObject = true;
  const next = await readAfterRefusal(session, item, { operation, error, isUncertain: open !== undefined });
  if (next.kind === "hidden") {
    const { contact } = next;
    // A create makes nobody inactive: the contact may be one that the account held before.
    const isOurs = open && (!contact || wasApplied(open, contact));
    if (isOurs) return void done(task, "created", contact, open.operation.remark);
    const skipped = { outcome: "skipped", code: "exists_hidden", inactive: true } as const;
    return void note(session, { kind: "done", ref: item.ref, contactId: contact?._id, ...skipped });
  }
  if (next.kind === "rejected") {
    // The service may have said no to a change that was there already: only the contact itself can tell.
    const contact = next.found?.contact;
    if (!contact || !isAlready(operation, contact)) return void reject(task, next.reason);
    const outcome = open ? plannedOutcome(item, operation) : "unchanged";
    return void done(task, outcome, contact, open?.operation.remark);
  }
  // What was lost before may yet prove to have been applied; a plain refusal leaves nothing open.
  if (!open) note(session, { kind: "void", ref: item.ref });
  const { found } = next;
  return decided(task, { ...tried, conflicts: tried.conflicts + 1 }, { found, at: clock.now() });
}

function isAlready(operation: Operation, contact: Partial<Contact>): boolean {
  if (operation.kind === "change") return holdsChange(operation.body, contact);
  return operation.kind === "status" && isInactive(contact);
}

/** A create is sent again: the service takes it once. Anything else is compared with what the contact is now. */
async function afterLoss(
  task: Task,
  tried: Tried & { readonly open: OpenIntent },
  error: EcmError,
): Promise<Attempt | undefined> {
  const { session, item } = task;
  const { decision: operation, open, lost } = tried;
  const isLast = lost >= maxLost;
  if (operation.kind === "create" && !isLast) return tried;
  const found = await (operation.kind === "create"
    ? findOne(session, item)
    : readWritten(session, item, operation));
  const next = decided(task, tried, { found, at: session.clock.now() });
  const isSameAgain = next.decision.kind === operation.kind && !wasApplied(open, found.contact);
  if (isLast && isSameAgain) return void reject(task, { code: error.type, message: error.message });
  return next;
}

/** The intent is on the disk before the request leaves. */
function write(task: Task, intent: OpenIntent, tried: Tried): Promise<Reply> {
  const { session, item } = task;
  const { request, countedAs } = requestFor(intent.operation, tried.elements);
  return session.send.send(request, countedAs, {
    async beforeLeaving() {
      if (!tried.open && !mayLeave(task, tried)) return false;
      note(session, { kind: "intent", ref: item.ref, ...intent });
      await session.syncIntents?.();
      return true;
    },
    notApplied() {
      if (!tried.open) note(session, { kind: "void", ref: item.ref });
    },
  });
}

function requestFor(
  operation: Operation,
  elements: Elements | undefined,
): { request: ApiRequest; countedAs: RequestKind } {
  switch (operation.kind) {
    case "create":
      return { request: createContactRequest(operation.body), countedAs: "create" };
    case "change":
      return {
        request: mutateContactRequest(operation.contactId, withElements(operation.body, elements)),
        countedAs: "mutate",
      };
    case "status":
      return { request: changeStatusRequest(operation.contactId, operation.status), countedAs: "other" };
    case "delete":
      return { request: deleteContactRequest(operation.contactId), countedAs: "other" };
  }
}

/** The new contact's id. An answer without one has created the contact all the same. */
function idIn(body: unknown): string | undefined {
  const id = (body as Partial<Contact> | null | undefined)?._id;
  return typeof id === "string" ? id : undefined;
}

/** What the answer to a write tells of the service. Nothing else is read from the answer to a mutate. */
function learnFromAnswer(
  { session: { behavior, visibility } }: Task,
  operation: Operation,
  body: unknown,
  elements: Elements | undefined,
): void {
  if (operation.kind === "create") visibility.missed = 0;
  if (operation.kind !== "change") return;
  const isContact = (body as Partial<Contact> | null | undefined)?._id === operation.contactId;
  behavior.learn(
    "mutateAnswer",
    body === undefined || body === null ? "empty" : isContact ? "contact" : "other",
  );
  if (hasReferences(operation.body)) behavior.learn("mutateElements", elements ?? "object");
}

function isAboutElements(error: ServiceError, operation: Operation): boolean {
  return operation.kind === "change" && mayBeElements(error, operation.body);
}
