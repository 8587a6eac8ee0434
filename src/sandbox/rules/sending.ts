/**
 * A campaign is sent: what becomes of each mail is drawn once, by a seed,
 * and happens when the service's time comes to it.
 */
import { createHash } from "node:crypto";
import type { EventDetails } from "../public-types.ts";
import type { StoredContact } from "../store/contacts.ts";
import type { StoredDocument } from "../store/documents.ts";
import type { StoredEvent } from "../store/events.ts";
import type { Store } from "../store/index.ts";
import type { UpcomingEvent } from "../store/upcoming.ts";
import { applyEffect, createEvent } from "./events.ts";

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
/** Of 1,000 mails. A mail that bounces is not delivered; whoever opens it may click, and leave. */
const chances = {
  hardBounce: 20,
  softBounce: 10,
  open: 400,
  complain: 10,
  again: 300,
  click: 300,
  leave: 40,
};
const links = ["offer", "news", "contact"];

/** So many rows are written with one statement. */
const batchSize = 1000;

type MailEvent = Pick<UpcomingEvent, "type" | "at" | "details">;

/** Chance in the course of one mail. */
interface Draw {
  happens(perThousand: number): boolean;
  /** Later than `at`, by at most so many milliseconds. */
  soonAfter(at: number, longest: number): number;
  /** From 0 up to 1. */
  number(): number;
}

/**
 * What follows from a mail, in the order of its times. The same for the same campaign, contact and seed.
 * @param sentAt milliseconds since the epoch
 */
export function drawMail(
  campaign: Pick<StoredDocument, "name" | "content">,
  key: string,
  sentAt: number,
  seed: number,
): MailEvent[] {
  const draw = createDraw(`${seed}\n${campaign.name}\n${key.toLowerCase()}`);
  const { happens, soonAfter } = draw;
  const sent = { type: "email-sent", at: sentAt + Math.floor(draw.number() * 10 * minute), details: {} };
  if (happens(chances.hardBounce)) return [sent, bounce(soonAfter(sent.at, minute), "Permanent")];
  if (happens(chances.softBounce)) return [sent, bounce(soonAfter(sent.at, minute), "Transient")];
  const deliveredAt = soonAfter(sent.at, 2 * minute);
  const details: EventDetails = { emailSmtpResponse: "250 2.0.0 OK" };
  const events: MailEvent[] = [sent, { type: "email-delivered", at: deliveredAt, details }];
  if (happens(chances.complain)) {
    const complaint = { emailComplaintFeedbackType: "abuse" };
    return [...events, { type: "email-complaint", at: soonAfter(deliveredAt, 2 * hour), details: complaint }];
  }
  if (!happens(chances.open)) return events;
  return [...events, ...drawReading(draw, deliveredAt)];
}

/** A mail is opened, perhaps again; its links are clicked, perhaps; its reader leaves, perhaps. */
function drawReading({ happens, soonAfter, number }: Draw, deliveredAt: number): MailEvent[] {
  const events: MailEvent[] = [];
  // Most open a mail in its first hours, some after days.
  let at = deliveredAt + Math.min(480 * hour, Math.ceil(-Math.log(1 - number()) * 8 * hour));
  do {
    events.push({ type: "email-opened", at, details: {} });
    at = soonAfter(at, 20 * hour);
  } while (happens(chances.again));
  while (happens(chances.click)) {
    const link = links[Math.floor(number() * links.length)]!;
    const target = { emailLinkId: link, emailTargetUrl: `https://example.com/${link}` };
    events.push({ type: "email-clicked", at, details: target });
    at = soonAfter(at, hour);
  }
  if (happens(chances.leave)) events.push({ type: "contact-unsubscribed", at, details: { source: "email" } });
  return events;
}

function bounce(at: number, type: "Permanent" | "Transient"): MailEvent {
  const isHard = type === "Permanent";
  const details: EventDetails = {
    emailBounceType: type,
    emailBounceSubType: isHard ? "General" : "MailboxFull",
    emailBounceDiagCode: isHard ? "smtp; 550 5.1.1 user unknown" : "smtp; 452 4.2.2 mailbox full",
  };
  return { type: "email-bounced", at, details };
}

/** The same for the same text (mulberry32). */
function createDraw(text: string): Draw {
  let state = createHash("sha256").update(text).digest().readUInt32LE();
  const number = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    number,
    happens: (perThousand) => number() * 1000 < perThousand,
    soonAfter: (at, longest) => at + 1 + Math.floor(number() * longest),
  };
}

/**
 * Writes down what follows from a campaign for each of these contacts; `applyDueEvents` makes it happen. The
 * caller is in a transaction.
 * @param campaign has a time at which it is sent
 */
export function planMails(
  store: Store,
  campaign: StoredDocument,
  recipients: Iterable<{ id: string; key: string }>,
): void {
  const seed = store.settings.idSeed() ?? 0;
  const { id: campaignId, name, content } = campaign;
  const common: EventDetails = { emailCampaignId: campaignId, emailCampaignName: name };
  if (typeof content.subject === "string") common.emailSubject = content.subject;
  let planned: UpcomingEvent[] = [];
  for (const { id: contactId, key } of recipients) {
    for (const { type, at, details } of drawMail(campaign, key, campaign.sentAt!, seed)) {
      planned.push({ campaignId, contactId, type, at, details: { ...common, ...details } });
    }
    if (planned.length < batchSize) continue;
    store.upcoming.add(planned);
    planned = [];
  }
  store.upcoming.add(planned);
}

/**
 * Whatever follows from mails up to now happens, in the order of its times: it is recorded, and has its
 * effect on the contacts. Who has left by the time of a mail is skipped; who was deleted gets none. The
 * caller is in a transaction.
 */
export function applyDueEvents(store: Store, now: number): void {
  for (;;) {
    const due = store.upcoming.takeDue(now);
    if (due.length === 0) return;
    const ids = [...new Set(due.map(({ contactId }) => contactId))];
    const contacts = new Map(store.contacts.getAll(ids).map((contact) => [contact.id, contact]));
    store.events.addAll(applyEvents(store, due, contacts));
  }
}

/**
 * Changes the contacts, in the database and in the map.
 * @returns the events to record
 */
function applyEvents(
  store: Store,
  due: readonly UpcomingEvent[],
  contacts: Map<string, StoredContact>,
): StoredEvent[] {
  const dropped = new Set<string>();
  const happened: StoredEvent[] = [];
  for (const { campaignId, contactId, type, at, details } of due) {
    const mail = `${campaignId} ${contactId}`;
    if (dropped.has(mail)) continue;
    const contact = contacts.get(contactId);
    const isSkipped = type === "email-sent" && contact?.status.primary.toLowerCase() !== "active";
    if (!contact || isSkipped) {
      dropped.add(mail);
      store.upcoming.dropMail(campaignId, contactId);
    }
    if (!contact) continue;
    const event = { type: isSkipped ? "email-skipped" : type, at, details };
    happened.push(createEvent(contact, event));
    contacts.set(contactId, applyEffect(store, contact, event));
  }
  return happened;
}
