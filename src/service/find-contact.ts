/** A contact by its id or by its key, in as few requests as the word allows. */

import { createEquals, createFilter } from "../api/contacts.ts";
import { normalizeKey } from "../api/key-spelling.ts";
import { findByName, isId } from "../api/names.ts";
import { type ErrorDetails, NotFoundError, ServiceError, UsageError } from "../errors.ts";
import type { Contact, ContactStructure, Send } from "../wire.ts";
import type { Behaviors } from "./behavior.ts";
import { createContactPages } from "./contact-search.ts";
import { openPages } from "./pages.ts";

// What can be an id in a path; e-mail addresses and dots cannot.
const possibleId = /^[\w-]+$/;

/**
 * No contact has this key or id. (A name of a list, tag, field or structure is a `NotFoundError` of its own.)
 */
export class ContactNotFoundError extends NotFoundError {}

/** More than the contacts whose keys differ in letter case alone. */
const keysPerPage = 10;

export interface SearchedParts {
  source?: string[];
  /** Needed where the parts are more than those that every service tells. */
  behaviors?: Behaviors;
}

/**
 * Performs something on the contact that a word means, and returns what it returned. A word in the form of an
 * id is tried as one first and looked up as a key only after a 404; any other word is looked up as a key
 * first.
 * @param structure asked for only when a key is looked up
 * @param perform given an id, and what a search told where there was one; may be called twice, the first time
 *   having
 *   ended in a 404
 * @param searched the parts of the contact that a search is asked for
 * @throws NotFoundError when it is neither, with what the service said of it; whatever `perform` throws but a
 *   404
 */
export async function performOnContact<T>(
  send: Send,
  structure: () => Promise<ContactStructure>,
  idOrKey: string,
  perform: (contactId: string, found?: Partial<Contact>) => Promise<T>,
  { source = ["_id", "key"], behaviors }: SearchedParts = {},
): Promise<T> {
  if (idOrKey.trim() === "")
    throw new UsageError("A contact's id or key cannot be empty", "Name a contact, such as ada@example.com");
  const isLikelyId = isId(idOrKey);
  let missing: ErrorDetails | undefined;
  const performUnlessMissing = async (): Promise<{ value: T } | undefined> => {
    try {
      return { value: await perform(idOrKey) };
    } catch (error) {
      if (!(error instanceof ServiceError) || error.status !== 404) throw error;
      const { type, status, applied } = error.details;
      missing = { type, status, applied };
    }
  };
  if (isLikelyId) {
    const result = await performUnlessMissing();
    if (result) return result.value;
  }
  const { _id: structureId, label, keyType } = await structure();
  const behavior = behaviors?.(structureId);
  const findByKey = async (key: string) => {
    const search = { structureId, source, filters: createFilter(createEquals("KEY", [key])) };
    const read = createContactPages(send, search, behavior);
    const { first } = await openPages(read, { size: keysPerPage, behavior });
    return findContactOfKey(first.items, key);
  };
  // As it was typed, then as an import would have written it.
  const normal = normalizeKey(idOrKey, keyType);
  const found = (await findByKey(idOrKey)) ?? (normal === idOrKey ? undefined : await findByKey(normal));
  if (found) return perform(found._id, found);
  if (!isLikelyId && possibleId.test(idOrKey)) {
    const result = await performUnlessMissing();
    if (result) return result.value;
  }
  throw new ContactNotFoundError(
    `No contact has the key or id ${JSON.stringify(idOrKey)}`,
    `Looked in the structure ${JSON.stringify(label)}; see: ecm contact search --all`,
    missing,
  );
}

/** The contact with this key. @throws UsageError when two contacts match. */
function findContactOfKey(
  contacts: Partial<Contact>[],
  key: string,
): (Partial<Contact> & { _id: string }) | undefined {
  // Held against the key once more: a write must not reach a contact that a looser search let through.
  const found = contacts.map((contact) => ({
    ...contact,
    _id: contact._id ?? "",
    key: contact.key ?? "",
  }));
  return findByName(key, found, (contact) => contact.key, "contact");
}
