/** A person's contacts in the whole account, found in every structure, and deleted for good. */

import { createEquals, createFilter, deleteContactRequest, getContactRequest } from "../api/contacts.ts";
import { toPersonIdentity } from "../api/key-spelling.ts";
import type { Contact, Criteria, Send } from "../wire.ts";
import type { Account } from "./account.ts";
import { createContactPages } from "./contact-search.ts";
import { deleteForGood } from "./lists.ts";
import { fetchContactIfThere } from "./mutate-contact.ts";
import { openPages } from "./pages.ts";

export type KnownContacts = readonly Pick<Contact, "_id" | "key">[];

/**
 * Every contact with one of these spellings of a key, in whatever letter case.
 * @param spellings as `listSpellings` has them
 * @param known contacts that were seen before: a search may not find yet what was written a moment ago
 * @throws ServiceError where the service takes no such search: then it is not known whether the contact is
 * there
 */
export async function findContactsOfKey(
  send: Send,
  account: Account,
  spellings: readonly string[],
  known: KnownContacts = [],
): Promise<Pick<Contact, "_id" | "key">[]> {
  const found = new Map<string, Pick<Contact, "_id" | "key">>();
  const identities = new Set(spellings.map(toPersonIdentity));
  for (const { _id: structureId } of await account.structures()) {
    for (const spelling of new Set(spellings)) {
      const byKey = createEquals("KEY", [spelling]);
      const contacts = await find(send, structureId, [byKey]);
      // A service may hide those who are inactive unless it is asked for them.
      const inactive = [byKey, createEquals("CONTACT_STATUS", ["inactive"])];
      if (contacts.length === 0) contacts.push(...(await find(send, structureId, inactive)));
      for (const { _id, key } of contacts) {
        // Held against the key once more: a deletion must not reach a contact that a looser search let
        // through.
        if (_id !== undefined && key !== undefined && identities.has(toPersonIdentity(key)))
          found.set(_id, { _id, key });
      }
    }
  }
  return found.size > 0 ? [...found.values()] : findKnown(send, identities, known);
}

/** Those of the contacts seen before that are still there under one of these keys. */
async function findKnown(
  send: Send,
  identities: ReadonlySet<string>,
  known: KnownContacts,
): Promise<Pick<Contact, "_id" | "key">[]> {
  const isTheirs = (key: string) => identities.has(toPersonIdentity(key));
  const ids = new Set(known.filter(({ key }) => isTheirs(key)).map(({ _id }) => _id));
  const found: Pick<Contact, "_id" | "key">[] = [];
  for (const _id of ids) {
    const key = (await fetchContactIfThere(send, _id))?.key;
    if (key !== undefined && isTheirs(key)) found.push({ _id, key });
  }
  return found;
}

async function find(send: Send, structureId: string, criterias: Criteria[]): Promise<Partial<Contact>[]> {
  const read = createContactPages(send, {
    structureId,
    filters: createFilter(...criterias),
    source: ["_id", "key"],
  });
  return (await openPages(read, { size: 100 })).first.items;
}

/** Deletes a contact. @throws what `send` threw, when the contact may still be there */
export function deleteContact(send: Send, contactId: string): Promise<void> {
  return deleteForGood(send, deleteContactRequest(contactId), getContactRequest(contactId));
}
