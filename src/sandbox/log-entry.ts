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
  const headers: Record<string, unknown> = { ...request.headers };
  const secrets: string[] = [];
  for (const name of secretHeaders) {
    const value = headers[name];
    if (typeof value !== "string") continue;
    headers[name] = masked(value);
    if (value.length >= shortestSecret) secrets.push(value);
  }
  const safe = (text: string) => secrets.reduce((before, secret) => before.replaceAll(secret, masked), text);
  const path = pathOf(target);
  return {
    time: now,
    method: request.method,
    path: storable(safe(path)),
    query: storable(safe(target.slice(path.length + 1))),
    headers,
    body: body && body.length > 0 ? storable(safe(decoder.decode(body))) : null,
    status,
    answer: answer === "" ? null : answer,
    milliseconds: arrivedAt === undefined ? 0 : Math.round((performance.now() - arrivedAt) * 100) / 100,
    fault: fault ?? null,
  };
}

const shortestSecret = 20;

/** The ends of a key tell people which one it is. */
function masked(secret: string): string {
  return secret.length < shortestSecret ? "…" : `${secret.slice(0, 7)}…${secret.slice(-4)}`;
}

/** The database reads a text up to its first NUL. */
function storable(text: string): string {
  return text.replaceAll("\0", "\ufffd");
}
