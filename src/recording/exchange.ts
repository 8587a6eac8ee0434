/** A request and its answer as a recording keeps them: what the service did, and nothing of whose it was. Pure. */
import type { Pseudonyms } from "./pseudonyms.ts";
import {
  flagMembers,
  headerWords,
  isKeptQueryValue,
  isKeptText,
  isQueryName,
  limitHeaders,
  memberWords,
  methodWords,
  numberMembers,
  pathWords,
  timeMembers,
} from "./vocabulary.ts";

/** As it went over the network, below the base address. */
export interface Exchange {
  method: string;
  /** Path and query. */
  target: string;
  body?: string;
  /** Absent: there was none. */
  answer?: { status: number; headers: Record<string, string>; text: string };
  /** The body of the answer went elsewhere, and was not seen. */
  isStreamed?: boolean;
}

export interface RecordedExchange {
  method: string;
  path: string;
  query?: [name: string, value: string][];
  /** Absent: none was sent. */
  body?: unknown;
  /** Null: the connection broke off before there was one. */
  status: number | null;
  /** Names in lower case; the numbers of limits, null for all others. */
  headers?: Record<string, number | null>;
  /** Absent: an answer without a body. */
  answer?: unknown;
  /** In place of a body or an answer that is no JSON, or was not seen. */
  notJson?: ("body" | "answer")[];
}

/** Stands for every time. */
const someTime = "2020-01-01T00:00:00.000Z";
/** Nothing of the service nests deeper. */
const maxDepth = 32;

export function describeExchange(exchange: Exchange, pseudonyms: Pseudonyms): RecordedExchange {
  const { method, target, body, answer, isStreamed } = exchange;
  const queryStart = target.indexOf("?");
  const path = queryStart === -1 ? target : target.slice(0, queryStart);
  const query = queryStart === -1 ? [] : [...new URLSearchParams(target.slice(queryStart + 1))];
  const sent = describeJson(body, pseudonyms);
  const received = isStreamed ? "not JSON" : describeJson(answer?.text, pseudonyms);
  const notJson = [
    ...(sent === "not JSON" ? (["body"] as const) : []),
    ...(received === "not JSON" ? (["answer"] as const) : []),
  ];
  return {
    method: methodWords.has(method) ? method : "OTHER",
    path: describePath(path, pseudonyms),
    ...(query.length > 0 && {
      query: query.map(([name, value]) => describeParameter(name, value, pseudonyms)),
    }),
    ...(typeof sent === "object" && { body: sent.value }),
    status: answer?.status ?? null,
    ...(answer && { headers: describeHeaders(answer.headers) }),
    ...(typeof received === "object" && { answer: received.value }),
    ...(notJson.length > 0 && { notJson }),
  };
}

/** Undefined for no text. */
function describeJson(
  text: string | undefined,
  pseudonyms: Pseudonyms,
): { value: unknown } | "not JSON" | undefined {
  if (text === undefined || text === "") return undefined;
  try {
    return { value: describeValue(JSON.parse(text), "", pseudonyms) };
  } catch {
    return "not JSON";
  }
}

/** @param member the name of the nearest member around it */
function describeValue(value: unknown, member: string, pseudonyms: Pseudonyms, depth = 0): unknown {
  if (depth > maxDepth) return null;
  if (typeof value === "string") return describeText(value, member, pseudonyms);
  if (typeof value === "number") return numberMembers.has(member) && isCount(value) ? value : 0;
  if (typeof value === "boolean") return flagMembers.has(member) && value;
  if (Array.isArray(value)) return value.map((each) => describeValue(each, member, pseudonyms, depth + 1));
  if (typeof value !== "object" || value === null) return null;
  const isByStatus = (value as { columnToFilter?: unknown }).columnToFilter === "CONTACT_STATUS";
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => {
      const inner = name === "values" && isByStatus ? "contactStatus" : name;
      const shown = memberWords.has(name) ? name : pseudonyms.name(name);
      return [shown, describeValue(each, inner, pseudonyms, depth + 1)];
    }),
  );
}

/** A greater number counts nothing: it is a telephone number, say, that was put there. */
function isCount(value: number): boolean {
  return Number.isInteger(value) && value >= 0 && value < 1e9;
}

function describeText(text: string, member: string, pseudonyms: Pseudonyms): string {
  if (isKeptText(text, member)) return text;
  // What an error says may repeat anything that was sent.
  if (member === "message") return text === "" ? "" : "…";
  if (timeMembers.has(member) && /^\d{4}-\d\d-\d\d/.test(text)) return someTime;
  return pseudonyms.text(text);
}

function describePath(path: string, pseudonyms: Pseudonyms): string {
  return path
    .split("/")
    .map((segment) => {
      if (segment === "" || pathWords.has(segment)) return segment;
      return encodeURIComponent(pseudonyms.text(decode(segment)));
    })
    .join("/");
}

function describeParameter(name: string, value: string, pseudonyms: Pseudonyms): [string, string] {
  if (!isQueryName(name)) return [pseudonyms.name(name), pseudonyms.text(value)];
  return [name, isKeptQueryValue(name, value) ? value : pseudonyms.text(value)];
}

function describeHeaders(headers: Record<string, string>): Record<string, number | null> {
  const names = Object.keys(headers).filter((name) => headerWords.has(name));
  return Object.fromEntries(
    names.sort().map((name) => {
      const isLimit = limitHeaders.includes(name) && /^\d{1,12}$/.test(headers[name]!);
      return [name, isLimit ? Number(headers[name]) : null];
    }),
  );
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
