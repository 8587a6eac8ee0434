/** One contact's write, from its line of the plan to a certain outcome: sent, and settled when the answer was lost. */
import type { EcmError, ServiceError } from "../../errors.ts";
import { mayBeElements } from "../../service/contact-changes.ts";
import { isInactive } from "../../service/contacts.ts";
import type { Contact } from "../../wire.ts";
import type { Decision, Operation } from "../items.ts";
import { holdsChange } from "../plan/decide.ts";
import { note, type Session, serviceNow } from "../plan/session.ts";
import { isWrite, plannedOutcome } from "../plan/tally.ts";
import type { OpenIntent } from "../runs/ledger.ts";
import {
  type Attempt,
  decided,
  type Elements,
  type Freshness,
  firstAttempt,
  mayLeave,
  type Tried,
} from "./attempt.ts";
import { conclude, done, reject, type Task } from "./outcomes.ts";
import { type AfterRefusal, findOne, readAfterRefusal, readWritten } from "./read-back.ts";
import { idIn, learnFromAnswer, sendWrite } from "./send-write.ts";
import { wasApplied } from "./settle.ts";

/** How often a contact may have changed while it is being written before its row is given up. */
const maxConflicts = 5;
/** How often a contact's write may go without an answer, while others are answered, before its row is given up. */
const maxLost = 10;

const keepsChanging = {
  code: "keeps_changing",
  message: "the contact keeps changing while it is being written",
};

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
    const elements: Elements | undefined = next.elements ?? session.behavior.get("mutateElements");
    next = await attempt(task, { ...next, elements });
  }
}

/** @returns what is known for another attempt; undefined once the outcome is written down */
async function attempt(task: Task, before: Attempt): Promise<Attempt | undefined> {
  const known = settleStatus(task, before);
  const { open, decision, found } = known;
  if (open && wasApplied(open, found.contact)) return void concludeApplied(task, open, found.contact);
  if (!isWrite(decision)) return void concludeUnwritten(task, decision, found.contact);
  if (known.conflicts > maxConflicts) return void reject(task, keepsChanging);
  return write(task, { ...known, decision });
}

/** A status that may have been written, and was: what is still to be written follows as a write of its own. */
function settleStatus({ session, item }: Task, known: Attempt): Attempt {
  const { open, decision, found } = known;
  if (open?.operation.kind !== "status" || !isWrite(decision) || !isInactive(found.contact)) return known;
  note(session, { kind: "applied", ref: item.ref });
  return { ...known, open: undefined };
}

/** An earlier write has turned out to have been applied. */
function concludeApplied(task: Task, { operation }: OpenIntent, found: Partial<Contact> | undefined): void {
  const contact = found ?? { _id: operation.kind === "create" ? undefined : operation.contactId };
  done(task, plannedOutcome(task.item, operation), contact, operation.remark);
}

/** Nothing is left to be written; where a part was, the contact counts as written. */
function concludeUnwritten(
  task: Task,
  decision: Exclude<Decision, Operation>,
  contact: Partial<Contact> | undefined,
): void {
  const isBegun = task.session.ledger.isBegun(task.item.ref) && decision.kind !== "reject";
  if (isBegun) done(task, "updated", contact);
  else conclude(task, decision, contact);
}

async function write(task: Task, tried: Tried): Promise<Attempt | undefined> {
  const { session, item } = task;
  const { found, open, decision: operation } = tried;
  // The key as the account holds it, so that an undo finds it again.
  const key = found.contact?.key ?? item.key.sent;
  const intent: OpenIntent = { key, at: open?.at ?? serviceNow(session), operation };
  const reply = await sendWrite(task, intent, tried);
  switch (reply.kind) {
    case "withheld":
      return tried;
    case "answered":
      return afterAnswer(task, tried, reply.answer.body);
    case "refused":
      return afterRefusal(task, tried, reply.error);
    case "uncertain":
      return afterLoss(task, { ...tried, open: open ?? intent, lost: tried.lost + 1 }, reply.error);
  }
}

/** After a status has changed, the fields may still have to. */
function afterAnswer(task: Task, tried: Tried, body: unknown): Attempt | undefined {
  const { session, item } = task;
  const { found, decision } = tried;
  learnFromAnswer(session, tried, body);
  if (decision.kind === "status" && decision.next) {
    note(session, { kind: "applied", ref: item.ref });
    return { ...tried, open: undefined, decision: decision.next };
  }
  const written = decision.kind === "create" ? { _id: idIn(body) } : found.contact;
  return void done(task, plannedOutcome(item, decision), written, decision.remark);
}

async function afterRefusal(task: Task, tried: Tried, error: ServiceError): Promise<Attempt | undefined> {
  const { session, item } = task;
  const { decision: operation, open } = tried;
  if (mayBeAboutElements(session, tried, error)) {
    if (!open) note(session, { kind: "void", ref: item.ref });
    return { ...tried, elements: "id" };
  }
  noteRefusedElements(session, tried);
  const next = await readAfterRefusal(session, item, { operation, error, isUncertain: open !== undefined });
  switch (next.kind) {
    case "hidden":
      return void concludeHidden(task, open, next.contact);
    case "rejected":
      return void concludeRefused(task, tried, next);
    case "again":
      // What was lost before may yet prove to have been applied; a plain refusal leaves nothing open.
      if (!open) note(session, { kind: "void", ref: item.ref });
      return decided(
        task,
        { ...tried, conflicts: tried.conflicts + 1 },
        { found: next.found, at: session.clock.now() },
      );
  }
}

/** Whether the service may have refused the form in which references are named, rather than the change. */
function mayBeAboutElements(
  { visibility }: Session,
  { decision, elements }: Tried,
  error: ServiceError,
): boolean {
  if (elements !== undefined || visibility.isObject) return false;
  return decision.kind === "change" && mayBeElements(error, decision.body);
}

/** Bare ids are refused too: the form was not the reason. */
function noteRefusedElements({ behavior, visibility }: Session, { elements }: Tried): void {
  if (behavior.get("mutateElements") === undefined && elements === "id") visibility.isObject = true;
}

/** The key is taken by a contact that no plain search shows. */
function concludeHidden(
  task: Task,
  open: OpenIntent | undefined,
  contact: Partial<Contact> | undefined,
): void {
  const { session, item } = task;
  // A create makes nobody inactive: the contact may be one that the account held before.
  const isOurs = open && (!contact || wasApplied(open, contact));
  if (isOurs) {
    done(task, "created", contact, open.operation.remark);
    return;
  }
  const skipped = { outcome: "skipped", code: "exists_hidden", inactive: true } as const;
  note(session, { kind: "done", ref: item.ref, contactId: contact?._id, ...skipped });
}

/** The service may have said no to a change that was there already: only the contact itself can tell. */
function concludeRefused(
  task: Task,
  { decision: operation, open }: Tried,
  { reason, found }: Extract<AfterRefusal, { kind: "rejected" }>,
): void {
  const contact = found?.contact;
  if (!contact || !isAlready(operation, contact)) {
    reject(task, reason);
    return;
  }
  const outcome = open ? plannedOutcome(task.item, operation) : "unchanged";
  done(task, outcome, contact, open?.operation.remark);
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
