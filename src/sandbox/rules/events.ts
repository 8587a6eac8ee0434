/**
 * What happened to contacts: the feeds, and how an event comes about (published reference, contact events).
 */

import type { InferInput } from "valibot";
import type { StoredContact } from "../store/contacts.ts";
import type { StoredEvent } from "../store/events.ts";
import type { Store } from "../store/index.ts";
import { type eventAnswer, eventPageAnswer } from "./answers.ts";
import { endpoint } from "./endpoint.ts";
import { requireContact } from "./refusal.ts";
import { accountEventsQuery, contactEventsQuery, limitPageSize } from "./requests.ts";

/** The members of a record besides time, type and contact. */
type EventDetails = Omit<InferInput<typeof eventAnswer>, "timestamp" | "type" | "contactId">;

const dayMilliseconds = 86_400_000;

// Events name who acted; the names that the service uses are not published.
const byApi: EventDetails = { source: "api", triggeredBy: { type: "api" } };

/** The status that an event leaves its contact with. */
const statusAfter: Record<string, StoredContact["status"]> = {
  "email-bounced": { primary: "Inactive", secondary: "Bounce" },
  "email-complaint": { primary: "Inactive", secondary: "Complaint-FBL" },
  "contact-unsubscribed": { primary: "Inactive", secondary: "Unsubscribe" },
  "contact-reactivated": { primary: "Active" },
};

interface Happening {
  /** One of `eventTypes`. */
  type: string;
  /** Milliseconds since the epoch. */
  at: number;
  details: EventDetails;
}

/**
 * Something happened to a contact that no request asked for: the event is recorded, and its effect on the
 * status takes place. An inactive contact keeps its reason. The caller is in a transaction.
 * @returns the contact afterwards
 */
export function recordEvent(
  store: Store,
  contact: StoredContact,
  { type, at, details }: Happening,
): StoredContact {
  const email = type.startsWith("email-") ? { emailTo: contact.key } : {};
  store.events.add({ contactId: contact.id, type, at, details: { ...email, ...details } });
  // A mailbox that is full today may take the next mail.
  const isSoft = type === "email-bounced" && details.emailBounceType?.toLowerCase() === "transient";
  const status = isSoft ? undefined : statusAfter[type];
  if (!status || status.primary.toLowerCase() === contact.status.primary.toLowerCase()) return contact;
  // An event that is recorded later than it happened does not set the time of the contact back.
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
      const found = store.events.page({ types, since, page, size: limitPageSize(size, "size", variants) });
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
      const { id: contactId } = requireContact(store, parameter("contactId"));
      const found = store.events.page({
        contactId,
        types,
        page,
        size: limitPageSize(size, "size", variants),
      });
      return { total: found.total, records: found.events.map(toRecord) };
    },
  }),
];

function toRecord({ contactId, type, at, details = byApi }: StoredEvent) {
  return { timestamp: new Date(at).toISOString(), type, contactId, ...details };
}
