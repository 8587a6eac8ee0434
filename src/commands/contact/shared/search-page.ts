/** What one search finds: a page of it, or how many contacts there are. */
import type { Context } from "../../../context.ts";
import type { Behavior } from "../../../service/behavior.ts";
import { openSearch, readSearchPages } from "../../../service/contact-pages.ts";
import type { ContactSearch } from "../../../service/contact-search.ts";
import { readSinglePage } from "../../../service/pages.ts";
import type { Contact, Send } from "../../../wire.ts";
import { warnOfMissing } from "./search-warnings.ts";

interface Place {
  page: number;
  pageSize: number;
  behavior: Behavior;
}

interface SearchPage {
  contacts: Partial<Contact>[];
  /** Of all pages, where the service decides everything. */
  total?: number;
  hasMore: boolean;
  /** How many were read, where a condition was decided here. */
  searched?: number;
}

/** A page of what a search finds, by the service alone or with a condition decided here. */
export function readSearchPage(
  terminal: Context["terminal"],
  send: Send,
  search: ContactSearch,
  place: Place,
): Promise<SearchPage> {
  return search.keeps
    ? readLocallyFilteredPage(terminal, send, search, place)
    : readServicePage(send, search, place);
}

/** One page as the service gives it. */
async function readServicePage(
  send: Send,
  search: ContactSearch,
  { page, pageSize, behavior }: Place,
): Promise<SearchPage> {
  const read = readSearchPages(send, search, behavior);
  const { items, total, hasMore } = await readSinglePage(read, page, { size: pageSize, behavior });
  return { contacts: items, total, hasMore };
}

/** The service counts what it decides alone; what is decided here has to be read. */
export async function countContacts(
  { terminal }: Context,
  send: Send,
  search: ContactSearch,
  behavior: Behavior,
): Promise<number> {
  if (!search.keeps) return (await readSearchPages(send, search, behavior)(1, 1)).total ?? 0;
  const { total, contacts, countMissing } = await openSearch(send, search, { behavior });
  let count = 0;
  for await (const _contact of contacts) count += 1;
  warnOfMissing(terminal, total, countMissing());
  return count;
}

/** A page of the contacts that a condition decided here holds for. */
async function readLocallyFilteredPage(
  terminal: Context["terminal"],
  send: Send,
  search: ContactSearch,
  { page, pageSize, behavior }: Place,
): Promise<SearchPage> {
  const contacts: Partial<Contact>[] = [];
  let passed = 0;
  const { contacts: found, total: searched, countMissing } = await openSearch(send, search, { behavior });
  for await (const contact of found) {
    passed += 1;
    if (passed <= (page - 1) * pageSize) continue;
    if (contacts.length === pageSize) return { contacts, hasMore: true };
    contacts.push(contact);
  }
  warnOfMissing(terminal, searched, countMissing());
  return { contacts, hasMore: false, searched };
}
