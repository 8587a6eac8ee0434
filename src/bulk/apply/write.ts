/**
 * One contact's write, from its line of the plan to a certain
 * outcome: sent, and settled when the answer was lost.
 */

import {
  changeStatusRequest,
  createContactRequest,
  deleteContactRequest,
  isInactive,
  mutateContactRequest,
  unsubscribed,
} from "../../api/contacts.ts";
import type { EcmError, ServiceError } from "../../errors.ts";
import { hasReferences, mayBeElements, setElementForm } from "../../service/contact-changes.ts";
import type { ApiRequest, Contact } from "../../wire.ts";
import { hasAll } from "../decide.ts";
import type { Operation } from "../desired.ts";
import type { Reply, RequestKind } from "../pace/paced-send.ts";
import { isWrite, toPlannedOutcome } from "../plan/numbers.ts";
import { readServiceTime, recordInJournal, type Session } from "../plan/session.ts";
import type { OpenIntent } from "../runs/ledger.ts";
import { readMutateValues } from "../values.ts";
import {
  type Attempt,
  decided,
  type Elements,
  type Freshness,
  isKeptFromCreation,
  mayBeSent,
  planFirstAttempt,
  recordRejection,
  type SentAttempt,
  settleWithoutWrite,
  settleWrite,
  type Task,
} from "./attempt.ts";
import { type AfterRefusal, findLost, findOne, readAfterRefusal, readWritten, wasApplied } from "./settle.ts";

/** How often a contact may have changed while it is being written before its row is given up. */
const maxConflicts = 5;
/**
 * How often a contact's write may go without an answer, while
 * others are answered, before its row is given up.
 */
const maxLostAnswers = 10;

/** A create that was lost is sent again so often without a look whether it was applied. */
const maxBlindCreates = 3;

/**
 * Carries out a line of the plan and writes its outcome down. Decides
 * again when the contact has changed meanwhile.
 * @param start what is known of the contact, where it was tried before
 * @returns a create that was refused as a duplicate while no search shows the contact: its outcome is open
 * @throws RunStop when the run ends first; then the intent may be left open
 */
export async function performWrite(
  task: Task,
  freshness: Freshness,
  start?: Attempt,
): Promise<SentAttempt | undefined> {
  const { session } = task;
  let next: Attempt | undefined = start ?? (await planFirstAttempt(task, freshness));
  while (next) {
    if (next.open && isKeptFromCreation(task, next)) {
      next = decided(task, next, { found: await findLost(session, task.item), at: session.clock.now() });
    } else if (isWrite(next.decision) && !next.open && !mayBeSent(task, next)) {
      const lookUps = next.lookUps + 1;
      next = { ...decided(task, next, await freshness.lookUpAgain()), lookUps };
    }
    const elements: Elements | undefined = next.elements ?? session.lookup.behavior.get("mutateElements");
    const sent = await sendAttempt(task, { ...next, elements });
    if (sent && "unseen" in sent) return sent.unseen;
    next = sent;
  }
}

/** What is known for another attempt; undefined once the outcome is written down. */
type AfterSending = Attempt | { unseen: SentAttempt } | undefined;

async function sendAttempt(task: Task, before: Attempt): Promise<AfterSending> {
  const { open, decision, found } = before;
  if (open && wasApplied(open, found.contact)) return void concludeApplied(task, open, found.contact);
  if (!isWrite(decision)) return void settleWithoutWrite(task, decision, found.contact);
  if (before.conflicts > maxConflicts) return void recordKeepsChanging(task);
  return write(task, { ...before, decision });
}

function recordKeepsChanging(task: Task): void {
  const code = "keeps_changing";
  recordRejection(task, { code, message: task.session.judging.describe({ code }) });
}

/** An earlier write has turned out to have been applied. */
function concludeApplied(task: Task, { operation }: OpenIntent, found: Partial<Contact> | undefined): void {
  const contact = found ?? (operation.kind === "create" ? undefined : { _id: operation.id });
  settleWrite(task, toPlannedOutcome(task.item, operation), contact, operation.remark);
}

async function write(task: Task, attempt: SentAttempt): Promise<AfterSending> {
  const { session, item } = task;
  const { found, open, decision: operation } = attempt;
  // The key as the account holds it, so that an undo finds it again.
  const key = found.contact?.key ?? item.key.sent;
  const intent: OpenIntent = { key, at: open?.at ?? readServiceTime(session), operation };
  const reply = await sendWrite(task, intent, attempt);
  switch (reply.kind) {
    case "withheld":
      return attempt;
    case "answered":
      return void handleAnswer(task, attempt, reply.answer.body);
    case "refused":
      return handleRefusal(task, attempt, reply.error);
    case "uncertain":
      return handleLostAnswer(
        task,
        { ...attempt, open: open ?? intent, lost: attempt.lost + 1 },
        reply.error,
      );
  }
}

function handleAnswer(task: Task, sent: SentAttempt, body: unknown): void {
  const { session, item } = task;
  const { found, decision } = sent;
  learnFromAnswer(session, sent, body);
  const written = decision.kind === "create" ? { _id: readId(body) } : found.contact;
  settleWrite(task, toPlannedOutcome(item, decision), written, decision.remark);
}

async function handleRefusal(task: Task, sent: SentAttempt, error: ServiceError): Promise<AfterSending> {
  const { session, item } = task;
  const { decision: operation, open } = sent;
  if (mayBeAboutElements(session, sent, error)) {
    if (!open) recordInJournal(session, { kind: "void", ref: item.ref });
    return { ...sent, elements: "id" };
  }
  noteRefusedElements(session, sent);
  const next = await readAfterRefusal(session, item, operation, error);
  if (next.kind === "rejected") return void concludeRefused(task, sent, next);
  // What was lost before may yet prove to have been applied; a plain refusal leaves nothing open.
  if (!open) recordInJournal(session, { kind: "void", ref: item.ref });
  if (next.kind === "unseen") return { unseen: sent };
  return decided(
    task,
    { ...sent, conflicts: sent.conflicts + 1 },
    { found: next.found, at: session.clock.now() },
  );
}

/** Whether the service may have refused the form in which references are named, rather than the change. */
function mayBeAboutElements(
  { observed }: Session,
  { decision, elements }: SentAttempt,
  error: ServiceError,
): boolean {
  if (elements !== undefined || observed.refusesBareIds) return false;
  return decision.kind === "change" && mayBeElements(error, decision.body);
}

/** Bare ids are refused too: the form was not the reason. */
function noteRefusedElements({ lookup, observed }: Session, { elements }: SentAttempt): void {
  if (lookup.behavior.get("mutateElements") === undefined && elements === "id")
    observed.refusesBareIds = true;
}

/** The service may have said no to a change that was there already: only the contact itself can tell. */
function concludeRefused(
  task: Task,
  { decision: operation, open }: SentAttempt,
  { reason, found }: Extract<AfterRefusal, { kind: "rejected" }>,
): void {
  const contact = found?.contact;
  if (!contact || !isAlreadyApplied(operation, contact)) {
    recordRejection(task, reason);
    return;
  }
  const outcome = open ? toPlannedOutcome(task.item, operation) : "unchanged";
  settleWrite(task, outcome, contact, open?.operation.remark);
}

function isAlreadyApplied(operation: Operation, contact: Partial<Contact>): boolean {
  if (operation.kind === "change") return hasAll(readMutateValues(operation.body), contact);
  return operation.kind === "unsubscribe" && isInactive(contact);
}

/**
 * A create is sent again: the service takes it once. Anything else, and a create that is lost again and again,
 * is compared with what the contact is now.
 */
async function handleLostAnswer(
  task: Task,
  sent: SentAttempt & { readonly open: OpenIntent },
  error: EcmError,
): Promise<Attempt | undefined> {
  const { session, item } = task;
  const { decision: operation, open, lost } = sent;
  const isLast = lost >= maxLostAnswers;
  if (operation.kind === "create" && lost <= maxBlindCreates) return sent;
  const found = await (operation.kind === "create"
    ? findOne(session, item)
    : readWritten(session, item, operation));
  const next = decided(task, sent, { found, at: session.clock.now() });
  const isSameAgain = next.decision.kind === operation.kind && !wasApplied(open, found.contact);
  if (isLast && isSameAgain) return void recordRejection(task, { code: error.type, message: error.message });
  return next;
}

/** The intent is on the disk before the request leaves. */
function sendWrite(task: Task, intent: OpenIntent, tried: SentAttempt): Promise<Reply> {
  const { session, item } = task;
  const { request, countedAs } = toRequest(intent.operation, tried.elements);
  return session.send.send(request, countedAs, {
    ref: item.ref,
    async beforeLeaving() {
      if (tried.open ? isKeptFromCreation(task, tried) : !mayBeSent(task, tried)) return false;
      recordInJournal(session, { kind: "intent", ref: item.ref, ...intent });
      await session.syncIntents?.();
      return true;
    },
    notApplied() {
      if (!tried.open) recordInJournal(session, { kind: "void", ref: item.ref });
    },
  });
}

function toRequest(
  operation: Operation,
  elements: Elements | undefined,
): { request: ApiRequest; countedAs: RequestKind } {
  switch (operation.kind) {
    case "create":
      return { request: createContactRequest(operation.body), countedAs: "create" };
    case "change":
      return {
        request: mutateContactRequest(operation.id, setElementForm(operation.body, elements)),
        countedAs: "mutate",
      };
    case "unsubscribe":
      return { request: changeStatusRequest(operation.id, unsubscribed), countedAs: "other" };
    case "delete":
      return { request: deleteContactRequest(operation.id), countedAs: "other" };
  }
}

/** The new contact's id. An answer without one has created the contact all the same. */
function readId(body: unknown): string | undefined {
  const id = (body as Partial<Contact> | null | undefined)?._id;
  return typeof id === "string" ? id : undefined;
}

/** What the answer to a write tells of the service. Nothing else is read from the answer to a mutate. */
function learnFromAnswer(
  { lookup: { behavior }, observed }: Session,
  { decision, elements }: SentAttempt,
  body: unknown,
): void {
  if (decision.kind === "create") observed.missedInARow = 0;
  if (decision.kind !== "change") return;
  const isContact = (body as Partial<Contact> | null | undefined)?._id === decision.id;
  behavior.learn(
    "mutateAnswer",
    body === undefined || body === null ? "empty" : isContact ? "contact" : "other",
  );
  if (hasReferences(decision.body)) behavior.learn("mutateElements", elements ?? "object");
}
