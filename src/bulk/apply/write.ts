/**
 * One contact's write, from its line of the plan to a certain outcome: looked up again where what was decided
 * is too old, sent, and settled when the answer was lost.
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
import type { BehaviorPoints } from "../../service/behavior.ts";
import { hasReferences, mayBeElements, setElementForm } from "../../service/contact-changes.ts";
import type { ApiRequest, Contact } from "../../wire.ts";
import type { Before, Decision, Item, Operation, Outcome, Remark, Write } from "../desired.ts";
import type { Reply, RequestKind } from "../pace/paced-send.ts";
import { judge } from "../plan/judge.ts";
import type { Found } from "../plan/lookup.ts";
import { alwaysHasSecondLook, isWrite, toPlannedOutcome } from "../plan/numbers.ts";
import { readServiceTime, recordInJournal, type Session } from "../plan/session.ts";
import type { OpenIntent } from "../runs/ledger.ts";
import { toCreateBody, toMutateBody } from "../values.ts";
import { readWritten, wasApplied } from "./settle.ts";

/** How often a contact may have changed while it is being written before its row is given up. */
const maxConflicts = 5;
/** How often a write may go without an answer, while others are answered, before its row is given up. */
const maxLostAnswers = 10;
/** After so many missed contacts in a row, each is looked up by itself before it is created. */
const maxMissed = 10;
/** A create that was lost is sent again so often without a look whether it was applied. */
const maxBlindCreates = 3;
/** How old a look-up may be, in milliseconds, when a change that rests on it leaves. */
const maxDecisionAgeMilliseconds = 300_000;
/** Where so few requests fit between two waits, the write follows its look after a wait. */
const maxLooks = 3;

type Elements = BehaviorPoints["mutateElements"];

/** One contact of a plan. */
export interface Task {
  readonly item: Item;
  /** As the plan has it. */
  readonly planned: Write;
  /** What the plan keeps of the contact; absent where it saw nobody. */
  readonly before: Before | undefined;
  /** What the plan saw, with the key as the account spells it. */
  readonly seen: Found;
  /** The contact as it is now. */
  lookAgain(): Promise<Found>;
}

/**
 * `unseen`: no search shows a contact that may have been created, by us or by others: a search may lag
 * behind, and the outcome is open.
 */
type Outlook = "settled" | "unseen" | "again";

export class ContactWrite {
  readonly item: Item;
  private readonly session: Session;
  private readonly task: Task;
  private found: Found;
  private decision: Decision;
  /** An earlier write that may have been applied. */
  private open: OpenIntent | undefined;
  /** How a mutate names references, as far as it is known. */
  private elements: Elements | undefined;
  private isBegun = false;
  /** How often the contact had changed meanwhile. */
  private conflicts = 0;
  /** How often nobody knew whether the write had been applied. */
  private lost = 0;
  /** How often the contact was looked at again. */
  private looks = 0;

  constructor(session: Session, task: Task) {
    this.session = session;
    this.task = task;
    this.item = task.item;
    this.found = task.seen;
    this.decision = task.planned;
  }

  /**
   * Carries out a line of the plan and writes its outcome down. Decides again when the contact has changed
   * meanwhile.
   * @throws RunStop when the run ends first; then the intent may be left open
   */
  async perform(): Promise<Exclude<Outlook, "again">> {
    if (!this.isBegun) await this.begin();
    this.isBegun = true;
    for (;;) {
      await this.makeSure();
      const next = await this.attempt();
      if (next !== "again") return next;
    }
  }

  /** Decides by what was seen now, with the function that made the plan. */
  decideAgain(found: Found): "again" {
    this.found = found;
    this.decision = judge(this.item, found, this.session.judging);
    return "again";
  }

  /** The same where the contact was not as the write expected. */
  decideAfterConflict(found: Found): "again" {
    this.conflicts++;
    return this.decideAgain(found);
  }

  /** Why the contact is left, where no search shows it to the end. */
  get codeUnseen(): string {
    return this.decision.kind === "skip" ? this.decision.code : "exists_hidden";
  }

  /** A write of an earlier invocation that may have been applied is settled first. */
  private async begin(): Promise<void> {
    const { session, item, task } = this;
    this.open = session.ledger.openIntent(item.ref);
    if (this.open) {
      const { operation } = this.open;
      const isEnd = alwaysHasSecondLook(operation);
      this.decideAgain(isEnd ? await readWritten(session, item, operation) : await task.lookAgain());
    } else if (task.planned.kind === "create" && session.lookup.missedInARow >= maxMissed) {
      this.decideAgain(await session.lookup.findOne(item));
    }
  }

  private async makeSure(): Promise<void> {
    if (this.open) {
      // It is not sent again: only the account tells whether it was applied.
      if (this.isKeptFromCreation()) this.decideAgain(await this.session.lookup.findOne(this.item));
    } else if (isWrite(this.decision) && !this.mayLeave()) {
      this.looks++;
      this.decideAgain(await this.task.lookAgain());
    }
  }

  private async attempt(): Promise<Outlook> {
    const { open, decision, found, session } = this;
    if (open && wasApplied(open, found.contact)) return this.settleAsApplied(open);
    if (decision.kind === "leave") return this.settle("unchanged", found.contact);
    // Sent before its person was suppressed.
    const isLostCreate = open?.operation.kind === "create" && !found.contact;
    if (decision.kind === "skip" && isLostCreate) return "unseen";
    if (decision.kind === "skip") return this.settle("skipped", found.contact, decision);
    if (decision.kind === "reject") return this.reject(decision);
    if (this.conflicts > maxConflicts) {
      const code = "keeps_changing";
      return this.reject({ code, message: session.judging.describe({ code }) });
    }
    // The key as the account holds it, so that an undo finds it again.
    const key = found.contact?.key ?? this.item.key.sent;
    const intent: OpenIntent = { key, at: open?.at ?? readServiceTime(session), operation: decision };
    const reply = await this.send(intent);
    switch (reply.kind) {
      case "withheld":
        return "again";
      case "answered":
        return this.settleAnswered(decision, reply.answer.body);
      case "refused":
        return this.goOnAfterRefusal(decision, reply.error);
      case "uncertain":
        this.open = open ?? intent;
        return this.goOnAfterLoss(this.open, decision, reply.error);
    }
  }

  /** The intent is on the disk before the request leaves. */
  private send(intent: OpenIntent): Promise<Reply> {
    const { session } = this;
    const { ref } = this.item;
    this.elements ??= session.lookup.behavior.get("mutateElements");
    const { request, countedAs } = toRequest(intent.operation, session.judging.structureId, this.elements);
    return session.send.send(request, countedAs, {
      ref,
      beforeLeaving: async () => {
        if (this.open ? this.isKeptFromCreation() : !this.mayLeave()) return false;
        recordInJournal(session, { kind: "intent", ref, ...intent });
        await session.run?.journal.sync();
        return true;
      },
      notApplied: () => this.takeBack(),
    });
  }

  /** A create needs no second look, since the service refuses a second contact. */
  private mayLeave(): boolean {
    if (this.decision.kind === "create") return !this.isKeptFromCreation();
    return this.looks > maxLooks || isFresh(this.session, this.found.at);
  }

  /** Whether somebody is created who is suppressed, or was erased, by now. Asked each time a write leaves. */
  private isKeptFromCreation(): boolean {
    const { decision, item, session } = this;
    return decision.kind === "create" && session.judging.suppression.holdsNow(item.key.sent);
  }

  /** What was lost before may yet prove to have been applied; a plain refusal leaves nothing open. */
  private takeBack(): void {
    if (!this.open) recordInJournal(this.session, { kind: "void", ref: this.item.ref });
  }

  private goOnAfterRefusal(operation: Write, error: ServiceError): Outlook | Promise<Outlook> {
    const isFormOpen = this.elements === undefined && operation.kind === "change";
    // The form in which references are named may have been refused, rather than the change.
    if (isFormOpen && mayBeElements(error, toMutateBody(operation))) {
      this.takeBack();
      this.elements = "id";
      return "again";
    }
    const reason = { code: error.type, message: toServerMessage(error) };
    if (operation.kind === "create") return this.goOnAfterRefusedCreate(reason);
    const { status, field, fieldId } = error.details;
    const isGone = status === 404;
    if (isGone || error.type === "ConcurrencyError") return this.goOnAfterChange(operation, reason, isGone);
    const isPrecise = field !== undefined || fieldId !== undefined;
    return status !== 400 || isPrecise ? this.reject(reason) : this.compareRefused(operation, reason);
  }

  private async goOnAfterRefusedCreate(reason: Remark): Promise<Outlook> {
    if (reason.code !== "DuplicateFieldError") return this.reject(reason);
    const existing = await this.session.lookup.findOne(this.item);
    this.takeBack();
    if (!existing.contact) return "unseen";
    this.session.lookup.missedInARow++;
    return this.decideAfterConflict(existing);
  }

  /** The contact is gone, or not of the version that was seen. */
  private async goOnAfterChange(operation: Write, reason: Remark, isGone: boolean): Promise<Outlook> {
    const { session, item } = this;
    const isUnderKey = isGone && operation.kind !== "delete";
    const found = await (isUnderKey ? session.lookup.findOne(item) : readWritten(session, item, operation));
    // It is there, and the service does not delete it.
    if (isGone && operation.kind === "delete" && found.contact) return this.reject(reason);
    this.takeBack();
    return this.decideAfterConflict(found);
  }

  /** The service may have said no to a change that was there already: only the contact itself can tell. */
  private async compareRefused(operation: Write, reason: Remark): Promise<"settled"> {
    const { session, item, open } = this;
    const { contact } = await readWritten(session, item, operation);
    if (!contact || !wasApplied({ key: item.key.sent, operation, at: 0 }, contact))
      return this.reject(reason);
    return this.settle(
      open ? toPlannedOutcome(item, operation) : "unchanged",
      contact,
      open?.operation.remark,
    );
  }

  /**
   * A create is sent again: the service takes it once. Anything else, and a create that is lost again and
   * again, is compared with what the contact is now.
   */
  private async goOnAfterLoss(open: OpenIntent, operation: Write, error: EcmError): Promise<Outlook> {
    this.lost++;
    if (operation.kind === "create" && this.lost <= maxBlindCreates) return "again";
    const found = await readWritten(this.session, this.item, operation);
    this.decideAgain(found);
    const isSameAgain = this.decision.kind === operation.kind && !wasApplied(open, found.contact);
    const isGivenUp = isSameAgain && this.lost >= maxLostAnswers;
    return isGivenUp ? this.reject({ code: error.type, message: error.message }) : "again";
  }

  private settleAnswered(operation: Write, body: unknown): "settled" {
    const { session, item, found } = this;
    const id = readId(body);
    if (operation.kind === "change") {
      const { behavior } = session.lookup;
      const isEmpty = body === undefined || body === null;
      behavior.learn("mutateAnswer", isEmpty ? "empty" : id === operation.id ? "contact" : "other");
      if (hasReferences(toMutateBody(operation))) behavior.learn("mutateElements", this.elements ?? "object");
    }
    if (operation.kind === "create") session.lookup.missedInARow = 0;
    const written = operation.kind === "create" ? { _id: id } : found.contact;
    return this.settle(toPlannedOutcome(item, operation), written, operation.remark);
  }

  /** An earlier write has turned out to have been applied. */
  private settleAsApplied({ operation }: OpenIntent): "settled" {
    const contact = this.found.contact ?? (operation.kind === "create" ? undefined : { _id: operation.id });
    return this.settle(toPlannedOutcome(this.item, operation), contact, operation.remark);
  }

  private reject({ code, message }: Remark): "settled" {
    return this.settle("rejected", undefined, { code, message });
  }

  /** Writes down what became of the contact. */
  private settle(
    outcome: Outcome,
    contact: Partial<Contact> | undefined,
    { code, message }: Partial<Remark> = {},
  ): "settled" {
    const [contactId, inactive] = [contact?._id, this.isNewlyInactive(contact)];
    const { ref } = this.item;
    if (outcome === "deleted") this.session.lookup.keys.forget(contact);
    recordInJournal(this.session, { kind: "done", ref, outcome, contactId, inactive, code, message });
    return "settled";
  }

  /** Whether the account holds somebody as inactive who is not counted so by the plan. */
  private isNewlyInactive(contact: Partial<Contact> | undefined): true | undefined {
    const { planned, before } = this.task;
    const wasCounted = planned.kind === "change" ? before?.isInactive : planned.kind !== "create";
    return !wasCounted && isInactive(contact) ? true : undefined;
  }
}

/** Whether what was looked up then is new enough for a write. */
function isFresh({ clock, send, startedAt }: Session, at: number): boolean {
  const isOfNow = at >= startedAt && at >= send.waitEndedAt;
  // A clock that was set back makes nothing fresh.
  return isOfNow && Math.abs(clock.now() - at) <= maxDecisionAgeMilliseconds;
}

function toRequest(
  operation: Operation,
  structureId: string,
  elements: Elements | undefined,
): { request: ApiRequest; countedAs: RequestKind } {
  switch (operation.kind) {
    case "create":
      return { request: createContactRequest(toCreateBody(operation, structureId)), countedAs: "create" };
    case "change": {
      const body = setElementForm(toMutateBody(operation), elements);
      return { request: mutateContactRequest(operation.id, body), countedAs: "mutate" };
    }
    case "unsubscribe":
      return { request: changeStatusRequest(operation.id, unsubscribed), countedAs: "other" };
    case "delete":
      return { request: deleteContactRequest(operation.id), countedAs: "other" };
  }
}

/** The contact's id. An answer without one has created the contact all the same. */
function readId(body: unknown): string | undefined {
  const id = (body as Partial<Contact> | null | undefined)?._id;
  return typeof id === "string" ? id : undefined;
}

function toServerMessage(error: ServiceError): string {
  const { field, fieldId } = error.details;
  const place = field ?? fieldId;
  return place === undefined || error.message.includes(place) ? error.message : `${error.message} (${place})`;
}
