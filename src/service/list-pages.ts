/** The lists of a structure: all of them page by page, or one with the number of its contacts. */
import { ServiceError } from "../errors.ts";
import type { ContactList, Send } from "../wire.ts";
import type { Behavior } from "./behavior.ts";
import { getListRequest, listListsRequest, readList, readLists } from "./lists.ts";
import { openPages, pagesInOrder, type ReadPage } from "./pages.ts";

const listPageSize = 100;

/** Reads the pages of a structure's lists. */
export function listPages(send: Send, structureId: string, behavior?: Behavior): ReadPage<ContactList> {
  return async (page, size) => {
    const { lists, total } = readLists(await send(listListsRequest(structureId, page, size)));
    behavior?.learn("lists", total === undefined ? "array" : "records");
    return { items: lists, total };
  };
}

/** Every list, page after page; a bare array has no total, so that it ends with a page that brings nothing new. */
export async function fetchAllLists(
  send: Send,
  structureId: string,
  behavior?: Behavior,
): Promise<ContactList[]> {
  const read = listPages(send, structureId, behavior);
  const opened = await openPages(read, { size: listPageSize, behavior, of: "lists" });
  const byId = new Map<string, ContactList>();
  for await (const lists of pagesInOrder(read, opened, ({ _id }) => _id)) {
    for (const list of lists) byId.set(list._id, list);
  }
  return [...byId.values()];
}

/**
 * One list with the number of its contacts, which only the listing is specified to tell: where the list alone cannot be read,
 * or does not tell it, all pages are read. Undefined when it does not exist.
 */
export async function fetchList(
  send: Send,
  structureId: string,
  listId: string,
  behavior?: Behavior,
): Promise<ContactList | undefined> {
  try {
    const list = readList(await send(getListRequest(structureId, listId)));
    if (list.totalContacts !== undefined) return list;
  } catch (error) {
    if (error instanceof ServiceError && error.status === 404) return undefined;
    if (!(error instanceof ServiceError && error.status === 403)) throw error;
  }
  return (await fetchAllLists(send, structureId, behavior)).find(({ _id }) => _id === listId);
}
