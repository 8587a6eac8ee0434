/** Every contact that a search finds, page after page. */
import { ServiceError } from "../errors.ts";
import type { Contact, SearchAnswer, Send } from "../wire.ts";
import type { LocalCondition } from "./contact-filters.ts";
import { type ContactQuery, readSearch, searchContactsRequest } from "./contacts.ts";

/** Contacts per request when everything is wanted; halved where the service refuses it. */
export const defaultPageSize = 100;

/** Contacts per request where most of them may be passed over here. */
const filteredPageSize = 1000;

export interface ContactSearch extends Omit<ContactQuery, "page" | "pageSize"> {
  /** What the service cannot decide; held against each contact that it finds. */
  keeps?: LocalCondition;
}

export interface OpenSearch {
  /** How many contacts the service found when the first page was read. */
  total: number;
  /** Reads on as it is consumed. */
  contacts: AsyncGenerator<Partial<Contact>, void>;
}

/**
 * Reads the first page, so that a refusal is known before anything is written; the rest follows on demand.
 * Stops at `limit`, at `totalRecords`, and at a page that brings nothing new. A contact that slid onto the next page
 * because others were added meanwhile is not given twice.
 */
export async function openSearch(
  send: Send,
  search: ContactSearch,
  options: { pageSize?: number; limit?: number } = {},
): Promise<OpenSearch> {
  const limit = options.limit ?? Number.POSITIVE_INFINITY;
  const usualSize = search.keeps ? filteredPageSize : Math.max(1, Math.min(limit, defaultPageSize));
  const asked = { ...search, source: sourceOf(search) };
  const { pageSize, answer } = await firstPage(send, asked, options.pageSize ?? usualSize);
  const found = walk(send, { ...asked, page: 1, pageSize }, answer);
  return { total: answer.totalRecords, contacts: upTo(limit, found, search) };
}

/** What is asked of the service: what is wanted, and what is needed to decide. */
export function sourceOf({ source, keeps }: Pick<ContactSearch, "source" | "keeps">): string[] {
  return [...new Set([...source, ...(keeps?.needs ?? [])])];
}

/** The contact as it was wanted; undefined when a condition does not hold for it. */
export function keptOf(
  contact: Partial<Contact>,
  { source, keeps }: Pick<ContactSearch, "source" | "keeps">,
): Partial<Contact> | undefined {
  if (!keeps) return contact;
  if (!keeps.holds(contact)) return undefined;
  const extra = keeps.needs.filter((part) => !source.includes(part));
  if (extra.length === 0) return contact;
  return Object.fromEntries(Object.entries(contact).filter(([name]) => !extra.includes(name)));
}

async function* upTo(
  limit: number,
  found: AsyncGenerator<Partial<Contact>, void>,
  search: ContactSearch,
): AsyncGenerator<Partial<Contact>, void> {
  let given = 0;
  for await (const contact of found) {
    const kept = keptOf(contact, search);
    if (!kept) continue;
    yield kept;
    given += 1;
    if (given >= limit) return;
  }
}

/** Halves the page size while the service refuses it. */
async function firstPage(
  send: Send,
  search: ContactSearch,
  wantedSize: number,
): Promise<{ pageSize: number; answer: SearchAnswer }> {
  for (let pageSize = wantedSize; ; pageSize = Math.floor(pageSize / 2)) {
    try {
      const request = searchContactsRequest({ ...search, page: 1, pageSize });
      return { pageSize, answer: readSearch(await send(request)) };
    } catch (error) {
      if (pageSize <= 1 || !isPageSizeRefusal(error)) throw error;
    }
  }
}

/** Whether the service refused a search because its page size is too large. */
export function isPageSizeRefusal(error: unknown): boolean {
  if (!(error instanceof ServiceError) || error.status !== 400) return false;
  return error.details.field === "pageSize" || /page ?size/i.test(error.message);
}

async function* walk(
  send: Send,
  query: ContactQuery,
  first: SearchAnswer,
): AsyncGenerator<Partial<Contact>, void> {
  let answer = first;
  let received = 0;
  // One page of ids is enough: what slides, slides from one page onto the next.
  let previous = new Set<string>();
  for (let page = 2; ; page++) {
    const current = new Set<string>();
    let isNew = false;
    for (const contact of answer.contacts) {
      if (contact._id !== undefined) {
        current.add(contact._id);
        if (previous.has(contact._id)) continue;
      }
      isNew = true;
      yield contact;
    }
    received += answer.contacts.length;
    if (!isNew || received >= answer.totalRecords) return;
    previous = current;
    answer = readSearch(await send(searchContactsRequest({ ...query, page })));
  }
}
