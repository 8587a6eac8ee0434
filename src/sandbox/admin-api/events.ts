/**
 * Something happens to a contact that no request asked for: it opens a mail, a mail bounces, it unsubscribes.
 */
import * as v from "valibot";
import type { EventBody, EventView } from "../public-types.ts";
import { eventAnswer } from "../rules/answers.ts";
import { recordEvent } from "../rules/events.ts";
import { Refusal } from "../rules/refusal.ts";
import { eventTypes, notObject, text } from "../rules/requests.ts";
import { toWire } from "../store/contacts.ts";
import type { Store } from "../store/index.ts";
import { invalidAt, parseBody, parseTime } from "./bodies.ts";

const { contactId: _, ...members } = eventAnswer.entries;
// The members of an event as it is answered, with messages for an invalid one.
const texts = Object.fromEntries(Object.keys(members).map((name) => [name, v.optional(text)])) as Record<
  keyof typeof members,
  v.OptionalSchema<typeof text, undefined>
>;
const triggeredBy = v.strictObject({ type: text, userId: v.optional(text) }, notObject);
const eventBody = v.strictObject(
  { ...texts, triggeredBy: v.optional(triggeredBy), key: text, type: text },
  notObject,
);

const shortNames: Record<string, string> = { complained: "email-complaint" };

/** The caller is in a transaction. @throws Refusal 400 for an unknown type, 404 for an unknown key */
export function applyEvent(store: Store, body: EventBody, now: number): EventView {
  const { key, type: given, timestamp, ...details } = parseBody(eventBody, body);
  const type = parseEventType(given);
  const structure = store.structures.all()[0]!;
  const id = store.contacts.findIdByKey(structure._id, key);
  if (id === undefined) {
    const message = `Contact ${key} not found`;
    throw new Refusal(404, { errorType: "RecordNotFound", message, field: "key" });
  }
  const at = timestamp === undefined ? now : parseTime(timestamp, "timestamp");
  const contact = recordEvent(store, store.contacts.get(id)!, { type, at, details });
  const { _id, status } = toWire(contact);
  return { type, timestamp: new Date(at).toISOString(), contact: { _id, key: contact.key, status } };
}

/** A published type, or its last word: `opened` for `email-opened`. */
function parseEventType(given: string): string {
  const names = [given, shortNames[given], `email-${given}`, `contact-${given}`];
  const type = eventTypes.find((each) => names.includes(each));
  if (type === undefined) throw invalidAt("type", `must be one of ${eventTypes.join(", ")}`);
  return type;
}
