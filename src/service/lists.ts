/** Lists of a structure: options → request, answer → result (specification, …/lists). Pure. */
import { UnreadableAnswerError } from "../errors.ts";
import type { ApiAnswer, ApiRequest, ContactList } from "../wire.ts";

export function createListRequest(structureId: string, name: string): ApiRequest {
  return { method: "POST", path: listsPath(structureId), body: { name }, effect: "write" };
}

/** `page` starts at 1. */
export function listListsRequest(structureId: string, page: number, size: number): ApiRequest {
  return {
    method: "GET",
    path: listsPath(structureId),
    query: [
      ["page", String(page)],
      ["size", String(size)],
    ],
    effect: "read",
  };
}

export interface ListsPage {
  lists: ContactList[];
  /** Number of all lists; absent when the service answered with a bare array. */
  total?: number;
}

/** Takes both forms in use: `{ total, records }` and a bare array. @throws UnreadableAnswerError */
export function readLists(answer: ApiAnswer): ListsPage {
  const body = answer.body;
  if (Array.isArray(body)) return { lists: body as ContactList[] };
  const envelope = body as { total?: unknown; records?: unknown } | null;
  if (Array.isArray(envelope?.records)) {
    return {
      lists: envelope.records as ContactList[],
      total: typeof envelope.total === "number" ? envelope.total : undefined,
    };
  }
  throw new UnreadableAnswerError("the answer is not a list of lists", { status: answer.status });
}

/** @throws UnreadableAnswerError when the answer carries no `_id`. */
export function readList(answer: ApiAnswer): ContactList {
  const body = answer.body as Partial<ContactList> | null;
  if (typeof body?._id !== "string") {
    throw new UnreadableAnswerError("the answer is not a list: it has no _id", {
      status: answer.status,
      applied: answer.applied,
    });
  }
  return body as ContactList;
}

function listsPath(structureId: string): string {
  return `/api/contact-structure/${encodeURIComponent(structureId)}/lists`;
}
