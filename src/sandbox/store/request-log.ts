/** The log of requests in the database: the newest 10,000, numbered without gaps that a clearing could close. */
import type { Database, Value } from "../database.ts";
import type { LoggedRequest } from "../public-types.ts";

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

export interface RequestLog {
  add(entry: RequestEntry): void;
  /** The oldest `limit` of those that match, or the newest, oldest first. */
  find(filter: RequestFilter, limit: number, which: "oldest" | "newest"): LoggedRequest[];
  /** Number of the last request, 0 when there was none. */
  last(): number;
  clear(): void;
}

/** How many are kept. */
export const longestLog = 10_000;
const prunedAtOnce = 100;
// Longer ones are cut: a page of 1,000 contacts is not what a log is read for.
const longestBody = 64 * 1024;
const longestAnswer = 16 * 1024;

interface Row extends Omit<RequestEntry, "headers"> {
  n: number;
  headers: string;
}

export function requestLogIn(database: Database): RequestLog {
  return {
    add(entry) {
      const { lastInsertRowid: n } = database.run(
        `INSERT INTO requests (time, method, path, query, headers, body, status, answer, milliseconds, fault)
          VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        entry.time,
        entry.method,
        entry.path,
        entry.query,
        JSON.stringify(entry.headers),
        cut(entry.body, longestBody),
        entry.status,
        cut(entry.answer, longestAnswer),
        entry.milliseconds,
        entry.fault,
      );
      if (n % prunedAtOnce === 0) database.run("DELETE FROM requests WHERE n <= ?", n - longestLog);
    },
    find(filter, limit, which) {
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
    last: () => database.get<{ n: number }>("SELECT coalesce(max(n), 0) AS n FROM requests")!.n,
    clear() {
      // The number of the last one stays, and nothing else of it: the next follows.
      database.run("UPDATE settings SET cleared_up_to = (SELECT coalesce(max(n), 0) FROM requests)");
      database.run("DELETE FROM requests WHERE n < (SELECT cleared_up_to FROM settings)");
      database.run("UPDATE requests SET path = '', query = '', headers = '{}', body = NULL, answer = NULL");
    },
  };
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
  return text === null || text.length <= longest ? text : `${text.slice(0, longest)}…`;
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
