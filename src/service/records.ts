/**
 * What the service tells of campaigns, templates, domains and reports. No member of it is promised: each is
 * kept as it came, and whatever is read of it may be missing or of another type.
 */
import { hasStatus, UnreadableAnswerError } from "../errors.ts";
import { isObject } from "../is-object.ts";
import type { ApiAnswer, ApiRequest, Send } from "../wire.ts";
import { type ReadPage, readRepeatedly } from "./pages.ts";

export type ReadScope = "campaigns:read" | "domains:read" | "reports:read";

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

/** Name and value of each member; none of what is no object. */
export function listMembers(value: unknown): [name: string, value: unknown][] {
  return isObject(value) ? Object.entries(value) : [];
}

/**
 * Sends a read; where the key is refused, the scope that it needs is named, whatever the answer says.
 * @throws what `send` throws
 */
export async function sendScoped(send: Send, request: ApiRequest, scope: ReadScope): Promise<ApiAnswer> {
  try {
    return await send(request);
  } catch (error) {
    if (hasStatus(error, 403) && !error.message.includes(scope)) {
      error.details.hint = `This takes a key with the scope ${scope}, and a service that offers it to API keys`;
    }
    throw error;
  }
}

export function readRequest(path: string, query: [string, string][] = []): ApiRequest {
  return { method: "GET", path, query, effect: "read" };
}

/**
 * @param what for the message, such as `a report`
 * @throws UnreadableAnswerError when the answer is no object
 */
export function readObject(
  { body, status }: Pick<ApiAnswer, "body" | "status">,
  what: string,
): Record<string, unknown> {
  if (isObject(body)) return body;
  throw new UnreadableAnswerError(`The answer is not ${what}`, { status });
}

/** Takes `{ total, records }` and a bare array. @throws UnreadableAnswerError */
export function readRecords(
  answer: Pick<ApiAnswer, "body" | "status">,
  what: string,
): { items: unknown[]; total?: number } {
  if (Array.isArray(answer.body)) return { items: answer.body };
  const { records, total } = readObject(answer, what);
  if (Array.isArray(records)) {
    const isCount = typeof total === "number" && Number.isSafeInteger(total) && total >= 0;
    return { items: records, total: isCount ? total : undefined };
  }
  throw new UnreadableAnswerError(`The answer is not ${what}`, { status: answer.status });
}

/** Every record of every page, each once; `total`: how many were announced, 0 where the service does not say. */
export async function readAllRecords(
  read: ReadPage<unknown>,
): Promise<{ records: unknown[]; total: number }> {
  const { items, total } = await readRepeatedly(read, { size: recordsPerPage }, toRecordIdentity);
  return { records: items, total };
}

export const recordsPerPage = 100;

/** Its id; as a whole where it has none. */
export function toRecordIdentity(record: unknown): string {
  return textMember(record, "_id") ?? JSON.stringify(record);
}
