/**
 * The log of requests: the newest 10,000, numbered in the order of their answers. A row costs as much as the rest of a read,
 * so rows wait in memory: they are written with the next transaction that changes something, when the log of this process is
 * read, or a moment later; and never more in a second than can be written beside the requests.
 */
import type { Database, Value } from "../database.ts";
import type { LoggedRequest } from "../public-types.ts";
import type { Participant } from "../transaction-queue.ts";

/** A request as it is logged. Texts are kept as they came, up to a length. */
export interface RequestEntry {
  /** The service's time, in milliseconds since the epoch. */
  time: number;
  method: string;
  path: string;
  /** Without the question mark. */
  query: string;
  headers: Record<string, unknown>;
  body: string | null;
  /** Null: the connection was dropped before an answer. */
  status: number | null;
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
  /** Number of the last request, 0 when there was none. */
  last(): number;
  /** The caller is in a transaction. */
  clear(): void;
  /** Writes what waits, where that is possible. */
  close(): void;
}

/** How many are kept. */
export const longestLog = 10_000;
const prunedAtOnce = 100;
/** Other processes of the folder see a read at most so much later, as long as fewer than 2,000 requests a second are answered. */
export const delayMilliseconds = 50;
// At that pace, writing the log takes less than a tenth of the time. What comes faster waits, and of more than the log holds
// the oldest rows are never written.
const mostPerDelay = 100;
/** What waits now is written, or never will be, after so long. */
export const longestWaitMilliseconds = (longestLog / mostPerDelay) * delayMilliseconds;
const mostWaitingCharacters = 32 * 2 ** 20;
// Longer ones are cut: a page of 1,000 contacts is not what a log is read for.
const longestBody = 64 * 1024;
const longestAnswer = 16 * 1024;

interface WaitingRow extends Omit<RequestEntry, "headers"> {
  headers: string;
}

interface Row extends WaitingRow {
  n: number;
}

export function requestLogIn(database: Database): RequestLog {
  const waiting: WaitingRow[] = [];
  // Of one caller they are the same again and again: one text for all of them is not copied by the garbage collector.
  let lastHeaders = "";
  let waitingCharacters = 0;
  /** How many of those that wait belong to no transaction under way. */
  let answered = 0;
  let isWriteUnderWay = false;
  /** How many rows the transaction under way writes. */
  let inserted = 0;
  let pace = { since: 0, rows: 0 };
  /** How many requests were passed over since the last row: their numbers are not given. */
  let passedOver = 0;
  let timer: NodeJS.Timeout | undefined;

  const insert = (entries: WaitingRow[]) => {
    const next = passedOver > 0 ? lastIn(database) + passedOver + 1 : null;
    for (const [index, entry] of entries.entries()) {
      const { lastInsertRowid: n } = database.run(
        `INSERT INTO requests (n, time, method, path, query, headers, body, status, answer, milliseconds, fault)
          VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        index === 0 ? next : null,
        entry.time,
        entry.method,
        entry.path,
        entry.query,
        entry.headers,
        entry.body,
        entry.status,
        entry.answer,
        entry.milliseconds,
        entry.fault,
      );
      if (n % prunedAtOnce === 0) database.run("DELETE FROM requests WHERE n <= ?", n - longestLog);
    }
  };
  /** How many more rows may be written now. */
  const allowance = (now = performance.now()) => {
    if (now - pace.since >= delayMilliseconds) pace = { since: now, rows: 0 };
    return mostPerDelay - pace.rows;
  };
  const forget = (count: number) => {
    for (const entry of waiting.splice(0, count)) waitingCharacters -= lengthOf(entry);
    answered = waiting.length;
  };
  const write = (most = waiting.length) => {
    if (waiting.length === 0) return;
    const entries = waiting.slice(0, most);
    database.transaction(() => insert(entries));
    passedOver = 0;
    pace.rows += entries.length;
    forget(entries.length);
  };
  const writeSome = () => {
    timer = undefined;
    try {
      write(allowance());
    } catch {
      // The disk is full, or another process holds the database: later.
    }
    writeSoon();
  };
  const writeSoon = () => {
    if (waiting.length > 0) timer ??= setTimeout(writeSome, delayMilliseconds);
  };

  return {
    add(entry, isWrite = false) {
      const headers = JSON.stringify(entry.headers);
      if (headers !== lastHeaders) lastHeaders = headers;
      const row = {
        ...entry,
        headers: lastHeaders,
        body: cut(entry.body, longestBody),
        answer: cut(entry.answer, longestAnswer),
      };
      waiting.push(row);
      waitingCharacters += lengthOf(row);
      isWriteUnderWay ||= isWrite;
    },
    beforeCommit() {
      const isTooMuch = waitingCharacters > mostWaitingCharacters;
      inserted = isTooMuch ? waiting.length : isWriteUnderWay ? Math.min(waiting.length, allowance()) : 0;
      if (inserted > 0) insert(waiting.slice(0, inserted));
    },
    afterwards(isCommitted) {
      if (!isCommitted) {
        for (const entry of waiting.splice(answered)) waitingCharacters -= lengthOf(entry);
      } else if (inserted > 0) {
        passedOver = 0;
        pace.rows += inserted;
        forget(inserted);
      }
      isWriteUnderWay = false;
      inserted = 0;
      const excess = waiting.length - longestLog;
      if (excess > 0) {
        passedOver += excess;
        forget(excess);
      }
      answered = waiting.length;
      writeSoon();
    },
    find(filter, limit, which) {
      write();
      const [where, values] = conditionOf(filter);
      const newest = which === "newest";
      const rows = database.all<Row>(
        `SELECT * FROM requests WHERE n > (SELECT cleared_up_to FROM settings)
          AND n > (SELECT coalesce(max(n), 0) FROM requests) - ${longestLog}${where}
          ORDER BY n ${newest ? "DESC" : ""} LIMIT ?`,
        ...values,
        limit,
      );
      return (newest ? rows.reverse() : rows).map(read);
    },
    last() {
      write();
      return lastIn(database);
    },
    clear() {
      passedOver += waiting.length;
      forget(waiting.length);
      // The number of the last one stays, and nothing else of it: the next follows.
      database.run("UPDATE settings SET cleared_up_to = (SELECT coalesce(max(n), 0) FROM requests)");
      database.run("DELETE FROM requests WHERE n < (SELECT cleared_up_to FROM settings)");
      database.run("UPDATE requests SET path = '', query = '', headers = '{}', body = NULL, answer = NULL");
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

function lastIn(database: Database): number {
  return database.get<{ n: number }>("SELECT coalesce(max(n), 0) AS n FROM requests")!.n;
}

function lengthOf({ path, query, body, answer }: WaitingRow): number {
  return path.length + query.length + (body?.length ?? 0) + (answer?.length ?? 0);
}

function conditionOf({ after, since, method, path, status }: RequestFilter): [sql: string, values: Value[]] {
  const conditions: [sql: string, value: Value | undefined][] = [
    [" AND n > ?", after],
    [" AND time >= ?", since],
    [" AND method = ?", method?.toUpperCase()],
    // In a pattern of GLOB only * is special here.
    [" AND path GLOB ?", path?.replace(/[?[]/g, "[$&]")],
    [" AND CAST(status AS TEXT) LIKE ?", status?.replaceAll("x", "_")],
  ];
  const given = conditions.filter(([, value]) => value !== undefined);
  return [given.map(([sql]) => sql).join(""), given.map(([, value]) => value!)];
}

function cut(text: string | null, longest: number): string | null {
  if (text === null || text.length <= longest) return text;
  // Copied: a part of a text would keep the whole of it in memory.
  return `${Buffer.from(text.slice(0, longest)).toString()}…`;
}

function read({ n, time, query, headers, body, answer, ...rest }: Row): LoggedRequest {
  return {
    n,
    time: new Date(time).toISOString(),
    method: rest.method,
    path: rest.path,
    query: queryOf(query),
    headers: JSON.parse(headers),
    body: parsed(body),
    status: rest.status,
    answer: parsed(answer),
    milliseconds: rest.milliseconds,
    fault: rest.fault,
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

function parsed(text: string | null): unknown {
  if (text === null) return null;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
