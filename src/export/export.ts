/** Reading every matching contact once, although the account goes on changing meanwhile. */

import { type EcmError, failedError } from "../errors.ts";
import type { Behavior } from "../service/behavior.ts";
import { readSearchPages } from "../service/contact-pages.ts";
import { type ContactSearch, keepMatching } from "../service/contact-search.ts";
import { maxPageSize, openPages, type Page, type ReadPage } from "../service/pages.ts";
import type { Contact, Send, SendOptions } from "../wire.ts";

/** How often the whole is read when contacts may have slid past the reader. */
const maxPasses = 3;
/**
 * Pages of at least so many contacts overlap: what is seen again shows that nothing slid past between them.
 */
const minOverlappingPage = 20;
const minOverlap = 5;
const maxOverlap = 50;

/** The state of an export. */
interface ExportState {
  /** The page to read next, from 1; of `pageSize` contacts, unless pages overlap. */
  page: number;
  /** The largest size that the service gives. */
  pageSize: number;
  pass: number;
  /** How many contacts come before the one to read next, as the service counts. */
  position: number;
  /** The ids that the last page ended with, in order. */
  tail: string[];
  /** Contacts may have slid past the reader since this pass began. */
  isDoubtful: boolean;
  /** What the first answer of this pass called `totalRecords`. */
  firstTotal?: number;
  /** What the last answer called it. */
  total?: number;
  /** Ids of the contacts that were read. */
  seen: Set<string>;
}

export interface ExportOptions extends SendOptions {
  behavior?: Behavior;
}

const firstPosition = {
  page: 1,
  position: 0,
  tail: [],
  isDoubtful: false,
  firstTotal: undefined,
  total: undefined,
};

/**
 * Gives each contact once. Where contacts may have slid past the reader, because others were removed while
 * pages were read, it reads all again and gives those that were missed.
 * @throws EcmError when the pages never show that they are all
 */
export async function* exportContacts(
  send: Send,
  search: ContactSearch,
  options: ExportOptions = {},
): AsyncGenerator<Partial<Contact>, void> {
  const { behavior, ...sendOptions } = options;
  const state: ExportState = { ...firstPosition, pageSize: maxPageSize, pass: 1, seen: new Set() };
  const read = readSearchPages(send, search, behavior, sendOptions);
  for (;;) {
    const size = chooseNextSize(state);
    const { items, total = 0 } = await readPage(read, state, size, behavior);
    const seenBefore = state.seen.size;
    for (const contact of items) {
      const id = contact._id ?? contact.key ?? "";
      if (state.seen.has(id)) continue;
      state.seen.add(id);
      const keptContact = keepMatching(contact, search);
      if (keptContact) yield keptContact;
    }
    noteShift(state, items, { total, size, isNew: state.seen.size > seenBefore });
    const isLastPage = items.length === 0 || state.position >= total;
    if (isLastPage && endPass(state, total)) return;
  }
}

/**
 * @returns whether everything was read; otherwise another pass begins.
 * @throws EcmError after the last one
 */
function endPass(state: ExportState, total: number): boolean {
  const isComplete = !state.isDoubtful && state.seen.size >= Math.min(total, state.firstTotal!);
  if (isComplete) return true;
  if (state.pass === maxPasses) throw incompleteExportError(state.seen.size, total);
  Object.assign(state, firstPosition, { pass: state.pass + 1 });
  return false;
}

/**
 * Sets the page to read next. Pages are counted by their size, so that a slightly smaller size is chosen with
 * which a page begins a few contacts before the position.
 * @returns its size
 */
function chooseNextSize(state: ExportState): number {
  const { pageSize, position } = state;
  if (position === 0 || !pagesOverlap(state)) return pageSize;
  const maxShift = Math.min(maxOverlap, Math.floor(pageSize / 3));
  for (let size = pageSize; size > pageSize / 2; size--) {
    const overlap = minOverlap + ((position - minOverlap) % size);
    if (overlap > maxShift) continue;
    state.page = Math.floor((position - overlap) / size) + 1;
    return size;
  }
  state.page = Math.floor(position / pageSize) + 1;
  return pageSize;
}

function pagesOverlap({ pageSize }: ExportState): boolean {
  return pageSize >= minOverlappingPage;
}

/**
 * Moves on behind the page, and finds out whether contacts may have slid past between it and the one before.
 */
function noteShift(
  state: ExportState,
  items: readonly Partial<Contact>[],
  { total, size, isNew }: { total: number; size: number; isNew: boolean },
): void {
  const ids = items.map(({ _id, key }) => _id ?? key ?? "");
  const offset = (state.page - 1) * size;
  if (offset < state.position) {
    // What was read already and is here again is where this page continues: nothing is between them.
    const isContinued = state.tail.some((id) => ids.includes(id));
    // Where many went, what came behind the page before is in front of this one, which may be empty.
    const isSmaller = total < (state.total ?? total);
    state.isDoubtful ||= !isContinued && (isNew || isSmaller);
  } else if (total < (state.total ?? total)) {
    state.isDoubtful = true;
  }
  state.firstTotal ??= total;
  Object.assign(state, { total, position: offset + ids.length, page: state.page + 1 });
  state.tail = pagesOverlap(state) ? ids.slice(-maxOverlap) : [];
}

/** The size is settled with the very first page. */
async function readPage(
  read: ReadPage<Partial<Contact>>,
  state: ExportState,
  size: number,
  behavior: Behavior | undefined,
): Promise<Page<Partial<Contact>>> {
  if (state.page > 1 || state.pass > 1) return read(state.page, size);
  const opened = await openPages(read, { size, behavior });
  state.pageSize = opened.size;
  return opened.first;
}

function incompleteExportError(read: number, total: number): EcmError {
  return failedError(
    `The account changed each of the ${maxPasses} times that it was read: ${read} of ${total} contacts are certain`,
    "Run the export again while less is removed",
    { type: "UnstablePagesError", retryable: true },
  );
}
