/**
 * Reading a feed of events whole although it goes on meanwhile, in whatever order it comes: each event as
 * often as it happened.
 */
import type { ContactEvent, EventQuery } from "../api/events.ts";
import { maxPageSize } from "../service/pages.ts";
import type { Send } from "../wire.ts";
import {
  countIdentities,
  countRecords,
  type FeedReading,
  type FeedRecord,
  type OpenFeed,
  openFeed,
  readFeedPages,
} from "./reading.ts";

/** A reading that proves nothing is repeated, with pages of another size. */
const maxReadings = 5;
/** So many records in the same order, and none in another, are no accident. */
const minAgreeing = 10;
/** So many steps back in time, and none forward, are no accident. */
const minStepsBack = 8;

export interface Feed {
  /**
   * Oldest first; of those of one time, in the order of the feed. What came while it was read may be missing.
   */
  events: ContactEvent[];
  /** False where the order changed from request to request: some may be missing. */
  isComplete: boolean;
  /** How many events the service announced, where its pages hold fewer. */
  announced: number | undefined;
}

/** Milliseconds since the epoch; NaN where the record has no time that can be read. */
export function toTime({ timestamp }: ContactEvent): number {
  return Date.parse(timestamp);
}

/**
 * Every event of the query. One reading is enough where nothing moved; else it is compared with others.
 * @param opened the first page, where it has been read
 */
export async function readFeed(send: Send, query: EventQuery, opened?: OpenFeed): Promise<Feed> {
  const found = new Map<string, { event: ContactEvent; count: number }>();
  const readings: FeedReading[] = [];
  let isComplete = false;
  for (let size = maxPageSize; !isComplete && readings.length < maxReadings; ) {
    const first = readings.length === 0 && opened ? opened : await openFeed(send, query, size);
    const reading = await readFeedPages(send, query, first);
    const before = readings.at(-1);
    readings.push(reading);
    for (const page of reading.pages)
      addAll(found, page, countIdentities(page.map(({ identity }) => identity)));
    isComplete = hasAll(reading, before, found);
    if (!isComplete && before && isSameSequence(before, reading)) {
      // It stands still: what is on two pages happened twice.
      const records = reading.pages.flat();
      addAll(found, records, countIdentities(records.map(({ identity }) => identity)));
      isComplete = true;
    }
    size = chooseNextSize(reading);
  }
  const events = sortEvents(readings, found);
  const announced = readings.at(-1)?.total;
  return {
    events,
    isComplete,
    announced: announced !== undefined && announced > events.length ? announced : undefined,
  };
}

export interface NewestEvents {
  events: ContactEvent[];
  /** The number of all events, where it is known. */
  total: number | undefined;
  hasMore: boolean;
  /** The whole feed, where it had to be read. */
  feed?: Feed;
}

/**
 * The newest events, oldest first: one page where the feed shows that it begins with them, else all of it.
 */
export async function readNewest(send: Send, query: EventQuery, limit: number): Promise<NewestEvents> {
  const first = await openFeed(send, query, Math.min(maxPageSize, Math.max(limit, 100)));
  const { items: records, total } = first;
  if (records.length >= limit && isNewestFirst([records], minStepsBack)) {
    const events = records.slice(0, limit).map(({ event }) => event);
    const knownTotal = total !== undefined && total >= records.length ? total : undefined;
    const hasMore = records.length > limit || knownTotal === undefined || knownTotal > limit;
    return { events: events.reverse(), total: knownTotal, hasMore };
  }
  const feed = await readFeed(send, query, first.isShort ? first : undefined);
  const { events } = feed;
  return { events: events.slice(-limit), total: events.length, hasMore: events.length > limit, feed };
}

/** Each event is as often in the account as one answer shows it at least. */
function addAll(
  found: Map<string, { event: ContactEvent; count: number }>,
  records: FeedRecord[],
  counts: Map<string, number>,
): void {
  for (const { identity, event } of records) {
    const count = Math.max(counts.get(identity)!, found.get(identity)?.count ?? 0);
    found.set(identity, { event, count });
  }
}

/** Whether the readings prove that no event is missing that the feed held when the last one began. */
function hasAll(
  reading: FeedReading,
  before: FeedReading | undefined,
  found: ReadonlyMap<string, { count: number }>,
): boolean {
  const { pages, isGapless, isTotalSteady } = reading;
  if (!isGapless) return false;
  // In any other order, or with another total, what goes meanwhile moves others past the reader.
  const isStill = pages.length <= 1 || (isTotalSteady && isNewestFirst(pages, 1));
  const count = [...found.values()].reduce((sum, each) => sum + each.count, 0);
  if (count === countRecords(pages) && (before !== undefined || isStill)) return true;
  // What comes in moves others towards the reader, and none past them, as long as the order stays.
  return before?.isGapless === true && agrees(before, reading);
}

function isSameSequence(one: FeedReading, other: FeedReading): boolean {
  const [first, second] = [one.pages.flat(), other.pages.flat()];
  return (
    one.isGapless &&
    other.isGapless &&
    first.length === second.length &&
    first.every(({ identity }, at) => identity === second[at]!.identity)
  );
}

type Place = [page: number, at: number];

/** Whether the records that two pages share are in the same order on both, for all pages of two readings. */
function agrees(one: FeedReading, other: FeedReading): boolean {
  const places = placesIn(one.pages);
  let agreeing = 0;
  for (const page of other.pages) {
    const inOrder = countInOrder(page, places);
    if (inOrder === undefined) return false;
    agreeing += inOrder;
  }
  return agreeing >= minAgreeing;
}

/** By identity. */
function placesIn(pages: readonly FeedRecord[][]): Map<string, Place[]> {
  const places = new Map<string, Place[]>();
  for (const [number, page] of pages.entries()) {
    for (const [at, { identity }] of page.entries()) {
      places.set(identity, [...(places.get(identity) ?? []), [number, at]]);
    }
  }
  return places;
}

/**
 * How many records follow another one in the other reading as well; undefined where one comes before it
 * there.
 */
function countInOrder(page: readonly FeedRecord[], places: ReadonlyMap<string, Place[]>): number | undefined {
  const lastAt = new Map<number, number>();
  let count = 0;
  for (const { identity } of page) {
    const shared = places.get(identity) ?? [];
    // Events that are alike cannot be told apart.
    if (new Set(shared.map(([number]) => number)).size < shared.length) continue;
    for (const [number, at] of shared) {
      const last = lastAt.get(number);
      if (last !== undefined && last >= at) return undefined;
      if (last !== undefined) count++;
      lastAt.set(number, at);
    }
  }
  return count;
}

function isNewestFirst(pages: readonly FeedRecord[][], minSteps: number): boolean {
  let steps = 0;
  let last: number | undefined;
  for (const { event } of pages.flat()) {
    const time = toTime(event);
    if (!(time <= (last ?? time))) return false;
    if (last !== undefined && time < last) steps++;
    last = time;
  }
  return steps >= minSteps;
}

/**
 * Another size shows other records side by side; a service that cuts its pages is asked for less than it
 * gave.
 */
function chooseNextSize({ pages, size, isGapless }: FeedReading): number {
  const minSize = isGapless ? size : Math.min(...pages.slice(0, -1).map((page) => page.length));
  return Math.max(1, isGapless ? Math.floor(size * 0.8) : minSize);
}

/** In the order of the last reading that shows it; events whose time cannot be read come last. */
function sortEvents(
  readings: readonly FeedReading[],
  found: ReadonlyMap<string, { event: ContactEvent; count: number }>,
): ContactEvent[] {
  const identities = new Set(
    readings.toReversed().flatMap(({ pages }) => pages.flat().map(({ identity }) => identity)),
  );
  const events = [...identities].flatMap((identity) => {
    const { event, count } = found.get(identity)!;
    return Array.from({ length: count }, () => event);
  });
  const sortable = (event: ContactEvent) => toTime(event) || Number.POSITIVE_INFINITY;
  const isOldestFirst = events.length > 1 && toTime(events[0]!) < toTime(events.at(-1)!);
  const oldestFirst = isOldestFirst ? events : events.toReversed();
  return oldestFirst.sort((one, other) => {
    const [first, second] = [sortable(one), sortable(other)];
    return first === second ? 0 : first - second;
  });
}
