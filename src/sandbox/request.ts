/**
 * Requests and answers of the API as both transports hand them over, and bodies as JSON. The classes Request
 * and Response are not used: they cost more than the rules.
 */
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { invalid, type Refusal } from "./rules/refusal.ts";

export interface ReceivedRequest {
  method: string;
  /** Path and query, written as in a URL. */
  target: string;
  /** Names are in lower case. */
  headers: IncomingHttpHeaders;
  /** The IP address of its sender. */
  address: string;
  readBody(): Promise<Body>;
  /** The path below which the account is served; absent: it is served at the root. */
  root?: string;
  /** The fault that is simulated, for the log. */
  fault?: string;
  /** When the request arrived, by the clock of `performance`. */
  arrivedAt?: number;
}

export interface Answer {
  status: number;
  /** Without Content-Type, which is `contentType` where there is a body. */
  headers: Record<string, string>;
  /** JSON; empty: an answer without a body. */
  text: string;
}

/** An answer before it is written as JSON. */
export interface Result {
  status: number;
  /** undefined: none. */
  body: unknown;
  headers: Record<string, string>;
}

export const contentType = "application/json; charset=utf-8";

/** Writes the body as JSON. */
export function toAnswer({ status, body, headers }: Result): Answer {
  return { status, headers, text: status === 204 || body === undefined ? "" : JSON.stringify(body) };
}

/** The answer to a refused request. @param more headers besides the refusal's own */
export function refusalAnswer({ status, error, headers }: Refusal, more?: Record<string, string>): Answer {
  return toAnswer({ status, body: { errors: [error] }, headers: { ...more, ...headers } });
}

/** The answer to a request that the sandbox itself failed on. */
export function failure(error: Error): Answer {
  const message = `The sandbox failed, and changed nothing: ${error.message}`;
  return toAnswer({ status: 500, body: { errors: [{ errorType: "InternalError", message }] }, headers: {} });
}

/**
 * The address at which the sender of a request reaches the sandbox: that of its header `Host`, where it is
 * valid.
 */
export function findServerUrl(host: string | undefined, root = ""): string {
  const isHost = host !== undefined && /^[\w.-]+(:\d+)?$|^\[[\da-f:]+\](:\d+)?$/i.test(host);
  return `${isHost ? `http://${host}` : ""}${root}`;
}

/** The path of a target, as it was sent. */
export function targetPath(target: string): string {
  const end = target.indexOf("?");
  return end === -1 ? target : target.slice(0, end);
}

/** The answer as a Response. */
export function toResponse({ status, headers, text }: Answer): Response {
  if (text === "") return new Response(null, { status, headers });
  return new Response(text, { status, headers: { ...headers, "Content-Type": contentType } });
}

const maxBodyBytes = 2 ** 20;
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** A body, or why it could not be read; the reason is answered only after the key has been checked. */
export type Body = { bytes: Uint8Array } | { tooLarge: true } | { cut: true };

/** Reads to the end, so that a sender that is still sending receives the answer. Keeps at most `maxBytes`. */
export function readMessage(message: IncomingMessage, maxBytes = maxBodyBytes): Promise<Body> {
  return new Promise((resolve) => {
    if (message.destroyed) return resolve({ cut: true });
    const chunks: Uint8Array[] = [];
    let length = 0;
    message.on("data", (chunk: Uint8Array) => {
      length += chunk.length;
      if (length <= maxBytes) chunks.push(chunk);
    });
    message.once("end", () => {
      const bytes = () => (chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks));
      resolve(length <= maxBytes ? { bytes: bytes() } : { tooLarge: true });
    });
    message.once("error", () => resolve({ cut: true }));
    message.once("close", () => resolve({ cut: true }));
  });
}

/** A body that was received already. */
export function limitBody(bytes: Uint8Array, maxBytes = maxBodyBytes): Body {
  return bytes.length <= maxBytes ? { bytes } : { tooLarge: true };
}

/** @throws Refusal when it is not JSON in UTF-8, sent as JSON */
export function parseJsonBody(body: Body, contentType: string | undefined): unknown {
  if (!/^application\/json\s*(;\s*charset\s*=\s*"?utf-?8"?\s*)?$/i.test(contentType ?? "")) {
    throw invalid("The body must be sent as application/json");
  }
  return parseJsonBytes(body, "1 MiB");
}

/** @param ifEmpty the JSON of an empty body. @throws Refusal when it is not JSON in UTF-8 */
export function parseJsonBytes(body: Body, maxSize: string, ifEmpty = ""): unknown {
  if ("tooLarge" in body) throw invalid(`The body must not be larger than ${maxSize}`);
  if ("cut" in body) throw invalid("The body ended too early");
  try {
    return JSON.parse(decoder.decode(body.bytes) || ifEmpty);
  } catch {
    throw invalid("The body is not JSON");
  }
}
