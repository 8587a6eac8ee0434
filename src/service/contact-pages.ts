/** Every contact that a search finds, page after page. */
import { ServiceError } from "../errors.ts";
import type { Contact, SearchAnswer, Send } from "../wire.ts";
import { type ContactQuery, readSearch, searchContactsRequest } from "./contacts.ts";

/** Contacts per request when everything is wanted; halved where the service refuses it. */
export const defaultPageSize = 100;

export type ContactSearch = Omit<ContactQuery, "page" | "pageSize">;

export interface OpenSearch {
  /** How many contacts matched when the first page was read. */
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
  const wantedSize = options.pageSize ?? Math.max(1, Math.min(limit, defaultPageSize));
  const { pageSize, answer } = await firstPage(send, search, wantedSize);
  return {
    total: answer.totalRecords,
    contacts: walk(send, { ...search, page: 1, pageSize }, answer, limit),
  };
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
  limit: number,
): AsyncGenerator<Partial<Contact>, void> {
  let answer = first;
  let given = 0;
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
      given += 1;
      if (given >= limit) return;
    }
    received += answer.contacts.length;
    if (!isNew || received >= answer.totalRecords) return;
    previous = current;
    answer = readSearch(await send(searchContactsRequest({ ...query, page })));
  }
}
