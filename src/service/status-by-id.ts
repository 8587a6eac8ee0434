/** A contact's status where no search tells it: it is read from the contact, by its id. */

import { findStatus, getContactRequest } from "../api/contacts.ts";
import { hasStatus } from "../errors.ts";
import type { Contact, Send, SendOptions } from "../wire.ts";

/** Contacts that are read at once. */
const concurrency = 4;

/**
 * The contacts with their status, in one request for each that has none. Who is gone meanwhile stays without.
 */
export async function addStatuses(
  send: Send,
  contacts: readonly Partial<Contact>[],
  options?: SendOptions,
): Promise<Partial<Contact>[]> {
  const complete: Partial<Contact>[] = [];
  for (let start = 0; start < contacts.length; start += concurrency) {
    const some = contacts.slice(start, start + concurrency);
    complete.push(...(await Promise.all(some.map((each) => addStatus(send, each, options)))));
  }
  return complete;
}

async function addStatus(
  send: Send,
  contact: Partial<Contact>,
  options?: SendOptions,
): Promise<Partial<Contact>> {
  if (findStatus(contact) || contact._id === undefined) return contact;
  try {
    const { body } = await send<Partial<Contact> | null>(getContactRequest(contact._id), options);
    const status = findStatus(body ?? undefined);
    return status ? { ...contact, status } : contact;
  } catch (error) {
    if (hasStatus(error, 404)) return contact;
    throw error;
  }
}
