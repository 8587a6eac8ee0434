/** Every contact that a search finds, page after page. */
import type { Contact, Send } from "../wire.ts";
import type { Behavior } from "./behavior.ts";
import { type ContactSearch, keptOf } from "./contact-search.ts";
import { searchPages } from "./key-search.ts";
import { openPages, pagesInOrder } from "./pages.ts";

/** Contacts on a page that is shown. */
export const defaultPageSize = 100;
/** Contacts per request when all are wanted: the most that the service gives. Halved where it refuses that. */
export const largestPageSize = 1000;

export interface OpenSearch {
  /** How many contacts the service found when the first page was read. */
  total: number;
  /** Reads on as it is consumed. */
  contacts: AsyncGenerator<Partial<Contact>, void>;
}

/**
 * Reads the first page, so that a refusal is known before anything is written; the rest follows on demand.
 * Stops at `limit`, at `totalRecords`, and at a page that brings nothing new. A contact that moved to the next page
 * because others were added meanwhile is not given twice.
 */
export async function openSearch(
  send: Send,
  search: ContactSearch,
  options: { pageSize?: number; limit?: number; behavior?: Behavior } = {},
): Promise<OpenSearch> {
  const { behavior, limit = Number.POSITIVE_INFINITY } = options;
  const usualSize = search.keeps ? largestPageSize : Math.max(1, Math.min(limit, largestPageSize));
  const read = searchPages(send, search, behavior);
  const opened = await openPages(read, { size: options.pageSize ?? usualSize, behavior });
  const pages = pagesInOrder(read, opened, (contact) => contact._id);
  return { total: opened.first.total ?? 0, contacts: upTo(limit, pages, search) };
}

async function* upTo(
  limit: number,
  pages: AsyncGenerator<Partial<Contact>[], void>,
  search: ContactSearch,
): AsyncGenerator<Partial<Contact>, void> {
  let given = 0;
  for await (const page of pages) {
    for (const contact of page) {
      const kept = keptOf(contact, search);
      if (!kept) continue;
      yield kept;
      given += 1;
      if (given >= limit) return;
    }
  }
}
