/** Whether remembered names and ids are still those of the account. */
import { EcmError, NotFoundError, ReadOnlyError, ServiceError, UsageError } from "../errors.ts";
import type { Contact, ContactList, ContactStructure } from "../wire.ts";
import { ContactNotFoundError } from "./find-contact.ts";

/** Names for all that contacts hold. */
export interface Naming {
  structure: ContactStructure;
  lists: ContactList[];
}

/** Whether a failure may come of names or ids that are outdated. */
export function mayBeOutdated(error: unknown): boolean {
  if (error instanceof ServiceError) {
    const { type, field } = error.details;
    if (type === "DuplicateFieldError" || type === "ConcurrencyError") return false;
    return error.status === 404 || (error.status === 400 && !ownParts.has(field ?? ""));
  }
  if (!(error instanceof EcmError) || error instanceof ReadOnlyError) return false;
  return (
    error instanceof UsageError ||
    (error instanceof NotFoundError && !(error instanceof ContactNotFoundError))
  );
}

/** Members of bodies that hold neither a name nor an id of one. */
const ownParts = new Set(["key", "page", "pageSize", "source", "status", "__v"]);

/** Whether names are known for all that a contact holds. */
export function isMentioned(contact: Partial<Contact>, { structure, lists }: Naming): boolean {
  const among = (contactParts: { _id: string }[] = [], cachedParts: { _id: string }[] = []) =>
    contactParts.every(({ _id }) => cachedParts.some((each) => each._id === _id));
  return (
    among(contact.fields, structure.fields) &&
    (structure.tags === undefined || among(contact.tags, structure.tags)) &&
    among(contact.lists, lists)
  );
}

/** What a comparison of structures is about. */
export function collectNames(structures: ContactStructure[]): unknown {
  const toNames = (parts: { _id: string; label: string }[] = []) =>
    parts.map(({ _id, label }) => [_id, label]);
  return structures.map(({ _id, label, fields, tags }) => [_id, label, toNames(fields), toNames(tags)]);
}

export async function collectListNames(lists: Promise<ContactList[]>): Promise<unknown> {
  return (await lists).map(({ _id, name }) => [_id, name]).sort();
}

export function isEqual(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
