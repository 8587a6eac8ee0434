/**
 * One reading of a feed, page after page. Its total may be wrong and its pages cut, so that neither a total nor a short page
 * is taken for its end: it ends with an empty page.
 */
import { EcmError, exitCodes, ServiceError } from "../errors.ts";
import { type ContactEvent, type EventQuery, eventsRequest, readEvents } from "../service/events.ts";
import { isSizeRefusal } from "../service/pages.ts";
import type { Send } from "../wire.ts";
import { identityOf } from "./identity.ts";

/** Events per request at first; halved where the service refuses it. */
export const largestPageSize = 1000;
/** As many requests as an hour usually has: a feed that goes on for longer has no end. */
const maxPages = 3600;
/** A page that no feed has: one that is not empty shows that the service repeats a page. */
const farPage = 1_000_000;

/** A record of a page. */
export interface FeedRecord {
  identity: string;
  event: ContactEvent;
}

export interface FeedPage {
  records: FeedRecord[];
  /** Of all pages, as the service says. */
  total: number | undefined;
}

export interface Reading {
  /** As they came: a page may begin with records that slid from the one before. */
  pages: FeedRecord[][];
  /** The size by which the service counts its pages. */
  size: number;
  /** No page before the last one was short: a service that cuts those may have left records out. */
  isGapless: boolean;
  /** Every page said the same total. */
  isTotalSteady: boolean;
  /** The total of the first page. */
  total: number | undefined;
}

/** The first page, and the size by which the service counts: what it gives where that is not what was asked for. */
export interface OpenFeed extends FeedPage {
  asked: number;
  size: number;
}

/** Reads the first page, with the largest size that is not refused. */
export async function openFeed(send: Send, query: EventQuery, wantedSize: number): Promise<OpenFeed> {
  for (let asked = wantedSize; ; asked = Math.floor(asked / 2)) {
    try {
      const page = await readPage(send, query, 1, asked);
      return { ...page, asked, size: page.records.length || asked };
    } catch (error) {
      if (asked <= 1 || !isSizeRefusal(error)) throw error;
    }
  }
}

/** @throws EcmError when the feed does not end */
export async function readPages(send: Send, query: EventQuery, first: OpenFeed): Promise<Reading> {
  const { size, total } = first;
  const reading: Reading = { pages: [], size, isGapless: true, isTotalSteady: true, total };
  const take = (page: FeedPage) => {
    reading.isTotalSteady &&= page.total === total;
    reading.pages.push(page.records);
  };
  if (first.records.length === 0) return reading;
  take(first);
  let isHonest = false;
  for (let number = 2; number <= maxPages; number++) {
    const before = reading.pages.at(-1)!;
    const received = countRecords(reading.pages);
    // The size of the first page is not known to be one that was asked for.
    if (number > 2 && before.length < size && received === total) return reading;
    const page = await readFurther(send, query, { page: number, size }, received >= (total ?? Infinity));
    if (page.records.length === 0) return reading;
    if (!isHonest && isSame(page.records, before)) {
      // As many as a page holds may have come in; or the service gives one page for every number.
      const far = await readFurther(send, query, { page: farPage, size }, true);
      if (far.records.length > 0) return reading;
      isHonest = true;
    }
    if (before.length < size) {
      // The last page has grown, or the service cuts its pages as it likes.
      const again = await readFurther(send, query, { page: number - 1, size }, false);
      reading.isGapless &&= again.records.length >= size;
      take(again);
    }
    take(page);
  }
  throw new EcmError(
    exitCodes.failed,
    `The feed of events has no end: ${maxPages.toLocaleString("en-US")} pages were read`,
    {
      type: "EndlessFeedError",
      hint: "Narrow it with --type or --days, or check the service with: ecm doctor",
    },
  );
}

/** @param mayEnd a refusal says that there is no such page: all that was announced has been read */
async function readFurther(
  send: Send,
  query: EventQuery,
  { page, size }: { page: number; size: number },
  mayEnd: boolean,
): Promise<FeedPage> {
  try {
    return await readPage(send, query, page, size);
  } catch (error) {
    if (mayEnd && error instanceof ServiceError && (error.status === 400 || error.status === 404)) {
      return { records: [], total: undefined };
    }
    throw error;
  }
}

async function readPage(send: Send, query: EventQuery, page: number, size: number): Promise<FeedPage> {
  const { events, total } = readEvents(await send(eventsRequest(query, page, size)));
  return { records: events.map((event) => ({ identity: identityOf(event), event })), total };
}

function isSame(one: FeedRecord[], other: FeedRecord[]): boolean {
  return one.length === other.length && one.every(({ identity }, at) => identity === other[at]!.identity);
}

export function countRecords(pages: readonly FeedRecord[][]): number {
  return pages.reduce((count, page) => count + page.length, 0);
}
