/**
 * The log of requests: the newest 10,000, numbered in the order of their answers. A request is logged in the
 * transaction that answers it.
 */
import { parseJson } from "../../json.ts";
import { Tables, type Value } from "../database.ts";
import type { LoggedRequest } from "../public-types.ts";

/** A request to be logged. Long texts are cut. */
export interface LogEntry {
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
  /** The fault that was simulated. */
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

type RequestRow = LogEntry & { n: number };

/** How many requests are kept. */
export const maxLoggedRequests = 10_000;
const pruneInterval = 500;
// Longer texts are cut: a page of 1,000 contacts is not what a log is read for.
const maxBodyLength = 64 * 1024;
const maxAnswerLength = 16 * 1024;
/** A longer answer keeps only its beginning: once cut it cannot be parsed, only looked at. */
const cutAnswerLength = 1024;

export class RequestLog extends Tables {
  /** Logs a request; the caller is in a transaction. */
  add(entry: LogEntry): void {
    const isLong = entry.answer !== null && entry.answer.length > maxAnswerLength;
    const answer = isLong ? cut(entry.answer, cutAnswerLength) : entry.answer;
    const row = { ...entry, body: cut(entry.body, maxBodyLength), answer };
    const { lastInsertRowid: n } = this.database.run(
      `INSERT INTO requests (${Object.keys(row).join(", ")}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      ...Object.values(row),
    );
    if (n % pruneInterval === 0) {
      this.database.run("DELETE FROM requests WHERE n <= ?", n - maxLoggedRequests);
    }
  }

  /** The oldest `limit` of those that match, or the newest; in either case the oldest first. */
  find(filter: RequestFilter, limit: number, which: "oldest" | "newest"): LoggedRequest[] {
    const [where, values] = whereClause(filter, this.last() - maxLoggedRequests);
    const rows = this.database.all<RequestRow>(
      `SELECT * FROM requests WHERE ${where} ORDER BY n ${which === "newest" ? "DESC" : "ASC"} LIMIT ?`,
      ...values,
      limit,
    );
    if (which === "newest") rows.reverse();
    return rows.map(toLoggedRequest);
  }

  /** Number of the last request, 0 when there was none. */
  last(): number {
    return this.database.get<{ seq: number }>("SELECT seq FROM sqlite_sequence WHERE name = 'requests'")!.seq;
  }

  /** The caller is in a transaction. */
  clear(): void {
    this.database.run("DELETE FROM requests");
  }
}

/** @param pruned number up to which requests are not kept */
function whereClause(
  { after = 0, since, method, path, status }: RequestFilter,
  pruned: number,
): [sql: string, values: Value[]] {
  const conditions: [sql: string, value: Value | undefined][] = [
    ["n > ?", Math.max(after, pruned)],
    ["time >= ?", since],
    ["method = ?", method?.toUpperCase()],
    // A filter knows the asterisk alone, of the characters that mean something to GLOB.
    ["path GLOB ?", path?.replace(/[?[]/g, "[$&]")],
    ["status >= ?", status && Number(status.replace(/x/gi, "0"))],
    ["status <= ?", status && Number(status.replace(/x/gi, "9"))],
  ];
  const given = conditions.filter(([, value]) => value !== undefined);
  return [given.map(([sql]) => sql).join(" AND "), given.map(([, value]) => value!)];
}

function toLoggedRequest({ n, time, query, headers, body, answer, ...row }: RequestRow): LoggedRequest {
  return {
    n,
    time: new Date(time).toISOString(),
    method: row.method,
    path: row.path,
    query: parseQuery(query),
    headers: JSON.parse(headers),
    body: parseText(body),
    status: row.status,
    answer: parseText(answer),
    milliseconds: row.milliseconds,
    fault: row.fault,
  };
}

function parseQuery(text: string): LoggedRequest["query"] {
  const query: LoggedRequest["query"] = {};
  const parameters = new URLSearchParams(text);
  for (const name of new Set(parameters.keys())) {
    const values = parameters.getAll(name);
    const value = values.length === 1 ? values[0]! : values;
    // A plain assignment would lose a parameter that is called __proto__.
    Object.defineProperty(query, name, { value, enumerable: true });
  }
  return query;
}

// What writes JSON again is recursive: deeper nesting would use up the stack.
const maxDepth = 100;

/** The value where the text is JSON, else the text. */
function parseText(text: string | null): unknown {
  if (text === null) return null;
  const value = parseJson(text);
  return value === undefined || isDeeperThan(maxDepth, value) ? text : value;
}

function isDeeperThan(depth: number, value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return depth === 0 || Object.values(value).some((each) => isDeeperThan(depth - 1, each));
}

function cut(text: string | null, maxLength: number): string | null {
  if (text === null || text.length <= maxLength) return text;
  return `${text.slice(0, maxLength)}…`;
}
