/** All lists of a structure, page by page. */
import type { ContactList, Send } from "../wire.ts";
import type { Behavior } from "./behavior.ts";
import { listListsRequest, readLists } from "./lists.ts";
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
