/** One contact's write, from the decision to a certain outcome: sent, and settled when the answer was lost. */

import type { ServiceError } from "../../errors.ts";
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
import type { Decision, Item, Operation, Outcome, Work } from "../items.ts";
import type { Reply, RequestKind } from "../pacing/paced-send.ts";
import type { OpenIntent } from "../runs/ledger.ts";
import { withStatus } from "./decide.ts";
import { note, type Session, serviceNow } from "./session.ts";
import { wasApplied } from "./settle.ts";

/** How often a contact may have changed under our hands before its row is given up. */
const mostConflicts = 5;
/** A search may lag behind a create: look again after these, in milliseconds. */
const visibilityPauses = [1000, 3000, 10_000];
/** After so many contacts that a look-up has missed, the next ones are looked up by themselves before they are created. */
const mostMissed = 10;

type Elements = BehaviorPoints["mutateElements"];

const writes: readonly Decision["kind"][] = ["create", "change", "status", "delete"];

export function isWrite(decision: Decision): decision is Operation {
  return writes.includes(decision.kind);
}

/** What a write counts as once it is carried out. */
export function outcomeOfWrite(kind: Operation["kind"], work: Pick<Work, "changed">): Outcome {
  if (kind === "create") return "created";
  return kind === "delete" ? "deleted" : (work.changed ?? "updated");
}

/**
 * Carries out a decision and writes its outcome down. Decides again when the contact has changed meanwhile.
 * @throws RunStop when the run ends first; then the intent may be left open
 */
export async function carryOut<T extends Item>(
  session: Session,
  work: Work<T>,
  item: T,
  first: { found: Found; decision: Decision },
): Promise<void> {
  let { found, decision } = first;
  if (decision.kind === "create" && session.visibility.missed >= mostMissed) {
    found = await findOne(session, item);
    decision = work.decide(item, found.contact);
  }
  let open = session.ledger.openIntent(item.ref);
  let elements = session.behavior.get("mutateElements");
  for (let conflicts = 0; ; ) {
    if (open?.operation.kind === "status" && isWrite(decision) && isInactive(found.contact)) {
      note(session, { kind: "applied", ref: item.ref });
      open = undefined;
    }
    if (open && wasApplied(open, found.contact, decision)) {
      const contact = found.contact ?? { _id: contactIdOf(open.operation) };
      return done(session, work, item, outcomeOfWrite(open.operation.kind, work), contact);
    }
    if (!isWrite(decision)) {
      if (session.ledger.isBegun(item.ref) && decision.kind !== "reject")
        return done(session, work, item, outcomeOfWrite("change", work), found.contact);
      return conclude(session, work, item, decision, found.contact);
    }
    if (conflicts > mostConflicts) {
      return reject(session, item, "keeps_changing", "the contact keeps changing while it is being written");
    }
    const operation: Operation = decision;
    // As the account holds it, so that an undo finds it again.
    const key = found.contact?.key ?? item.key.sent;
    const intent: OpenIntent = { key, at: open?.at ?? serviceNow(session), operation };
    const reply = await write(session, item, intent, { isOpen: open !== undefined, elements });
    if (reply.kind === "answered") {
      noteAnswer(session, operation, reply.answer.body, elements);
      if (operation.kind === "status" && found.contact) {
        const now = withStatus(found.contact, operation.status);
        const next = work.decide(item, now);
        if (isWrite(next)) {
          note(session, { kind: "applied", ref: item.ref });
          open = undefined;
          found = { ...found, contact: now };
          decision = next;
          continue;
        }
      }
      const outcome = outcomeOfWrite(operation.kind, work);
      const written = operation.kind === "create" ? { _id: idIn(reply.answer.body) } : found.contact;
      return done(session, work, item, outcome, written);
    }
    if (reply.kind === "uncertain") {
      open ??= intent;
      // A create is sent again: the service takes it once. Anything else is compared with what the contact is now.
      if (operation.kind !== "create") found = await readWritten(session, item, operation);
    } else {
      if (elements === undefined && !session.visibility.isObject && isAboutElements(reply.error, operation)) {
        elements = "id";
        if (!open) note(session, { kind: "void", ref: item.ref });
        continue;
      }
      // Bare ids are refused too: the form was not the reason.
      if (session.behavior.get("mutateElements") === undefined && elements === "id")
        session.visibility.isObject = true;
      const next = await afterRefusal(session, item, operation, reply.error, open !== undefined);
      if (next.kind === "hidden") {
        if (open) return done(session, work, item, "created", undefined);
        const skipped = { outcome: "skipped", code: "exists_hidden", inactive: true } as const;
        return note(session, { kind: "done", ref: item.ref, contactId: next.contactId, ...skipped });
      }
      if (next.kind === "rejected") {
        // The service may have said no to a change that was there already: only the contact itself can tell.
        if (next.found) {
          const now = work.decide(item, next.found.contact);
          if (now.kind === "leave")
            return done(
              session,
              work,
              item,
              open ? outcomeOfWrite(operation.kind, work) : "unchanged",
              next.found.contact,
            );
        }
        return reject(session, item, next.code, next.message);
      }
      found = next.found;
      conflicts++;
      // What was lost before may yet prove to have been applied; a plain refusal leaves nothing open.
      if (!open) note(session, { kind: "void", ref: item.ref });
    }
    decision = work.decide(item, found.contact);
  }
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

/** Writes down a decision that needs no request. */
export function conclude<T extends Item>(
  session: Session,
  work: Work<T>,
  item: T,
  decision: Exclude<Decision, Operation>,
  contact: Partial<Contact> | undefined,
): void {
  if (decision.kind === "reject") {
    reject(session, item, decision.code, decision.message);
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

export function reject(session: Session, item: Item, code: string, message: string): void {
  note(session, { kind: "done", ref: item.ref, outcome: "rejected", code, message });
}

function done<T extends Item>(
  session: Session,
  work: Work<T>,
  item: T,
  outcome: Outcome,
  contact: Partial<Contact> | undefined,
): void {
  // Whom this run has unsubscribed was active and marked, also when that is seen only after a crash.
  const wasUnsubscribed =
    work.isMarked !== undefined &&
    (session.ledger.isBegun(item.ref) || session.ledger.openIntent(item.ref)?.operation.kind === "status");
  const marked = wasUnsubscribed || work.isMarked?.(item, contact) || undefined;
  const inactive = (!marked && isInactive(contact)) || undefined;
  const remark = work.remark?.(item);
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

/** The intent is on the disk before the request leaves. */
function write(
  session: Session,
  item: Item,
  intent: OpenIntent,
  { isOpen, elements }: { isOpen: boolean; elements: Elements | undefined },
): Promise<Reply> {
  const { operation } = intent;
  const { request, countedAs } = requestOf(operation, elements);
  return session.send.send(request, countedAs, {
    async beforeLeaving() {
      note(session, { kind: "intent", ref: item.ref, ...intent });
      await session.journal?.sync();
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

type AfterRefusal =
  | { kind: "again"; found: Found }
  /** It exists, and no search without a condition shows it. */
  | { kind: "hidden"; contactId?: string }
  /** `found` where the contact has to be compared before the refusal is believed. */
  | { kind: "rejected"; code: string; message: string; found?: Found };

async function afterRefusal(
  session: Session,
  item: Item,
  operation: Operation,
  error: ServiceError,
  isUncertain: boolean,
): Promise<AfterRefusal> {
  const rejected = { kind: "rejected" as const, code: error.type, message: messageOf(error) };
  if (operation.kind === "create") {
    if (error.type !== "DuplicateFieldError") return rejected;
    return findExisting(session, item, isUncertain);
  }
  if (error.type === "ConcurrencyError") {
    return { kind: "again", found: await readAgain(session, item, operation.contactId) };
  }
  if (error.status === 404) {
    // A contact that others have made anew under the key of a deleted one is not the one that was to be deleted.
    const found = operation.kind === "delete" ? { isKept: false } : await findOne(session, item);
    return { kind: "again", found };
  }
  const isPrecise = error.details.field !== undefined || error.details.fieldId !== undefined;
  if (error.status !== 400 || isPrecise) return rejected;
  return { ...rejected, found: await readAgain(session, item, operation.contactId) };
}

/**
 * What a write of which nobody knows whether it was applied was meant for, as it is now: by its id, since a search may
 * lag behind, and may not show who is inactive. Only an id that does not exist proves a deletion.
 */
export async function readWritten(
  session: Session,
  item: Item,
  operation: Exclude<Operation, { kind: "create" }>,
): Promise<Found> {
  if (operation.kind !== "delete") return readAgain(session, item, operation.contactId);
  return { contact: await session.lookup.read(operation.contactId), isKept: false };
}

/** The contact as it is now; looked up by its key when its id is gone. */
async function readAgain(session: Session, item: Item, contactId: string): Promise<Found> {
  const contact = await session.lookup.read(contactId);
  return contact ? { contact, isKept: false } : findOne(session, item);
}

async function findOne(session: Session, item: Item): Promise<Found> {
  return (await session.lookup.findFresh([item])).get(item.ref) ?? { isKept: false };
}

/**
 * The contact whose key the service takes no second time. Where a search does not show it, it is inactive in an account
 * that hides such contacts, or the search lags behind whoever created it: that is waited for, but not for each row anew.
 */
async function findExisting(session: Session, item: Item, isUncertain: boolean): Promise<AfterRefusal> {
  const { behavior, lookup, visibility, clock } = session;
  const since = clock.now();
  const seen = await findOne(session, item);
  if (seen.contact) {
    visibility.missed++;
    lookup.meet(seen.contact);
    return { kind: "again", found: seen };
  }
  const hidden = await lookup.findHidden(item);
  if (hidden) {
    behavior.learn("inactive", "hidden");
    return { kind: "hidden", contactId: hidden._id };
  }
  for (const pause of visibility.isVain && !isUncertain ? [] : visibilityPauses) {
    await clock.sleep(pause, session.send.ended);
    const found = await findOne(session, item);
    if (!found.contact) continue;
    behavior.learn("searchLag", Math.max(1, Math.round(clock.now() - since)));
    return { kind: "again", found };
  }
  visibility.isVain = true;
  return { kind: "hidden" };
}

/** What the answer to a write tells of the service. Nothing else is read from the answer to a mutate. */
function noteAnswer(
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

function messageOf(error: ServiceError): string {
  const { field, fieldId } = error.details;
  const place = field ?? fieldId;
  return place === undefined || error.message.includes(place) ? error.message : `${error.message} (${place})`;
}
