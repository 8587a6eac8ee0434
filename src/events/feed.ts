/** Reading a feed of events whole although it goes on meanwhile: each event as often as it happened, oldest first. */
import { createHash } from "node:crypto";
import { ServiceError } from "../errors.ts";
import { type ContactEvent, type EventQuery, eventsRequest, readEvents } from "../service/events.ts";
import type { Send } from "../wire.ts";

/** Events per request at first; halved where the service refuses it. */
const firstPageSize = 1000;

/**
 * What makes two records one event: when, what, to whom, by what. Names and subjects may be changed later.
 * Several events may share it: clicks in the same millisecond.
 */
export function identityOf(event: ContactEvent): string {
  const { _id } = event;
  const parts =
    typeof _id === "string"
      ? [_id]
      : [
          Date.parse(event.timestamp) || event.timestamp,
          event.type,
          event.contactId,
          event.importId,
          event.emailCampaignId,
          event.emailLinkId,
          event.emailTargetUrl,
        ];
  return createHash("sha256").update(JSON.stringify(parts)).digest("base64url").slice(0, 20);
}

/** Milliseconds since the epoch. */
export function timeOf({ timestamp }: ContactEvent): number {
  return Date.parse(timestamp);
}

/**
 * Every event of the query, oldest first; of those of one time, in the order of the feed. Events that came while pages were
 * read may be missing; none is given more often than it happened.
 */
export async function readFeed(send: Send, query: EventQuery): Promise<ContactEvent[]> {
  const first = await readPages(send, query);
  if (!first.isDoubtful) return inOrder(first.events);
  // A page that slid shows an event twice; a second look tells it from two events that are alike.
  const second = await readPages(send, query);
  const counts = countsOf(second.events);
  const given = new Map<string, number>();
  const sure = first.events.filter((event) => {
    const identity = identityOf(event);
    const count = (given.get(identity) ?? 0) + 1;
    given.set(identity, count);
    return count === 1 || count <= (counts.get(identity) ?? 0);
  });
  const known = countsOf(sure);
  const further = second.events.filter((event) => !known.has(identityOf(event)));
  return inOrder([...further, ...sure]);
}

/** The newest events, oldest first, in as few requests as the feed's order allows. */
export async function readNewest(
  send: Send,
  query: EventQuery,
  limit: number,
): Promise<{ events: ContactEvent[]; total: number | undefined }> {
  if (limit <= firstPageSize) {
    const { events, total } = await readPage(send, query, 1, limit);
    const isNewestFirst = events.every(
      (event, index) => index === 0 || timeOf(event) <= timeOf(events[index - 1]!),
    );
    if (events.length === (total ?? Number.NaN) || (isNewestFirst && events.length >= limit)) {
      return { events: inOrder(events).slice(-limit), total };
    }
  }
  const events = await readFeed(send, query);
  return { events: events.slice(-limit), total: events.length };
}

export function countsOf(events: readonly ContactEvent[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const event of events) {
    const identity = identityOf(event);
    counts.set(identity, (counts.get(identity) ?? 0) + 1);
  }
  return counts;
}

/** @returns `isDoubtful` when pages may have slid while they were read */
async function readPages(
  send: Send,
  query: EventQuery,
): Promise<{ events: ContactEvent[]; isDoubtful: boolean }> {
  const events: ContactEvent[] = [];
  const pageOf = new Map<string, number>();
  let size = firstPageSize;
  let isDoubtful = false;
  let total: number | undefined;
  for (let page = 1; ; page++) {
    const answer = await readPage(send, query, page, size);
    size = answer.size;
    isDoubtful ||= total !== undefined && answer.total !== total;
    total = answer.total;
    for (const event of answer.events) {
      const identity = identityOf(event);
      isDoubtful ||= (pageOf.get(identity) ?? page) !== page;
      pageOf.set(identity, page);
      events.push(event);
    }
    const isLast = total === undefined ? answer.events.length < size : page * size >= total;
    if (isLast || answer.events.length === 0) return { events, isDoubtful };
  }
}

async function readPage(send: Send, query: EventQuery, page: number, wantedSize: number) {
  for (let size = wantedSize; ; size = Math.floor(size / 2)) {
    try {
      const { events, total } = readEvents(await send(eventsRequest(query, page, size)));
      // A service that silently gives less than asked counts its pages by what it gives.
      const isCut =
        page === 1 && total !== undefined && events.length > 0 && events.length < Math.min(size, total);
      return { events, total, size: isCut ? events.length : size };
    } catch (error) {
      const isAboutSize =
        error instanceof ServiceError &&
        error.status === 400 &&
        (error.details.field === "size" || /\bsize\b/i.test(error.message));
      if (page > 1 || size <= 1 || !isAboutSize) throw error;
    }
  }
}

function inOrder(events: ContactEvent[]): ContactEvent[] {
  const isOldestFirst = events.length > 1 && timeOf(events[0]!) < timeOf(events.at(-1)!);
  const oldestFirst = isOldestFirst ? [...events] : events.toReversed();
  return oldestFirst.sort((one, other) => timeOf(one) - timeOf(other));
}
