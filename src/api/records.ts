/**
 * Requests, and records of which no member is promised, such as campaigns: each is kept as it came, and what
 * is read of it may be missing or of another type. And the two forms in which a list of records comes. Pure.
 */
import { unreadableAnswerError } from "../errors.ts";
import { isObject } from "../json.ts";
import type { ApiAnswer, ApiRequest } from "../wire.ts";

export function readRequest(path: string, query?: ApiRequest["query"]): ApiRequest {
  return { method: "GET", path, query, effect: "read" };
}

export function writeRequest(method: string, path: string, body?: unknown): ApiRequest {
  return { method, path, body, effect: "write" };
}

/** The path of a thing in a collection: its id is one segment, whatever it holds. */
export function pathOf(collection: string, id: string): string {
  return `${collection}/${encodeURIComponent(id)}`;
}

/** The member at this path; undefined where something on the way is no object. */
export function readMember(value: unknown, ...path: string[]): unknown {
  let found = value;
  for (const name of path) {
    if (!isObject(found) || !Object.hasOwn(found, name)) return undefined;
    found = found[name];
  }
  return found;
}

export function textMember(value: unknown, ...path: string[]): string | undefined {
  const found = readMember(value, ...path);
  return typeof found === "string" ? found : undefined;
}

/** The array that is the member of this name; an empty one where it is something else. */
export function listItems(value: unknown, ...path: string[]): unknown[] {
  const found = readMember(value, ...path);
  return Array.isArray(found) ? found : [];
}

export interface Records<T = unknown> {
  items: T[];
  /** The number of all records; undefined where the service does not tell it. */
  total?: number;
}

/** Takes `{ total, records }` and a bare array. @returns undefined for anything else */
export function findRecords(body: unknown): Records | undefined {
  if (Array.isArray(body)) return { items: body };
  const { records = undefined, total } = isObject(body) ? body : {};
  if (!Array.isArray(records)) return undefined;
  const isCount = typeof total === "number" && Number.isSafeInteger(total) && total >= 0;
  return { items: records, total: isCount ? total : undefined };
}

/**
 * The one record that an answer is.
 * @param what for the message, such as `a contact`
 * @throws UnreadableAnswerError when it has no `_id`
 */
export function readRecord<T>({ body, status, applied }: ApiAnswer, what: string): T {
  if (isObject(body) && typeof body._id === "string") return body as T;
  throw unreadableAnswerError(`The answer is not ${what}: it has no _id`, undefined, { status, applied });
}
