/** The door for this process: the application answers without a network. */
import type { Transport } from "../../wire.ts";
import type { App } from "../app.ts";

// What a Request of the web cannot be made with. The service has no such methods either.
const unsendable = new Set(["CONNECT", "TRACE", "TRACK"]);

export function insideDoor(app: App): Transport {
  return async ({ method, url, headers, body, signal }) => {
    signal?.throwIfAborted();
    const hasBody = body !== undefined && method !== "GET" && method !== "HEAD";
    const request = new Request(url, {
      method: unsendable.has(method.toUpperCase()) ? `X-${method}` : method,
      headers,
      body: hasBody ? body : undefined,
    });
    const response = await app.fetch(request, { address: "in-process" });
    return {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      text: await response.text(),
    };
  };
}
