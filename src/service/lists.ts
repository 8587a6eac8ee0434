/**
 * The lists of a structure: all of them page by page, one with the number of its contacts, and its deletion.
 */

import { deleteListRequest, getListRequest, listListsRequest, readList, readLists } from "../api/lists.ts";
import { EcmError, hasStatus, isGoneError, isNotOffered } from "../errors.ts";
import type { ApiRequest, ContactList, Send } from "../wire.ts";
import type { Behavior } from "./behavior.ts";
import { type ReadPage, readRepeatedly, recordsPerPage } from "./pages.ts";

/** Reads the pages of a structure's lists. */
export function createListPages(send: Send, structureId: string): ReadPage<ContactList> {
  return async (page, size) => readLists(await send(listListsRequest(structureId, page, size)));
}

/**
 * Every list, page after page, and the requests that it took; a bare array has no total, so that it ends with
 * a page that brings nothing new.
 */
export async function readAllLists(
  send: Send,
  structureId: string,
  behavior: Behavior,
): Promise<{ lists: ContactList[]; requests: number }> {
  const readPage = createListPages(send, structureId);
  let requests = 0;
  const read: typeof readPage = (page, size) => {
    requests++;
    return readPage(page, size);
  };
  const options = { size: recordsPerPage, behavior, of: "lists" } as const;
  const { items } = await readRepeatedly(read, options, ({ _id }) => _id);
  return { lists: items, requests };
}

/**
 * One list with the number of its contacts, which only the listing is specified to tell: where the list alone
 * cannot be read, or does not tell it, all pages are read. Undefined when it does not exist.
 */
export async function fetchList(
  send: Send,
  structureId: string,
  listId: string,
  behavior: Behavior,
): Promise<ContactList | undefined> {
  try {
    const list = readList(await send(getListRequest(structureId, listId)));
    if (list.totalContacts !== undefined) return list;
  } catch (error) {
    if (isGoneError(error)) return undefined;
    if (!hasStatus(error, 403) && !isNotOffered(error)) throw error;
  }
  return (await readAllLists(send, structureId, behavior)).lists.find(({ _id }) => _id === listId);
}

/** Deletes a list. @throws what `send` threw, when the list may still be there */
export function deleteList(send: Send, structureId: string, listId: string): Promise<void> {
  return deleteForGood(send, deleteListRequest(structureId, listId), getListRequest(structureId, listId));
}

/**
 * Sends a deletion. What is gone already is deleted; where the answer is lost, reading it tells.
 * @param look reads what is deleted
 * @throws what `send` threw, when it may still be there
 */
export async function deleteForGood(send: Send, deletion: ApiRequest, look: ApiRequest): Promise<void> {
  try {
    await send(deletion);
  } catch (error) {
    if (!(error instanceof EcmError)) throw error;
    if (error.details.applied === "yes") return;
    const mayBeGone = isGoneError(error) || error.details.applied === "unknown";
    // Only an id that does not exist proves a deletion.
    if (!mayBeGone || !(await isGone(send, look))) throw error;
  }
}

function isGone(send: Send, look: ApiRequest): Promise<boolean> {
  return send(look).then(
    () => false,
    (error) => hasStatus(error, 404),
  );
}
