/** Every contact that a search finds, page after page, although the account goes on changing meanwhile. */

import { statusParts } from "../api/contacts.ts";
import { failedError } from "../errors.ts";
import { TextIndex } from "../text-index.ts";
import type { Contact, Send, SendOptions } from "../wire.ts";
import { type Behavior, createBehavior } from "./behavior.ts";
import { type ContactSearch, createContactPages, keepMatching } from "./contact-search.ts";
import { KeySearch } from "./key-search.ts";
import { maxPageSize, openPages, type Page, type ReadPage } from "./pages.ts";

/** Contacts on a page that is shown, unless a size is asked for. */
export const defaultPageSize = 100;

/** How often the whole is read when contacts may have slid past the reader. */
const maxPasses = 3;
/** Pages of so many contacts or more overlap: what is seen again shows that nobody slid past between them. */
const minOverlappingPage = 20;
const minOverlap = 5;
const maxOverlap = 50;

interface ReadOptions extends SendOptions {
  behavior?: Behavior;
  /** Contacts of a request. Default: the most that the service gives. */
  pageSize?: number;
}

/**
 * Gives each contact once. Where contacts may have slid past the reader, because others were removed while
 * pages were read, it reads all again and gives those that were missed. Two ids with one hash, which is rare
 * beyond measure, count as one: then the pages never add up.
 * @throws EcmError when the pages never show that they are all
 */
export async function* readAllContacts(
  send: Send,
  search: ContactSearch,
  { behavior, pageSize: preferredSize = maxPageSize, ...sendOptions }: ReadOptions = {},
): AsyncGenerator<Partial<Contact>, void> {
  const read = readSearchPages(send, search, behavior, sendOptions);
  const { first, size } = await openPages(read, { size: preferredSize, behavior });
  const seen = new TextIndex();
  let total = 0;
  for (let pass = 1; pass <= maxPasses; pass++) {
    const pages = readOnce(read, pass === 1 ? first : await read(1, size), size, seen);
    let page = await pages.next();
    for (; !page.done; page = await pages.next()) {
      for (const contact of page.value) {
        const kept = keepMatching(contact, search);
        if (kept) yield kept;
      }
    }
    if (!page.value.isDoubtful && seen.size >= page.value.total) return;
    total = page.value.total;
  }
  throw failedError(
    `The account changed each of the ${maxPasses} times that it was read: ${seen.size} of ${total} contacts are certain`,
    "Run the command again while less is removed",
    { type: "UnstablePagesError", retryable: true },
  );
}

/**
 * All pages, one after the other, without the contacts that were seen before.
 * @returns how many there are, and whether some may have slid past between two pages
 */
async function* readOnce(
  read: ReadPage<Partial<Contact>>,
  first: Page<Partial<Contact>>,
  pageSize: number,
  seen: TextIndex,
): AsyncGenerator<Partial<Contact>[], { total: number; isDoubtful: boolean }> {
  const { total: firstTotal = 0 } = first;
  let [{ items }, total, before] = [first, firstTotal, firstTotal];
  let [number, size, position] = [1, pageSize, 0];
  let tail = new Set<string>();
  let isDoubtful = false;
  for (;;) {
    const fresh = items.filter((contact) => !seen.has(toId(contact)));
    yield fresh;
    const ids = items.map(toId);
    for (const id of ids) if (!seen.has(id)) seen.add(id);
    const offset = (number - 1) * size;
    const isSmaller = total < before;
    // What was read already and is here again is where this page continues. Where many went, what came behind
    // the page before is in front of this one, which may be empty.
    const isContinued = offset < position ? ids.some((id) => tail.has(id)) : !isSmaller;
    isDoubtful ||= !isContinued && (fresh.length > 0 || isSmaller);
    position = offset + ids.length;
    if (ids.length === 0 || position >= total) return { total: Math.min(total, firstTotal), isDoubtful };
    tail = new Set(ids.slice(-maxOverlap));
    before = total;
    ({ number, size } = choosePage(position, pageSize));
    ({ items, total = 0 } = await read(number, size));
  }
}

function toId({ _id, key }: Partial<Contact>): string {
  return _id ?? key ?? "";
}

/**
 * The page to read behind a position. Pages are counted by their size, so that a slightly smaller size is
 * chosen with which a page begins a few contacts before the position.
 */
function choosePage(position: number, pageSize: number): { number: number; size: number } {
  const maxShift = Math.min(maxOverlap, Math.floor(pageSize / 3));
  for (let size = pageSize; size > pageSize / 2 && pageSize >= minOverlappingPage; size--) {
    const overlap = minOverlap + ((position - minOverlap) % size);
    if (overlap <= maxShift) return { size, number: Math.floor((position - overlap) / size) + 1 };
  }
  return { size: pageSize, number: Math.floor(position / pageSize) + 1 };
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
