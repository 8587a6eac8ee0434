/**
 * Reading page by page: one rule for all that comes in pages. The greatest size is not published, so that a
 * refused size is followed by the next usual one, and one that was silently cut continues at the size it was
 * cut to. A reading ends when the service's total is reached, or with a page that brings nothing new: a short
 * page is no end.
 */
import { findRecords, type Records } from "../api/records.ts";
import { hasStatus, unreadableAnswerError, usageError } from "../errors.ts";
import { advise, ecm } from "../hint.ts";
import { isObject } from "../json.ts";
import type { ApiRequest, Send } from "../wire.ts";
import type { Behavior } from "./behavior.ts";

/**
 * Records per request when all are wanted: the most that the service gives. Less where it refuses that.
 */
export const maxPageSize = 1000;

/** What services commonly allow, the most first. */
const usualSizes = [maxPageSize, 500, 250, 100, 50, 10];

/** `total` is that of all pages. */
export type Page<T> = Records<T>;

/** Page numbers start at 1. */
export type ReadPage<T> = (page: number, size: number) => Promise<Page<T>>;

export interface OpenPages<T> {
  /** The size to read on with. */
  size: number;
  /** The size that was not refused; pages may be cut to less. */
  requestedSize: number;
  first: Page<T>;
}

export interface PageOptions {
  /** The size to begin with, unless it is known that it would be refused. */
  size: number;
  behavior?: Behavior;
  /** The kind of page whose sizes are learned. Default: contacts. */
  of?: "contacts" | "lists";
}

/**
 * Pages that do not add up to their total are read again, up to this often: others add and remove meanwhile.
 */
const maxReadings = 3;

const points = {
  contacts: { most: "maxPage", cut: "pageCut" },
  lists: { most: "maxListSize", cut: "listSizeCut" },
} as const;

/**
 * Reads the first page, with the largest size that is not refused.
 * @throws what `read` throws for other reasons
 */
export async function openPages<T>(read: ReadPage<T>, options: PageOptions): Promise<OpenPages<T>> {
  const { behavior, of = "contacts" } = options;
  const knownLimit = behavior?.get(points[of].most);
  let size = Math.min(options.size, knownLimit ?? Number.POSITIVE_INFINITY);
  for (let isLess = false; ; isLess = true) {
    try {
      const first = await read(1, size);
      if (isLess) behavior?.learn(points[of].most, size);
      const pageSize = findPageSize(first, size, (cut) => behavior?.learn(points[of].cut, cut));
      return { size: pageSize, requestedSize: size, first };
    } catch (error) {
      if (size <= 1 || !isSizeRefusal(error)) throw error;
      size = usualSizes.find((usual) => usual < size) ?? Math.floor(size / 2);
    }
  }
}

/** One page, to be shown. */
export interface SinglePage<T> extends Page<T> {
  /** Without a total, only an empty page is the last one. */
  hasMore: boolean;
}

/**
 * One page. A size that is known to be refused is not asked for; the first page finds out.
 * @throws what `read` throws for other reasons
 */
export async function readSinglePage<T>(
  read: ReadPage<T>,
  page: number,
  options: PageOptions,
): Promise<SinglePage<T>> {
  const { behavior, of = "contacts" } = options;
  const opened = page === 1 ? await openPages(read, options) : undefined;
  const size = Math.min(options.size, behavior?.get(points[of].most) ?? options.size);
  const { items, total } = opened?.first ?? (await read(page, size));
  return { items, total, hasMore: hasMoreAfter({ items, total }, page, size, behavior?.get(points[of].cut)) };
}

/** @param cut what the service was seen to cut pages to: it counts its pages by what it gives */
function hasMoreAfter<T>({ items, total }: Page<T>, page: number, size: number, cut = size): boolean {
  const count = items.length;
  // More than was asked for is everything: the service does not page.
  if (count === 0 || total === undefined) return count > 0 && count <= size;
  const isRequestedSize = count === Math.min(size, total - (page - 1) * size);
  const counted = cut < size ? cut : isRequestedSize ? size : count;
  return (page - 1) * counted + count < total;
}

/** A service that gives less than was asked for may count its pages by what it gives. */
function findPageSize<T>(
  { items, total }: Page<T>,
  requestedSize: number,
  onCut: (size: number) => void,
): number {
  const count = items.length;
  if (total === undefined || count === 0 || count >= Math.min(requestedSize, total)) return requestedSize;
  // One contact fewer than announced was deleted meanwhile; half of them were cut.
  if (total >= 2 * count) onCut(count);
  return count;
}

/** Whether a request was refused because it asks for too much at once. */
export function isSizeRefusal(error: unknown): boolean {
  if (!hasStatus(error, 400)) return false;
  const { field } = error.details;
  if (field !== undefined) return field === "pageSize" || field === "size";
  return /page ?size|\bsize\b/i.test(error.message);
}

/**
 * Every page in order, the first one included. Ends at the total, or with a page that brings nothing new.
 * @param toId tells an item that moved to the next page from a new one; items without an id count as new
 */
export async function* readPagesInOrder<T>(
  read: ReadPage<T>,
  { size, first }: Pick<OpenPages<T>, "size" | "first">,
  toId: (item: T) => string | undefined,
): AsyncGenerator<T[], void> {
  let page = first;
  let received = 0;
  // One page of ids is enough: what slides, slides from one page onto the next.
  let previous = new Set<string>();
  for (let number = 2; ; number++) {
    const fresh = page.items.filter((item) => {
      const id = toId(item);
      return id === undefined || !previous.has(id);
    });
    if (fresh.length > 0) yield fresh;
    received += page.items.length;
    if (fresh.length === 0 || received >= (page.total ?? Number.POSITIVE_INFINITY)) return;
    previous = new Set(page.items.map(toId).filter((id) => id !== undefined));
    page = await read(number, size);
  }
}

/**
 * Every item of every page, and the largest total that a page had; 0 where the service tells none. Where
 * others remove or change items, one may slide past the reader: then all is read again, but not
 * without an end.
 */
export async function readRepeatedly<T>(
  read: ReadPage<T>,
  options: PageOptions,
  toId: (item: T) => string | undefined,
): Promise<{ items: T[]; total: number }> {
  for (let readings = 1; ; readings++) {
    const opened = await openPages(read, options);
    const items = new Map<string, T>();
    let total = opened.first.total ?? 0;
    const counted = async (page: number, size: number) => {
      const next = await read(page, size);
      total = Math.max(total, next.total ?? 0);
      return next;
    };
    for await (const page of readPagesInOrder(counted, opened, toId)) {
      for (const item of page) items.set(toId(item) ?? "", item);
    }
    if (items.size >= total || readings === maxReadings) return { items: [...items.values()], total };
  }
}

/**
 * Every item of every page: what is not among them is absent, for the pages add up to their total.
 * @throws EcmError when they never do
 */
export async function readComplete<T>(
  read: ReadPage<T>,
  options: PageOptions,
  toId: (item: T) => string | undefined,
): Promise<T[]> {
  const { items, total } = await readRepeatedly(read, options, toId);
  if (items.length >= total) return items;
  throw unreadableAnswerError(
    "The pages of a search never add up to its totalRecords",
    advise`Check the service with: ${ecm`doctor`}`,
  );
}

/** Records per request of anything but contacts. */
export const recordsPerPage = 100;

/** Its id; as a whole where it has none. */
export function toRecordIdentity(record: unknown): string {
  return isObject(record) && typeof record._id === "string" ? record._id : JSON.stringify(record);
}

/**
 * Every record of a request that answers in pages: `{ total, records }`, `{ totalRecords, contacts }` or a
 * bare array; and the largest total that any page told. A size of the caller's own is kept; it always begins
 * at the first page.
 * @throws UsageError for a request that writes; UnreadableAnswerError for an answer that is no page
 */
export async function joinPages(
  send: Send,
  request: ApiRequest,
): Promise<{ records: unknown[]; total?: number }> {
  if (request.effect === "write") {
    throw usageError(
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
      size: typeof pageSize === "number" ? pageSize : recordsPerPage,
      of: (page, size) => ({ ...request, rawBody: JSON.stringify({ ...body, page, pageSize: size }) }),
    };
  }
  const [path = "", search = ""] = request.path.split("?");
  const query: [string, string][] = [...new URLSearchParams(search), ...(request.query ?? [])];
  const own = Number(query.find(([name]) => name === "size")?.[1]);
  const further = query.filter(([name]) => name !== "page" && name !== "size");
  return {
    size: Number.isSafeInteger(own) && own > 0 ? own : recordsPerPage,
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
  throw usageError("--paginate: the body of a search is a JSON object");
}

function toPage(body: unknown): Page<unknown> {
  const { contacts: records, totalRecords: total, ...others } = isObject(body) ? body : {};
  const page = findRecords(isObject(body) ? { records, total, ...others } : body);
  if (page) return page;
  throw unreadableAnswerError(
    "--paginate: the answer is not a page of records",
    "Leave out --paginate to see the answer as it comes",
  );
}
