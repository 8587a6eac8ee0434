/** Every contact that a search finds, page after page. */

import { statusParts } from "../api/contacts.ts";
import type { Contact, Send, SendOptions } from "../wire.ts";
import { type Behavior, createBehavior } from "./behavior.ts";
import { type ContactSearch, createContactPages, keepMatching } from "./contact-search.ts";
import { KeySearch } from "./key-search.ts";
import { maxPageSize, openPages, type ReadPage, readPagesInOrder } from "./pages.ts";

/** Contacts on a page that is shown, unless a size is asked for. */
export const defaultPageSize = 100;

export interface OpenSearch {
  /** How many contacts the service found when the first page was read. */
  total: number;
  /** Reads on as it is consumed. */
  contacts: AsyncGenerator<Partial<Contact>, void>;
  /**
   * How many the service found and its pages did not bring, once all are read: others changed the account.
   */
  countMissing(): number;
}

/**
 * Reads the first page, so that a refusal is known before anything is written; the rest follows on demand.
 * Stops at `limit`, at `totalRecords`, and at a page that brings nothing new. A contact that moved to the
 * next page because others were added meanwhile is not given twice.
 */
export async function openSearch(
  send: Send,
  search: ContactSearch,
  options: { pageSize?: number; limit?: number; behavior?: Behavior } = {},
): Promise<OpenSearch> {
  const { behavior, limit = Number.POSITIVE_INFINITY } = options;
  const defaultSize = search.keeps ? maxPageSize : Math.max(1, Math.min(limit, maxPageSize));
  const read = readSearchPages(send, search, behavior);
  const opened = await openPages(read, { size: options.pageSize ?? defaultSize, behavior });
  const pages = readPagesInOrder(read, opened, (contact) => contact._id);
  const total = opened.first.total ?? 0;
  let missing = 0;
  async function* takeUpTo(): AsyncGenerator<Partial<Contact>, void> {
    let passed = 0;
    let count = 0;
    for await (const page of pages) {
      for (const contact of page) {
        passed += 1;
        const keptContact = keepMatching(contact, search);
        if (!keptContact) continue;
        yield keptContact;
        count += 1;
        if (count >= limit) return;
      }
    }
    missing = Math.max(0, total - passed);
  }
  return { total, contacts: takeUpTo(), countMissing: () => missing };
}

/**
 * Reads the pages of any search. Several keys are looked up at the first page, all of them: the pages are
 * parts of what was found.
 */
export function readSearchPages(
  send: Send,
  search: ContactSearch,
  behavior: Behavior = createBehavior(),
  options?: SendOptions,
): ReadPage<Partial<Contact>> {
  const { keys, structureId, filters, keeps } = search;
  if (!keys) return createContactPages(send, search, behavior, options);
  const keySearch = new KeySearch({
    send: (request) => send(request, options),
    behavior,
    structureId,
    toIdentity: keys.areEmails ? (key) => key.toLowerCase() : (key) => key,
    readsStatus: search.readsStatus || statusParts.some((part) => keeps?.needs.includes(part)),
  });
  const source = [...new Set(["_id", "key", ...search.source, ...(keeps?.needs ?? [])])];
  const further = filters.flatMap(({ criterias }) => criterias);
  let found: Promise<Partial<Contact>[]> | undefined;
  return async (page, size) => {
    found ??= keySearch.find(keys.values, source, further).then(({ contacts, refused }) => {
      const [refusal] = refused.values();
      if (refusal) throw refusal;
      return contacts.map((contact) => removeKey(contact, [...search.source, ...(keeps?.needs ?? [])]));
    });
    const contacts = await found;
    return { items: contacts.slice((page - 1) * size, page * size), total: contacts.length };
  };
}

/**
 * Takes out the key where it was asked for only to know what was found.
 * @param source the parts that are wanted
 */
function removeKey(contact: Partial<Contact>, source: readonly string[]): Partial<Contact> {
  if (source.includes("key")) return contact;
  const { key: _key, ...rest } = contact;
  return rest;
}
