/** What happened to contacts: the feeds, and how an event comes about (published reference, contact events). */

import type { EventDetails } from "../public-types.ts";
import type { StoredContact } from "../store/contacts.ts";
import type { StoredEvent } from "../store/events.ts";
import type { Store } from "../store/index.ts";
import { eventPageAnswer } from "./answers.ts";
import { contactOf } from "./contact-of.ts";
import { endpoint } from "./endpoint.ts";
import { sizeOf } from "./pages.ts";
import { accountEventsQuery, contactEventsQuery } from "./requests.ts";

const dayMilliseconds = 86_400_000;

// The service knows who or what acted; of its own names for that, none is published.
const byApi: EventDetails = { source: "api", triggeredBy: { type: "api" } };

/** The status that an event leaves its contact with. */
const statusAfter: Record<string, StoredContact["status"]> = {
  "email-bounced": { primary: "Inactive", secondary: "Bounce" },
  "email-complaint": { primary: "Inactive", secondary: "Complaint-FBL" },
  "contact-unsubscribed": { primary: "Inactive", secondary: "Unsubscribe" },
  "contact-reactivated": { primary: "Active" },
};

/**
 * Something happened to a contact that no request asked for: the event is recorded, and its effect on the status takes
 * place. Who is inactive already keeps the reason. The caller is in a transaction.
 * @param type one of `eventTypes`
 * @returns the contact afterwards
 */
export function letHappen(store: Store, contact: StoredContact, happened: Happening): StoredContact {
  store.events.add(eventOf(contact, happened));
  return takeEffect(store, contact, happened);
}

interface Happening {
  type: string;
  at: number;
  details?: EventDetails;
}

/** The event as it is recorded. */
export function eventOf({ id, key }: StoredContact, { type, at, details }: Happening): StoredEvent {
  const email = type.startsWith("email-") ? { emailTo: key } : {};
  return { contactId: id, type, at, details: { ...email, ...details } };
}

/** What an event makes of its contact, which it returns. The caller records it. */
export function takeEffect(
  store: Store,
  contact: StoredContact,
  { type, at, details = {} }: Happening,
): StoredContact {
  // A mailbox that is full today may take the next mail.
  const isSoft = type === "email-bounced" && details.emailBounceType?.toLowerCase() === "transient";
  const status = isSoft ? undefined : statusAfter[type];
  if (!status || status.primary.toLowerCase() === contact.status.primary.toLowerCase()) return contact;
  // What is told later than it happened does not set the contact back.
  const updatedAt = Math.max(contact.updatedAt, at);
  const after = { ...contact, status, updatedAt, version: contact.version + 1 };
  store.contacts.replace(contact, after);
  return after;
}

export const eventEndpoints = [
  endpoint({
    id: "listEvents",
    method: "get",
    path: "/api/contact/events",
    summary: "List what happened to contacts in the last days, the newest first",
    scope: "contacts:read",
    query: accountEventsQuery,
    result: eventPageAnswer,
    answer({ store, query: { types, pastDays, page, size }, now, variants }) {
      const since = now - pastDays * dayMilliseconds;
      const found = store.events.page({ types, since, page, size: sizeOf(size, "size", variants) });
      return { total: found.total, records: found.events.map(toRecord) };
    },
  }),
  endpoint({
    id: "listContactEvents",
    method: "get",
    path: "/api/contact/:contactId/events",
    summary: "List what happened to one contact, the newest first",
    scope: "contacts:read",
    query: contactEventsQuery,
    result: eventPageAnswer,
    answer({ store, parameter, query: { types, page, size }, variants }) {
      const { id: contactId } = contactOf(store, parameter("contactId"));
      const found = store.events.page({ contactId, types, page, size: sizeOf(size, "size", variants) });
      return { total: found.total, records: found.events.map(toRecord) };
    },
  }),
];

function toRecord({ contactId, type, at, details = byApi }: StoredEvent) {
  return { timestamp: new Date(at).toISOString(), type, contactId, ...details };
}
