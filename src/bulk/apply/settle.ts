/**
 * Writes of which nobody knows whether they were applied (of a lost answer, or of a process that was killed):
 * what the account holds now tells, by the operation itself. And what a contact is after a write that was refused.
 */

import { isInactive } from "../../api/contacts.ts";
import type { ServiceError } from "../../errors.ts";
import type { Contact } from "../../wire.ts";
import { hasAll } from "../decide.ts";
import type { Operation } from "../desired.ts";
import type { Item, Remark } from "../items.ts";
import type { Found } from "../plan/lookup.ts";
import type { Session } from "../plan/session.ts";
import type { OpenIntent } from "../runs/ledger.ts";
import { readCreateValues, readMutateValues } from "../values.ts";

/** The service's clock is known to whole seconds, and its records are stamped before they are seen. */
const clockToleranceMilliseconds = 5000;

/**
 * Whether an open intent turns out to have been applied. Pure. When it was not, or when others have changed the
 * contact since, the decision made now is carried out.
 *
 * A create is ours when the contact holds our values and is no older than the intent. A change is ours when
 * nothing of it is left to do, an unsubscription when the contact is inactive, a deletion when the contact is gone.
 */
export function wasApplied({ operation, at }: OpenIntent, found: Partial<Contact> | undefined): boolean {
  if (operation.kind === "delete") return found?._id !== operation.id;
  if (!found) return false;
  if (operation.kind === "unsubscribe") return isInactive(found);
  if (operation.kind === "change") return hasAll(readMutateValues(operation.body), found);
  const createdAt = found.createdAt === undefined ? undefined : Date.parse(found.createdAt);
  const isNewer = createdAt === undefined || createdAt >= at - clockToleranceMilliseconds;
  return isNewer && hasAll(readCreateValues(operation.body), found);
}

/** A search may lag behind a create: look again after these, in milliseconds. */
export const visibilityPausesMilliseconds = [1000, 3000, 10_000];

export type AfterRefusal =
  | { kind: "again"; found: Found }
  /** It exists, and no search shows it yet. */
  | { kind: "unseen" }
  /** `found` where the contact has to be compared before the refusal is believed. */
  | { kind: "rejected"; reason: Remark; found?: Found };

export async function readAfterRefusal(
  session: Session,
  item: Item,
  operation: Operation,
  error: ServiceError,
): Promise<AfterRefusal> {
  const rejected = {
    kind: "rejected" as const,
    reason: { code: error.type, message: toServerMessage(error) },
  };
  if (operation.kind === "create") {
    if (error.type !== "DuplicateFieldError") return rejected;
    return findExisting(session, item);
  }
  if (error.type === "ConcurrencyError") {
    return { kind: "again", found: await readAgain(session, item, operation.id) };
  }
  if (error.details.status === 404) {
    if (operation.kind !== "delete") return { kind: "again", found: await findOne(session, item) };
    // A contact that others have created under the key of a deleted one is not the one that was to be deleted.
    const found = await readWritten(session, item, operation);
    return found.contact ? rejected : { kind: "again", found };
  }
  const isPrecise = error.details.field !== undefined || error.details.fieldId !== undefined;
  if (error.details.status !== 400 || isPrecise) return rejected;
  return { ...rejected, found: await readAgain(session, item, operation.id) };
}

/**
 * What a write of which nobody knows whether it was applied was meant for, as it is now: by its id, since a
 * search may lag behind, and may not show who is inactive. Only an id that does not exist proves a deletion.
 */
export async function readWritten(
  session: Session,
  item: Item,
  operation: Exclude<Operation, { kind: "create" }>,
): Promise<Found> {
  if (operation.kind !== "delete") return readAgain(session, item, operation.id);
  return { contact: await session.lookup.read(operation.id) };
}

/** The contact as it is now; looked up by its key when its id is gone. */
async function readAgain(session: Session, item: Item, contactId: string): Promise<Found> {
  const contact = await session.lookup.read(contactId);
  return contact ? { contact } : findOne(session, item);
}

export async function findOne({ lookup }: Session, item: Item): Promise<Found> {
  return (await lookup.findFresh([item])).get(item.ref) ?? {};
}

/**
 * A contact whose create may have been applied, and is not sent again: a search that is known to lag behind is
 * waited for.
 */
export async function findLost(session: Session, item: Item): Promise<Found> {
  const { lookup, clock, send } = session;
  const pauses = lookup.behavior.get("searchLag") === undefined ? [0] : [0, ...visibilityPausesMilliseconds];
  for (const pause of pauses) {
    if (pause > 0) await clock.sleep(pause, send.ended);
    const found = await findOne(session, item);
    if (found.contact) return found;
  }
  return {};
}

/** The contact whose key the service takes no second time, where a search shows it now. */
async function findExisting(session: Session, item: Item): Promise<AfterRefusal> {
  const { lookup, observed } = session;
  const found = await findOne(session, item);
  if (!found.contact) return { kind: "unseen" };
  observed.missedInARow++;
  lookup.note(found.contact);
  return { kind: "again", found };
}

function toServerMessage(error: ServiceError): string {
  const { field, fieldId } = error.details;
  const place = field ?? fieldId;
  return place === undefined || error.message.includes(place) ? error.message : `${error.message} (${place})`;
}
