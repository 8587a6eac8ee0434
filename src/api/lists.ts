/** Lists of a structure: options → request, answer → result (specification, …/lists; published reference). */
import { conflictError, unreadableAnswerError } from "../errors.ts";
import { advise, ecm } from "../hint.ts";
import type { ApiAnswer, ApiRequest, ContactList } from "../wire.ts";
import { foldCase } from "./names.ts";
import { findRecords, pathOf, type Records, readRecord, readRequest, writeRequest } from "./records.ts";

export function createListRequest(structureId: string, name: string): ApiRequest {
  return writeRequest("POST", listsPath(structureId), { name });
}

/** `page` starts at 1. */
export function listListsRequest(structureId: string, page: number, size: number): ApiRequest {
  const query: ApiRequest["query"] = [
    ["page", String(page)],
    ["size", String(size)],
  ];
  return readRequest(listsPath(structureId), query);
}

export function getListRequest(structureId: string, listId: string): ApiRequest {
  return readRequest(pathOf(listsPath(structureId), listId));
}

/** The body is not shown in the published reference; the name alone is the plain reading of "renames". */
export function renameListRequest(structureId: string, listId: string, name: string): ApiRequest {
  return writeRequest("PATCH", pathOf(listsPath(structureId), listId), { name });
}

/** The list goes, its contacts stay (published reference; answered with 204). */
export function deleteListRequest(structureId: string, listId: string): ApiRequest {
  return writeRequest("DELETE", pathOf(listsPath(structureId), listId));
}

/** A page of lists. @throws UnreadableAnswerError about `unknown_lists` */
export function readLists({ body, status }: ApiAnswer): Records<ContactList> {
  const page = findRecords(body);
  if (page) return page as Records<ContactList>;
  throw unreadableAnswerError("The answer is not a list of lists", undefined, {
    status,
    about: "unknown_lists",
  });
}

/** @throws UnreadableAnswerError when the answer is not a list. */
export function readList(answer: ApiAnswer): ContactList {
  return readRecord(answer, "a list");
}

/**
 * Names are compared without regard to letter case: people cannot tell two lists of one name apart.
 * @param except a list that may have the name: the one that is renamed
 * @throws EcmError (exit 6) when a list has this name
 */
export function requireFreeListName(name: string, lists: readonly ContactList[], except?: string): void {
  const sameName = lists.find((list) => list._id !== except && foldCase(list.name ?? "") === foldCase(name));
  if (!sameName) return;
  const advice = "Upper and lower case count as the same name; choose another";
  throw conflictError(
    `A list named ${JSON.stringify(sameName.name)} already exists`,
    except === undefined
      ? advise`${advice}. To add people to this list: ${ecm`contact mutate --list OTHER --add-list ${sameName.name ?? ""}`}`
      : advice,
    { type: "DuplicateFieldError", field: "name", applied: "no" },
  );
}

function listsPath(structureId: string): string {
  return `${pathOf("/api/contact-structure", structureId)}/lists`;
}
