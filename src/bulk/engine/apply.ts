/** One contact's write, from the decision to a certain outcome: sent, and settled when the answer was lost. */
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
import type { Found } from "../account/lookup.ts";
import type { Decision, Item, Operation, Work } from "../items.ts";
import type { RequestKind } from "../pacing/paced-send.ts";
import type { Reply } from "../pacing/reply.ts";
import type { OpenIntent } from "../runs/ledger.ts";
import { withStatus } from "./decide.ts";
import { conclude, done, isWrite, outcomeOfWrite, reject, type Task } from "./outcomes.ts";
import { findOne, readAfterRefusal, readWritten } from "./read-back.ts";
import { note, type Session, serviceNow } from "./session.ts";
import { wasApplied } from "./settle.ts";

/** How often a contact may have changed while it is being written before its row is given up. */
const mostConflicts = 5;
/** How often a contact's write may go without an answer, while others are answered, before its row is given up. */
const mostLost = 10;
/** After so many contacts that a look-up has missed, the next ones are looked up by themselves before they are created. */
const mostMissed = 10;

type Elements = BehaviorPoints["mutateElements"];

/** What is known of a contact before its next write. */
interface Attempt {
  readonly found: Found;
  readonly decision: Decision;
  /** An earlier write that may have been applied. */
  readonly open: OpenIntent | undefined;
  /** How a mutate names references. */
  readonly elements: Elements | undefined;
  /** How often the contact had changed meanwhile. */
  readonly conflicts: number;
  /** How often nobody knew whether the write had been applied. */
  readonly lost: number;
}

/**
 * Carries out a decision and writes its outcome down. Decides again when the contact has changed meanwhile.
 * @throws RunStop when the run ends first; then the intent may be left open
 */
export async function carryOut<T extends Item>(
  task: Task<T>,
  { found, decision }: { found: Found; decision: Decision },
): Promise<void> {
  const { session, work, item } = task;
  const open = session.ledger.openIntent(item.ref);
  const elements = session.behavior.get("mutateElements");
  let next: Attempt | undefined = { found, decision, open, elements, conflicts: 0, lost: 0 };
  if (decision.kind === "create" && session.visibility.missed >= mostMissed) {
    const fresh = await findOne(session, item);
    next = { ...next, found: fresh, decision: work.decide(item, fresh.contact) };
  }
  while (next) next = await attempt(task, next);
}

/** @returns what is known for another attempt; undefined once the outcome is written down */
async function attempt<T extends Item>(task: Task<T>, known: Attempt): Promise<Attempt | undefined> {
  const { session, work, item } = task;
  const { found, decision, elements } = known;
  let { open } = known;
  if (open?.operation.kind === "status" && isWrite(decision) && isInactive(found.contact)) {
    note(session, { kind: "applied", ref: item.ref });
    open = undefined;
  }
  if (open && wasApplied(open, found.contact, decision)) {
    const contact = found.contact ?? { _id: contactIdOf(open.operation) };
    return void done(task, outcomeOfWrite(open.operation.kind, work), contact, open.operation.remark);
  }
  if (!isWrite(decision)) {
    const isBegun = session.ledger.isBegun(item.ref) && decision.kind !== "reject";
    if (isBegun) return void done(task, outcomeOfWrite("change", work), found.contact);
    return void conclude(task, decision, found.contact);
  }
  if (known.conflicts > mostConflicts) {
    const message = "the contact keeps changing while it is being written";
    return void reject(session, item, { code: "keeps_changing", message });
  }
  // The key as the account holds it, so that an undo finds it again.
  const key = found.contact?.key ?? item.key.sent;
  const intent: OpenIntent = { key, at: open?.at ?? serviceNow(session), operation: decision };
  const reply = await write(session, item, intent, { isOpen: open !== undefined, elements });
  const tried = { ...known, decision, open };
  if (reply.kind === "answered") return afterAnswer(task, tried, reply.answer.body);
  if (reply.kind === "refused") return afterRefusal(task, tried, reply.error);
  return afterLoss(task, { ...tried, open: open ?? intent, lost: known.lost + 1 }, reply.error);
}

/** An attempt whose write was sent. */
type Tried = Attempt & { readonly decision: Operation };

/** After a status has changed, the fields may still have to. */
function afterAnswer<T extends Item>(task: Task<T>, tried: Tried, body: unknown): Attempt | undefined {
  const { session, work, item } = task;
  const { found, decision, elements } = tried;
  learnFromAnswer(session, decision, body, elements);
  if (decision.kind === "status" && found.contact) {
    const contact = withStatus(found.contact, decision.status);
    const next = work.decide(item, contact);
    if (isWrite(next)) {
      note(session, { kind: "applied", ref: item.ref });
      return { ...tried, open: undefined, found: { ...found, contact }, decision: next };
    }
  }
  const written = decision.kind === "create" ? { _id: idIn(body) } : found.contact;
  return void done(task, outcomeOfWrite(decision.kind, work), written, decision.remark);
}

async function afterRefusal<T extends Item>(
  task: Task<T>,
  tried: Tried,
  error: ServiceError,
): Promise<Attempt | undefined> {
  const { session, work, item } = task;
  const { behavior, visibility } = session;
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
    const isOurs = open && (!contact || wasApplied(open, contact, operation));
    if (isOurs) return void done(task, "created", contact, open.operation.remark);
    const skipped = { outcome: "skipped", code: "exists_hidden", inactive: true } as const;
    return void note(session, { kind: "done", ref: item.ref, contactId: contact?._id, ...skipped });
  }
  if (next.kind === "rejected") {
    // The service may have said no to a change that was there already: only the contact itself can tell.
    const isThere = next.found && work.decide(item, next.found.contact).kind === "leave";
    if (!isThere) return void reject(session, item, next.reason);
    const outcome = open ? outcomeOfWrite(operation.kind, work) : "unchanged";
    return void done(task, outcome, next.found!.contact, open?.operation.remark);
  }
  // What was lost before may yet prove to have been applied; a plain refusal leaves nothing open.
  if (!open) note(session, { kind: "void", ref: item.ref });
  const { found } = next;
  return { ...tried, found, decision: work.decide(item, found.contact), conflicts: tried.conflicts + 1 };
}

/** A create is sent again: the service takes it once. Anything else is compared with what the contact is now. */
async function afterLoss<T extends Item>(
  task: Task<T>,
  tried: Tried & { readonly open: OpenIntent },
  error: EcmError,
): Promise<Attempt | undefined> {
  const { session, work, item } = task;
  const { decision: operation, open, lost } = tried;
  const isLast = lost >= mostLost;
  if (operation.kind === "create" && !isLast) return tried;
  const found = await (operation.kind === "create"
    ? findOne(session, item)
    : readWritten(session, item, operation));
  const decision = work.decide(item, found.contact);
  const isSameAgain = decision.kind === operation.kind && !wasApplied(open, found.contact, decision);
  if (isLast && isSameAgain) return void reject(session, item, { code: error.type, message: error.message });
  return { ...tried, found, decision };
}

/** How many requests it takes until the contact is done. */
export function requestsFor<T extends Item>(
  work: Work<T>,
  item: T,
  decision: Operation,
  contact: Partial<Contact> | undefined,
): number {
  if (decision.kind !== "status" || !contact) return 1;
  return isWrite(work.decide(item, withStatus(contact, decision.status))) ? 2 : 1;
}

/** The intent is on the disk before the request leaves. */
function write(
  session: Session,
  item: Item,
  intent: OpenIntent,
  { isOpen, elements }: { isOpen: boolean; elements: Elements | undefined },
): Promise<Reply> {
  const { request, countedAs } = requestOf(intent.operation, elements);
  return session.send.send(request, countedAs, {
    async beforeLeaving() {
      note(session, { kind: "intent", ref: item.ref, ...intent });
      await session.syncIntents?.();
    },
    notApplied() {
      if (!isOpen) note(session, { kind: "void", ref: item.ref });
    },
  });
}

function requestOf(
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

function contactIdOf(operation: Operation): string | undefined {
  return operation.kind === "create" ? undefined : operation.contactId;
}

/** The new contact's id. An answer without one has created the contact all the same. */
function idIn(body: unknown): string | undefined {
  const id = (body as Partial<Contact> | null | undefined)?._id;
  return typeof id === "string" ? id : undefined;
}

/** What the answer to a write tells of the service. Nothing else is read from the answer to a mutate. */
function learnFromAnswer(
  { behavior, visibility }: Session,
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
