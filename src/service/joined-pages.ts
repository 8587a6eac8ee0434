/** Any paged answer joined into one array: lists, events, searches. */
import { UnreadableAnswerError, UsageError } from "../errors.ts";
import { isObject } from "../is-object.ts";
import type { ApiRequest, Send } from "../wire.ts";
import { openPages, type Page, type ReadPage, readPagesInOrder } from "./pages.ts";
import { toRecordIdentity } from "./resources.ts";

const firstSize = 100;

/**
 * Every record of a request that answers in pages: `{ total, records }`, `{ totalRecords, contacts }` or a
 * bare array; and the largest total that any page told. Page and size of the caller's own are kept as the size; it always begins at the first page.
 * @throws UsageError for a request that writes; UnreadableAnswerError for an answer that is no page
 */
export async function joinPages(
  send: Send,
  request: ApiRequest,
): Promise<{ records: unknown[]; total?: number }> {
  if (request.effect === "write") {
    throw new UsageError(
      "--paginate joins the pages of a read, but this request would write",
      "Leave out --paginate",
    );
  }
  const pagedRequest = toPagedRequest(request);
  let total: number | undefined;
  const read: ReadPage<unknown> = async (page, size) => {
    const answer = toPage((await send(pagedRequest.of(page, size))).body);
    // The largest: where one was removed meanwhile, another may have slid past the reader.
    if (answer.total !== undefined) total = Math.max(total ?? 0, answer.total);
    return answer;
  };
  const records: unknown[] = [];
  const opened = await openPages(read, { size: pagedRequest.size });
  for await (const page of readPagesInOrder(read, opened, toRecordIdentity)) records.push(...page);
  return { records, total };
}

interface PagedRequest {
  size: number;
  of(page: number, size: number): ApiRequest;
}

/** A search is paged in its body, anything else in its query. */
function toPagedRequest(request: ApiRequest): PagedRequest {
  if (request.method === "POST") {
    const body = parseBody(request);
    const { pageSize } = body;
    return {
      size: typeof pageSize === "number" ? pageSize : firstSize,
      of: (page, size) => ({ ...request, rawBody: JSON.stringify({ ...body, page, pageSize: size }) }),
    };
  }
  const [path = "", search = ""] = request.path.split("?");
  const query: [string, string][] = [...new URLSearchParams(search), ...(request.query ?? [])];
  const own = Number(query.find(([name]) => name === "size")?.[1]);
  const further = query.filter(([name]) => name !== "page" && name !== "size");
  return {
    size: Number.isSafeInteger(own) && own > 0 ? own : firstSize,
    of: (page, size) => ({
      ...request,
      path,
      query: [...further, ["page", String(page)], ["size", String(size)]],
    }),
  };
}

function parseBody({ rawBody = "{}" }: ApiRequest): Record<string, unknown> {
  try {
    const body: unknown = JSON.parse(rawBody);
    if (isObject(body)) return body;
  } catch {
    // Said below.
  }
  throw new UsageError("--paginate: the body of a search is a JSON object");
}

function toPage(body: unknown): Page<unknown> {
  if (Array.isArray(body)) return { items: body };
  const { records, contacts, total, totalRecords } = (body ?? {}) as Record<string, unknown>;
  const found = Array.isArray(records) ? records : contacts;
  const count = total ?? totalRecords;
  if (Array.isArray(found)) return { items: found, total: typeof count === "number" ? count : undefined };
  throw new UnreadableAnswerError("--paginate: the answer is not a page of records", {
    hint: "Leave out --paginate to see the answer as it comes",
  });
}
