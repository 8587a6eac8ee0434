/**
 * The log of requests: the newest 10,000, numbered in the order of their answers. They wait in memory and are written many at
 * once: with the next transaction that changes something, when the log of this process is read, or a moment later.
 */
import type { Database } from "../database.ts";
import type { LoggedRequest } from "../public-types.ts";
import type { Participant } from "../transaction-queue.ts";
import { type KeptRequest, waitingRequests } from "./waiting-requests.ts";

/** A request to be logged. Texts are kept up to a length. */
export interface RequestEntry {
  /** The service's time, in milliseconds since the epoch. */
  time: number;
  method: string;
  path: string;
  /** Without the question mark. */
  query: string;
  /** JSON object. */
  headers: string;
  body: string | null;
  /** Null: the connection was dropped before an answer. */
  status: number | null;
  /** JSON. */
  answer: string | null;
  /** From the arrival of the request to the answer. */
  milliseconds: number;
  /** What went wrong on purpose. */
  fault: string | null;
}

export interface RequestFilter {
  /** After the request of this number. */
  after?: number;
  /** At or after this time, in milliseconds since the epoch. */
  since?: number;
  method?: string;
  /** `*` stands for any part of it. */
  path?: string;
  /** `404`, or `4xx` for a class of them. */
  status?: string;
}

export interface RequestLog extends Participant {
  /**
   * Logs a request; the caller is in a transaction of the queue, and the request counts once that is committed.
   * @param isWrite the transaction changes something: then the row is written with it
   */
  add(entry: RequestEntry, isWrite?: boolean): void;
  /** The oldest `limit` of those that match, or the newest, oldest first. */
  find(filter: RequestFilter, limit: number, which: "oldest" | "newest"): LoggedRequest[];
  /** Another one for every folder, and after the log was emptied. */
  id(): string;
  /** Number of the last request, 0 when there was none. */
  last(): number;
  /** The caller is in a transaction. */
  clear(): void;
  /** Writes what waits, where that is possible. */
  close(): void;
}

/** How many are kept. */
export const longestLog = 10_000;
const prunedAtOnce = 500;
/** Other processes of the folder see a read at most so much later. */
export const delayMilliseconds = 50;
const mostWaitingBytes = 32 * 2 ** 20;
const mostBatchesAtOnce = 50;

/** Requests that were written together. */
interface Batch {
  /** Number of the last of them. */
  last: number;
  count: number;
  /** JSON array of the headers that were sent with them, each once. */
  headers: string;
  /** JSON array of `KeptRequest`, the oldest first; null in place of one that was erased. */
  entries: string;
}

const lastNumber = `max((SELECT cleared_up_to FROM settings), (SELECT coalesce(max(last), 0) FROM request_batches))`;

export function requestLogIn(database: Database): RequestLog {
  const waiting = waitingRequests();
  let isWriteUnderWay = false;
  let isWritten = false;
  let sincePruned = prunedAtOnce;
  let timer: NodeJS.Timeout | undefined;

  const last = () => database.get<{ n: number }>(`SELECT ${lastNumber} AS n`)!.n;
  const insert = () => {
    const { lastInsertRowid: end } = database.run(
      `INSERT INTO request_batches (last, count, headers, entries) 
        SELECT ${lastNumber} + ?1, ?1, ?2, CAST(?3 AS TEXT)`,
      waiting.count,
      waiting.headers(),
      waiting.requests(),
    );
    sincePruned += waiting.count;
    if (sincePruned < prunedAtOnce) return;
    database.run("DELETE FROM request_batches WHERE last <= ?", end - longestLog);
    sincePruned = 0;
  };
  const write = () => {
    if (waiting.count === 0) return;
    database.transaction(insert);
    waiting.clear();
  };
  const writeSoon = () => {
    if (waiting.count === 0) return;
    timer ??= setTimeout(() => {
      timer = undefined;
      try {
        write();
      } catch {
        // The disk is full, or another process holds the database: later.
        writeSoon();
      }
    }, delayMilliseconds).unref();
  };
  /** Batches that reach beyond a number, a few at a time, in either order. */
  function* batches(beyond: number, which: "oldest" | "newest"): Generator<Batch> {
    const [condition, order] = which === "oldest" ? ["last > ?2", "last"] : ["last < ?2", "last DESC"];
    let from = which === "oldest" ? beyond : Number.MAX_SAFE_INTEGER;
    for (;;) {
      const some = database.all<Batch>(
        `SELECT * FROM request_batches WHERE last > ?1 AND ${condition} ORDER BY ${order} LIMIT ${mostBatchesAtOnce}`,
        beyond,
        from,
      );
      yield* some;
      if (some.length < mostBatchesAtOnce) return;
      from = some.at(-1)!.last;
    }
  }

  return {
    add(entry, isWrite = false) {
      waiting.add(entry);
      isWriteUnderWay ||= isWrite;
    },
    beforeCommit() {
      isWritten = waiting.count > 0 && (isWriteUnderWay || waiting.bytes > mostWaitingBytes);
      if (isWritten) insert();
    },
    afterwards(isCommitted) {
      if (!isCommitted) waiting.dropUnsettled();
      else if (isWritten) waiting.clear();
      waiting.settle();
      isWriteUnderWay = false;
      isWritten = false;
      writeSoon();
    },
    find(filter, limit, which) {
      write();
      const { cleared_up_to: cleared } = database.get<{ cleared_up_to: number }>(
        "SELECT cleared_up_to FROM settings",
      )!;
      const beyond = Math.max(cleared, filter.after ?? 0, last() - longestLog);
      const matches = matcherOf(filter);
      const found: LoggedRequest[] = [];
      for (const batch of batches(beyond, which)) {
        const requests = requestsIn(batch).filter((each) => each.n > beyond && matches(each));
        if (which === "newest") requests.reverse();
        found.push(...requests.slice(0, limit - found.length).map(read));
        if (found.length === limit) break;
      }
      return which === "newest" ? found.reverse() : found;
    },
    id: () => database.get<{ log_id: string }>("SELECT log_id FROM settings")!.log_id,
    last() {
      write();
      return last();
    },
    clear() {
      database.run(
        "UPDATE settings SET log_id = lower(hex(randomblob(8))), cleared_up_to = ?",
        last() + waiting.count,
      );
      database.run("DELETE FROM request_batches");
      waiting.clear();
    },
    close() {
      clearTimeout(timer);
      try {
        write();
      } catch {
        // The disk is full, or another process holds the database: rows of reads are lost, as when the process is killed.
      }
    },
  };
}

/** A request with its number, and its headers. */
interface NumberedRequest {
  n: number;
  headers: LoggedRequest["headers"];
  request: KeptRequest;
}

/** What was erased has left its number behind. */
function requestsIn({ last, count, headers, entries }: Batch): NumberedRequest[] {
  const allHeaders: LoggedRequest["headers"][] = JSON.parse(headers);
  const requests: (KeptRequest | null)[] = JSON.parse(entries);
  return requests.flatMap((request, index) =>
    request ? [{ n: last - count + 1 + index, headers: allHeaders[request[0][4]]!, request }] : [],
  );
}

function matcherOf({
  since = 0,
  method,
  path,
  status,
}: RequestFilter): (numbered: NumberedRequest) => boolean {
  const statuses = status && new RegExp(`^${status.replaceAll("x", ".")}$`);
  return ({ request: [[time, itsMethod, itsPath, , , , itsStatus]] }) =>
    time >= since &&
    (method === undefined || itsMethod === method.toUpperCase()) &&
    (path === undefined || isLike(itsPath, path)) &&
    (!statuses || (itsStatus !== null && statuses.test(String(itsStatus))));
}

/** Whether a text is what a pattern says, whose `*` stand for any part of it. */
function isLike(text: string, pattern: string): boolean {
  const [first, ...others] = pattern.split("*") as [string, ...string[]];
  const end = others.pop();
  if (end === undefined) return text === pattern;
  if (!text.startsWith(first)) return false;
  let from = first.length;
  for (const part of others) {
    const at = text.indexOf(part, from);
    if (at === -1) return false;
    from = at + part.length;
  }
  return text.length - end.length >= from && text.endsWith(end);
}

function read({ n, headers, request }: NumberedRequest): LoggedRequest {
  const [[time, method, path, query, , body, status, milliseconds, fault], answer] = request;
  return {
    n,
    time: new Date(time).toISOString(),
    method,
    path,
    query: queryOf(query),
    headers,
    body: parsed(body),
    status,
    answer,
    milliseconds,
    fault,
  };
}

function queryOf(text: string): LoggedRequest["query"] {
  const query: LoggedRequest["query"] = {};
  const parameters = new URLSearchParams(text);
  for (const name of new Set(parameters.keys())) {
    const values = parameters.getAll(name);
    const value = values.length === 1 ? values[0]! : values;
    Object.defineProperty(query, name, { value, enumerable: true });
  }
  return query;
}

// What writes JSON again is recursive: deeper nesting would use up the stack.
const mostLevels = 100;

function parsed(text: string | null): unknown {
  if (text === null) return null;
  try {
    const value: unknown = JSON.parse(text);
    return isNestedBeyond(mostLevels, value) ? text : value;
  } catch {
    return text;
  }
}

function isNestedBeyond(levels: number, value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((each) => isNestedBeyond(levels - 1, each));
}
