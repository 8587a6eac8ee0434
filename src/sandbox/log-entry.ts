/** A request as the log keeps it: with its key masked, wherever it stands. */
import { type ApiRequest, pathOf } from "./request.ts";
import type { RequestEntry } from "./store/request-log.ts";

/** What the log is told of an exchange. */
export interface Exchange {
  request: ApiRequest;
  /** As it came, where it was read. */
  body: Uint8Array | undefined;
  /** Null: the connection was dropped before an answer. */
  status: number | null;
  answer: string | null;
  /** The service's time, in milliseconds since the epoch. */
  now: number;
}

const decoder = new TextDecoder();
const secretHeaders = ["x-api-key", "authorization", "cookie"];

export function entryOf({ request, body, status, answer, now }: Exchange): RequestEntry {
  const { target, fault, arrivedAt } = request;
  const { json: headers, secrets } = shownHeaders(request.headers);
  const safe = (text: string) =>
    storable(withoutKeys(secrets.reduce((all, secret) => all.replaceAll(secret, masked), text)));
  const path = pathOf(target);
  const query = target.slice(path.length + 1);
  return {
    time: now,
    method: request.method,
    path: safe(path),
    query: query && safe(query),
    headers,
    body: body && body.length > 0 ? safe(decoder.decode(body)) : null,
    status,
    answer: answer === "" || answer === null ? null : withoutKeys(answer),
    milliseconds: arrivedAt === undefined ? 0 : Math.round((performance.now() - arrivedAt) * 100) / 100,
    fault: fault ?? null,
  };
}

type RequestHeaders = ApiRequest["headers"];

interface ShownHeaders {
  given: RequestHeaders;
  json: string;
  /** What is masked in them, and in all other texts. */
  secrets: string[];
}

// Of one caller they are the same again and again.
let latest: ShownHeaders = { given: {}, json: "{}", secrets: [] };

function shownHeaders(given: RequestHeaders): ShownHeaders {
  if (areSame(given, latest.given)) return latest;
  const headers = { ...given };
  const secrets: string[] = [];
  for (const name of secretHeaders) {
    const value = headers[name];
    if (typeof value !== "string") continue;
    headers[name] = masked(value);
    if (value.length >= shortestSecret) secrets.push(value);
  }
  latest = { given, json: JSON.stringify(headers), secrets };
  return latest;
}

/** In the same order too. */
function areSame(one: RequestHeaders, other: RequestHeaders): boolean {
  const names = Object.keys(one);
  const otherNames = Object.keys(other);
  return (
    names.length === otherNames.length &&
    names.every((name, index) => name === otherNames[index] && one[name] === other[name])
  );
}

const shortestSecret = 20;

/** Masks what looks like a key of this service, wherever it was written. In JSON it can stand in a string only. */
function withoutKeys(text: string): string {
  return text.includes("ecm_") ? text.replace(/ecm_[a-z]{2}_[A-Za-z0-9]{43}/g, masked) : text;
}

/** The ends of a key tell people which one it is. */
function masked(secret: string): string {
  return secret.length < shortestSecret ? "…" : `${secret.slice(0, 7)}…${secret.slice(-4)}`;
}

/** The database reads a text up to its first NUL. */
function storable(text: string): string {
  return text.replaceAll("\0", "\ufffd");
}
