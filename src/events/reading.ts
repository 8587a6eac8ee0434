/**
 * One reading of a feed, page after page. Its total may be wrong and its pages cut, so that neither a total
 * nor a short page is taken for its end: it ends with an empty page.
 */

import { createHash } from "node:crypto";
import { type ContactEvent, createEventsRequest, type EventQuery, readEvents } from "../api/events.ts";
import type { Records } from "../api/records.ts";
import { formatCount } from "../counts.ts";
import { type EcmError, failedError, isServiceError } from "../errors.ts";
import { advise, ecm } from "../hint.ts";
import { openPages } from "../service/pages.ts";
import type { Send } from "../wire.ts";

/** As many requests as an hour usually has: a feed that goes on for longer has no end. */
const maxPages = 3600;
/** A page that no feed has: one that is not empty shows that the service repeats a page. */
const farPage = 1_000_000;

/** A record of a page. */
export interface FeedRecord {
  identity: string;
  event: ContactEvent;
}

export interface FeedReading {
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

/** The first page. */
export interface OpenFeed extends Records<FeedRecord> {
  /** By which the service counts its pages: as many as it gave, where it gave any. */
  size: number;
  /** It gave fewer than it was asked for. */
  isShort: boolean;
}

/** Reads the first page, with the largest size that is not refused. */
export async function openFeed(send: Send, query: EventQuery, preferredSize: number): Promise<OpenFeed> {
  const read = (page: number, size: number) => readPage(send, query, page, size);
  const { first, requestedSize } = await openPages(read, { size: preferredSize });
  const count = first.items.length;
  return { ...first, size: count || requestedSize, isShort: count < requestedSize };
}

/** @throws EcmError when the feed does not end */
export function readFeedPages(send: Send, query: EventQuery, first: OpenFeed): Promise<FeedReading> {
  return new FeedReader(send, query, first).read();
}

class FeedReader {
  private readonly send: Send;
  private readonly query: EventQuery;
  private readonly first: OpenFeed;
  private readonly reading: FeedReading;
  /** The service does not give one page for every number. */
  private isHonest = false;

  constructor(send: Send, query: EventQuery, first: OpenFeed) {
    this.send = send;
    this.query = query;
    this.first = first;
    const { size, total } = first;
    this.reading = { pages: [], size, isGapless: true, isTotalSteady: true, total };
  }

  async read(): Promise<FeedReading> {
    const { reading, first } = this;
    if (first.items.length === 0) return reading;
    this.take(first);
    for (let number = 2; number <= maxPages; number++) {
      if (!(await this.readNext(number))) return reading;
    }
    throw endlessFeedError();
  }

  private take({ items, total }: Records<FeedRecord>): void {
    this.reading.isTotalSteady &&= total === this.first.total;
    this.reading.pages.push(items);
  }

  /** @returns false at the end of the feed */
  private async readNext(number: number): Promise<boolean> {
    const { pages, size, total } = this.reading;
    const before = pages.at(-1)!;
    const received = countRecords(pages);
    // The size of the first page is not known to be one that was asked for.
    if (number > 2 && before.length < size && received === total) return false;
    const page = await this.readPage(number, received >= (total ?? Number.POSITIVE_INFINITY));
    if (page.items.length === 0) return false;
    if (isSame(page.items, before) && (await this.repeatsPages())) return false;
    if (before.length < size) {
      // The last page has grown, or the service cuts its pages as it likes.
      const again = await this.readPage(number - 1, false);
      this.reading.isGapless &&= again.items.length >= size;
      this.take(again);
    }
    this.take(page);
    return true;
  }

  /** As many as a page holds may have come in; or the service gives one page for every number. */
  private async repeatsPages(): Promise<boolean> {
    if (this.isHonest) return false;
    const far = await this.readPage(farPage, true);
    this.isHonest = far.items.length === 0;
    return !this.isHonest;
  }

  /** @param mayEnd a refusal says that there is no such page: all that was announced has been read */
  private async readPage(page: number, mayEnd: boolean): Promise<Records<FeedRecord>> {
    try {
      return await readPage(this.send, this.query, page, this.reading.size);
    } catch (error) {
      if (mayEnd && isServiceError(error) && [400, 404].includes(error.details.status)) {
        return { items: [] };
      }
      throw error;
    }
  }
}

function endlessFeedError(): EcmError {
  return failedError(
    `The feed of events has no end: ${formatCount(maxPages)} pages were read`,
    advise`Narrow it with --type or --days, or check the service with: ${ecm`doctor`}`,
    { type: "EndlessFeedError" },
  );
}

async function readPage(
  send: Send,
  query: EventQuery,
  page: number,
  size: number,
): Promise<Records<FeedRecord>> {
  const { items, total } = readEvents(await send(createEventsRequest(query, page, size)));
  return { items: items.map((event) => ({ identity: toIdentity(event), event })), total };
}

function isSame(one: FeedRecord[], other: FeedRecord[]): boolean {
  return one.length === other.length && one.every(({ identity }, at) => identity === other[at]!.identity);
}

export function countRecords(pages: readonly FeedRecord[][]): number {
  return pages.reduce((count, page) => count + page.length, 0);
}

/** Members that name a thing: a thing that is renamed makes no new event. */
const names = new Set(["emailCampaignName", "emailSubject", "importOriginalFileName"]);

/** All members, in whatever order they come. Several events may share it: clicks in the same millisecond. */
export function toIdentity(event: ContactEvent): string {
  return hash(sortKeys(event));
}

/** What stays when an event's members change: its own id, else all members but the names of things. */
export function toLastingIdentity(event: ContactEvent): string {
  const { _id } = event;
  if (typeof _id === "string") return hash([_id]);
  return hash(sortKeys(Object.fromEntries(Object.entries(event).filter(([name]) => !names.has(name)))));
}

export function countIdentities(identities: Iterable<string>): Map<string, number> {
  const counts = new Map<string, number>();
  for (const identity of identities) counts.set(identity, (counts.get(identity) ?? 0) + 1);
  return counts;
}

/** Takes one of so many away. @returns whether there was one */
export function takeIdentity(counts: Map<string, number>, identity: string): boolean {
  const count = counts.get(identity) ?? 0;
  if (count > 0) counts.set(identity, count - 1);
  return count > 0;
}

function hash(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("base64url").slice(0, 20);
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== "object" || value === null) return value;
  return Object.entries(value)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, member]) => [name, sortKeys(member)]);
}
