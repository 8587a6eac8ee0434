/**
 * One write as a request: how it is built, its intent on the disk before it leaves, what its answer teaches.
 */

import {
  changeStatusRequest,
  createContactRequest,
  deleteContactRequest,
  mutateContactRequest,
  unsubscribed,
} from "../../api/contacts.ts";
import { hasReferences, setElementForm } from "../../service/contact-changes.ts";
import type { ApiRequest, Contact } from "../../wire.ts";
import type { Operation } from "../desired.ts";
import type { RequestKind } from "../pace/paced-send.ts";
import type { Reply } from "../pace/reply.ts";
import { recordInJournal, type Session } from "../plan/session.ts";
import type { OpenIntent } from "../runs/ledger.ts";
import { type Elements, isKeptFromCreation, mayBeSent, type SentAttempt } from "./attempt.ts";
import type { Task } from "./outcomes.ts";

/** The intent is on the disk before the request leaves. */
export function sendWrite(task: Task, intent: OpenIntent, tried: SentAttempt): Promise<Reply> {
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
export function readId(body: unknown): string | undefined {
  const id = (body as Partial<Contact> | null | undefined)?._id;
  return typeof id === "string" ? id : undefined;
}

/** What the answer to a write tells of the service. Nothing else is read from the answer to a mutate. */
export function learnFromAnswer(
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
