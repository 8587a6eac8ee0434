/** Reading a feed of events, page after page, although it goes on meanwhile. */
import { createHash } from "node:crypto";
import { type ContactEvent, createEventsRequest, type EventQuery, readEvents } from "../api/events.ts";
import { maxPageSize, openPages, type ReadPage, readPagesInOrder } from "../service/pages.ts";
import type { Send } from "../wire.ts";

/** Where pages hold less than their total, an event may have slid past the reader: all is read again. */
const maxReadings = 3;

export interface Feed {
  /** Oldest first. */
  events: ContactEvent[];
  /** How many there are, as far as the service tells it. */
  total: number | undefined;
  hasMore: boolean;
}

/** Milliseconds since the epoch; NaN where the record has no time that can be read. */
export function toTime({ timestamp }: ContactEvent): number {
  return Date.parse(timestamp);
}

/** Every event of the query once. Where the service counts more than its pages hold, `hasMore` is true. */
export async function readFeed(send: Send, query: EventQuery): Promise<Feed> {
  const read = createEventPages(send, query);
  const found = new Map<string, ContactEvent>();
  for (let readings = 1; ; readings++) {
    const opened = await openPages(read, { size: maxPageSize });
    for await (const page of readPagesInOrder(read, opened, toIdentity)) {
      for (const event of page) found.set(toIdentity(event), event);
    }
    const total = Math.max(found.size, opened.first.total ?? 0);
    const hasMore = found.size < total;
    if (!hasMore || readings === maxReadings)
      return { events: sortByTime([...found.values()]), total, hasMore };
  }
}

/** The newest events: one page where the feed shows that it begins with them, else all of it is read. */
export async function readNewest(send: Send, query: EventQuery, limit: number): Promise<Feed> {
  const size = Math.min(maxPageSize, Math.max(limit, 100));
  const { items, total } = (await openPages(createEventPages(send, query), { size })).first;
  const isAll = items.length === total;
  if (!isAll && (items.length < limit || !isNewestFirst(items))) {
    const { events } = await readFeed(send, query);
    return { events: events.slice(-limit), total: events.length, hasMore: events.length > limit };
  }
  const newest = isAll ? sortByTime(items).slice(-limit) : sortByTime(items.slice(0, limit));
  return { events: newest, total, hasMore: total === undefined || total > limit };
}

function createEventPages(send: Send, query: EventQuery): ReadPage<ContactEvent> {
  return async (page, size) => readEvents(await send(createEventsRequest(query, page, size)));
}

function isNewestFirst(events: readonly ContactEvent[]): boolean {
  const times = events.map(toTime);
  return times[0]! > times.at(-1)! && times.every((time, at) => at === 0 || time <= times[at - 1]!);
}

/** Oldest first; those of one time as the feed has them, those whose time cannot be read last. */
function sortByTime(events: readonly ContactEvent[]): ContactEvent[] {
  const isOldestFirst = events.length > 1 && toTime(events[0]!) < toTime(events.at(-1)!);
  const oldestFirst = isOldestFirst ? [...events] : events.toReversed();
  const rank = (event: ContactEvent) => toTime(event) || Number.MAX_VALUE;
  return oldestFirst.sort((one, other) => rank(one) - rank(other));
}

/** Members that name a thing: a thing that is renamed makes no new event. */
const names = new Set(["emailCampaignName", "importOriginalFileName"]);

/** A hash of what stays of an event: its own id, else all members but the names of things. */
export function toIdentity(event: ContactEvent): string {
  const members = Object.entries(event).filter(([name]) => !names.has(name));
  const lasting = typeof event._id === "string" ? [event._id] : members.sort();
  return createHash("sha256").update(JSON.stringify(lasting)).digest("base64url").slice(0, 20);
}
