/** Reading every matching contact once, although the account goes on changing meanwhile. */
import { ServiceError } from "../errors.ts";
import { type ContactSearch, isPageSizeRefusal, keptOf, sourceOf } from "../service/contact-pages.ts";
import { readSearch, searchContactsRequest } from "../service/contacts.ts";
import type { Contact, SearchAnswer, Send, SendOptions } from "../wire.ts";

/** Contacts per request at first; halved where the service refuses it. */
export const firstPageSize = 1000;
/** How often the whole is read when contacts vanish while it is read. */
const mostPasses = 3;

/** How far an export has come. Kept by whoever wants to go on after a stop. */
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
  seen: Set<string>;
  /** How many of them were given: those that a condition decided here holds for. */
  given: number;
}

export function freshExport(): ExportState {
  return { page: 1, pageSize: firstPageSize, pass: 1, hasShrunk: false, seen: new Set(), given: 0 };
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
  options: SendOptions = {},
  onPage: (ids: string[]) => Promise<void> = () => Promise.resolve(),
): AsyncGenerator<Partial<Contact>, void> {
  for (;;) {
    const answer = await readPage(send, search, state, options);
    if (state.total !== undefined && answer.totalRecords < state.total) state.hasShrunk = true;
    state.total = answer.totalRecords;
    const fresh: string[] = [];
    for (const contact of answer.contacts) {
      const id = contact._id ?? contact.key ?? "";
      if (state.seen.has(id)) continue;
      state.seen.add(id);
      fresh.push(id);
      const kept = keptOf(contact, search);
      if (!kept) continue;
      state.given += 1;
      yield kept;
    }
    const isLastPage =
      answer.contacts.length === 0 ||
      (state.page - 1) * state.pageSize + answer.contacts.length >= answer.totalRecords;
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

async function readPage(
  send: Send,
  search: ContactSearch,
  state: ExportState,
  options: SendOptions,
): Promise<SearchAnswer> {
  for (;;) {
    try {
      const request = searchContactsRequest({
        ...search,
        source: sourceOf(search),
        page: state.page,
        pageSize: state.pageSize,
      });
      const answer = readSearch(await send(request, options));
      const isClamped =
        answer.contacts.length < Math.min(state.pageSize, answer.totalRecords) && state.page === 1;
      // A service that silently gives less than asked counts its pages by what it gives.
      if (isClamped && answer.contacts.length > 0) state.pageSize = answer.contacts.length;
      return answer;
    } catch (error) {
      const mayHalve = state.page === 1 && state.pageSize > 1 && error instanceof ServiceError;
      if (!mayHalve || !isPageSizeRefusal(error)) throw error;
      state.pageSize = Math.floor(state.pageSize / 2);
    }
  }
}
