/** Bodies of requests: read whole, up to 1 MiB, and parsed as JSON. */
import type { IncomingMessage } from "node:http";
import { invalid } from "./rules/refusal.ts";

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
  if ("tooLarge" in body) throw invalid("The body must not be larger than 1 MiB");
  if ("cut" in body) throw invalid("The body ended too early");
  try {
    return JSON.parse(decoder.decode(body.bytes));
  } catch {
    throw invalid("The body is not JSON");
  }
}
