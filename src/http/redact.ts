/**
 * The API key kept out of everything that `send` returns or emits: answers, events, messages, causes. Pure.
 */
import { parseJson } from "../json.ts";
import type { ApiRequest, TransportFailure, WireAnswer } from "../wire.ts";

const replacement = "[redacted]";
/** Shorter texts are no keys, and would occur in other words. */
const minKeyLength = 8;

export type Redact = (text: string) => string;

/** Takes the key out of a text, as it is and in the spellings that JSON, an address or Base64 give it. */
export function createRedact(key: string): Redact {
  if (key.length < minKeyLength) return (text) => text;
  const spellings = new Set([
    key,
    JSON.stringify(key).slice(1, -1),
    encodeURIComponent(key),
    Buffer.from(key).toString("base64"),
    Buffer.from(key).toString("base64url"),
  ]);
  // The longest first, so that none leaves a part of another behind.
  const ordered = [...spellings].sort((one, other) => other.length - one.length);
  return (text) => {
    let clean = text;
    for (const spelling of ordered)
      if (clean.includes(spelling)) clean = clean.replaceAll(spelling, replacement);
    return clean;
  };
}

/**
 * Takes the key out of every text in a JSON value, names included. A value without the key is returned as it
 * is.
 */
function redactValue(value: unknown, redact: Redact): unknown {
  if (typeof value === "string") return redact(value);
  if (typeof value === "number") return redact(String(value)) === String(value) ? value : replacement;
  if (Array.isArray(value)) return value.map((each) => redactValue(each, redact));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [redact(name), redactValue(each, redact)]),
  );
}

/** Takes the key out of a body: what was JSON stays JSON. */
export function redactBody(text: string, redact: Redact): string {
  const clean = redact(text);
  if (clean === text) return text;
  const value = parseJson(text);
  return value === undefined ? clean : JSON.stringify(redactValue(value, redact));
}

/** @param body as it is sent: written out once, since bulk runs come by here for every contact */
export function redactRequest(request: ApiRequest, body: string | undefined, redact: Redact): ApiRequest {
  const { method, path, query } = request;
  const parts = [method, path, JSON.stringify(query) ?? "", body ?? ""];
  const isClean = parts.every((part) => redact(part) === part);
  return isClean ? request : (redactValue(request, redact) as ApiRequest);
}

export function redactAnswer(answer: WireAnswer, redact: Redact): WireAnswer {
  const text = redactBody(answer.text, redact);
  return {
    status: answer.status,
    headers: redactHeaders(answer.headers, redact),
    text,
    bytes: text === answer.text ? answer.bytes : undefined,
  };
}

/** Looked at as one text: hardly any answer repeats the key, and bulk runs come by here for every contact. */
function redactHeaders(headers: Record<string, string>, redact: Redact): Record<string, string> {
  let joined = "";
  for (const name in headers) joined += `${name}\n${headers[name]}\n`;
  return redact(joined) === joined ? headers : (redactValue(headers, redact) as Record<string, string>);
}

/**
 * Makes a new failure: the given one may carry the request, and with it the key, in unknown members.
 */
export function redactFailure(failure: TransportFailure, redact: Redact): TransportFailure {
  const { code, wasSent, partial, isProxied } = failure;
  const clean: TransportFailure = new Error(redact(String(failure.message)));
  return Object.assign(clean, {
    code: typeof code === "string" ? redact(code) : undefined,
    wasSent,
    isProxied,
    partial: partial && redactAnswer(partial, redact),
  });
}
