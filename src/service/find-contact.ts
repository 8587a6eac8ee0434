/** A contact by its id or by its key, in as few requests as the word allows. */
import { type ErrorDetails, NotFoundError, ServiceError, UsageError } from "../errors.ts";
import type { Contact, ContactStructure, Send } from "../wire.ts";
import { allOf, equals, readSearch, searchContactsRequest } from "./contacts.ts";
import { findByName } from "./names.ts";

const idForm = /^[0-9a-f]{24}$/i;
// What can be an id in a path; e-mail addresses and dots cannot.
const possibleId = /^[\w-]+$/;

/** No contact has this key or id. (A name of a list, tag, field or structure is a `NotFoundError` of its own.) */
export class ContactNotFoundError extends NotFoundError {}

/**
 * Performs something on the contact that a word means, and returns what it returned. A word in the form of an id is
 * tried as one first and looked up as a key only after a 404; any other word is looked up as a key first.
 * @param structure asked for only when a key is looked up
 * @param perform given an id, and what a search told where there was one; may be called twice, the first time having
 *   ended in a 404
 * @param source the parts of the contact that a search is asked for
 * @throws NotFoundError when it is neither, with what the service said of it; whatever `perform` throws but a 404
 */
export async function onContact<T>(
  send: Send,
  structure: () => Promise<ContactStructure>,
  idOrKey: string,
  perform: (contactId: string, found?: Partial<Contact>) => Promise<T>,
  source: string[] = ["_id", "key"],
): Promise<T> {
  if (idOrKey.trim() === "")
    throw new UsageError("A contact's id or key cannot be empty", "Name a contact, such as ada@example.com");
  const isLikelyId = idForm.test(idOrKey);
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
  const { _id: structureId, label } = await structure();
  const found = await contactOfKey(send, structureId, idOrKey, source);
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

/** The contact with this key, in one search. @throws UsageError when two contacts match. */
async function contactOfKey(
  send: Send,
  structureId: string,
  key: string,
  source: string[],
): Promise<(Partial<Contact> & { _id: string }) | undefined> {
  const request = searchContactsRequest({
    structureId,
    filters: allOf(equals("KEY", [key])),
    page: 1,
    pageSize: 10,
    source,
  });
  // Held against the key once more: a write must not reach a contact that a looser search let through.
  const found = readSearch(await send(request)).contacts.map((contact) => ({
    ...contact,
    _id: contact._id ?? "",
    key: contact.key ?? "",
  }));
  return findByName(key, found, (contact) => contact.key, "contact");
}
