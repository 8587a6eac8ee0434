/** Reading every matching contact once, although the account goes on changing meanwhile. */
import type { Behavior } from "../service/behavior.ts";
import { largestPageSize, searchPages } from "../service/contact-pages.ts";
import { type ContactSearch, keptOf } from "../service/contact-search.ts";
import { openPages, type Page, type ReadPage } from "../service/pages.ts";
import type { Contact, Send, SendOptions } from "../wire.ts";
import { createIdSet, type IdSet } from "./id-set.ts";

/** How often the whole is read when contacts vanish while it is read. */
const mostPasses = 3;

/** How far an export has come. Kept by whoever wants to resume after a stop. */
export interface ExportState {
  /** The page to read next, from 1. */
  page: number;
  pageSize: number;
  pass: number;
  /** A contact was removed since this pass began: those behind it slid one place forward, past the reader. */
  hasShrunk: boolean;
  /** What the last answer called `totalRecords`. */
  total?: number;
  /** Ids of the contacts that were read. */
  seen: IdSet;
  /** How many of them were given: those that a condition decided here holds for. */
  given: number;
}

export function freshExport(): ExportState {
  return { page: 1, pageSize: largestPageSize, pass: 1, hasShrunk: false, seen: createIdSet(), given: 0 };
}

/**
 * Gives each contact once. When the number of contacts shrinks while pages are read, it reads all again and gives those
 * that were missed.
 * @param state changed as it goes
 * @param onPage called when every contact of a page has been taken; the ids are those that the page brought anew
 */
export async function* exportContacts(
  send: Send,
  search: ContactSearch,
  state: ExportState,
  options: SendOptions & { behavior?: Behavior } = {},
  onPage: (ids: string[]) => Promise<void> = () => Promise.resolve(),
): AsyncGenerator<Partial<Contact>, void> {
  const { behavior, ...sendOptions } = options;
  const read = searchPages(send, search, behavior, sendOptions);
  for (;;) {
    const answer = await readPage(read, state, behavior);
    const total = answer.total ?? 0;
    if (state.total !== undefined && total < state.total) state.hasShrunk = true;
    state.total = total;
    const fresh: string[] = [];
    for (const contact of answer.items) {
      const id = contact._id ?? contact.key ?? "";
      if (!state.seen.add(id)) continue;
      fresh.push(id);
      const kept = keptOf(contact, search);
      if (!kept) continue;
      state.given += 1;
      yield kept;
    }
    const isLastPage =
      answer.items.length === 0 || (state.page - 1) * state.pageSize + answer.items.length >= total;
    if (!isLastPage) state.page += 1;
    else if (state.hasShrunk && state.pass < mostPasses) {
      Object.assign(state, { page: 1, pass: state.pass + 1, hasShrunk: false });
    } else {
      await onPage(fresh);
      return;
    }
    await onPage(fresh);
  }
}

/** The size is settled with the very first page. */
async function readPage(
  read: ReadPage<Partial<Contact>>,
  state: ExportState,
  behavior: Behavior | undefined,
): Promise<Page<Partial<Contact>>> {
  if (state.page > 1 || state.pass > 1) return read(state.page, state.pageSize);
  const { size, first } = await openPages(read, { size: state.pageSize, behavior });
  state.pageSize = size;
  return first;
}
