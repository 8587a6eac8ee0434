/** A request as the log keeps it: with every API key in it masked. */
import { type ReceivedRequest, targetPath } from "./request.ts";
import type { LogEntry } from "./store/request-log.ts";

/** A request and its answer. */
export interface LoggedExchange {
  request: ReceivedRequest;
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

export function createLogEntry({ request, body, status, answer, now }: LoggedExchange): LogEntry {
  const { target, fault, arrivedAt } = request;
  const { headers, secrets } = maskHeaders(request.headers);
  const safe = (text: string) =>
    storable(maskKeys(secrets.reduce((all, secret) => all.replaceAll(secret, mask), text)));
  const path = targetPath(target);
  const query = target.slice(path.length + 1);
  return {
    time: now,
    method: request.method,
    path: safe(path),
    query: query && safe(query),
    headers: JSON.stringify(headers),
    body: body && body.length > 0 ? safe(decoder.decode(body)) : null,
    status,
    answer: answer === "" || answer === null ? null : maskKeys(answer),
    milliseconds: arrivedAt === undefined ? 0 : Math.round((performance.now() - arrivedAt) * 100) / 100,
    fault: fault ?? null,
  };
}

/**
 * The headers with their secrets masked, and the secrets that are long enough to be looked for in other
 * texts.
 */
function maskHeaders(given: ReceivedRequest["headers"]): {
  headers: ReceivedRequest["headers"];
  secrets: string[];
} {
  const headers = { ...given };
  const secrets: string[] = [];
  for (const name of secretHeaders) {
    const value = headers[name];
    if (typeof value !== "string") continue;
    headers[name] = mask(value);
    if (value.length >= minSecretLength) secrets.push(value);
  }
  return { headers, secrets };
}

const minSecretLength = 20;

/** Masks whatever looks like a key of this service. In JSON it can stand in a string only. */
function maskKeys(text: string): string {
  return text.includes("ecm_") ? text.replace(/ecm_[a-z]{2}_[A-Za-z0-9]{43}/g, mask) : text;
}

/** The ends of a key tell people which one it is. */
function mask(secret: string): string {
  return secret.length < minSecretLength ? "…" : `${secret.slice(0, 7)}…${secret.slice(-4)}`;
}

/** The database reads a text up to its first NUL. */
function storable(text: string): string {
  return text.replaceAll("\0", "\ufffd");
}
