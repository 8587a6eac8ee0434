/** The door for this process: the application answers without a network. */
import type { Transport } from "../../wire.ts";
import type { Outcome, Service } from "../service.ts";

// What a Request of the web cannot be made with. The service has no such methods either.
const unsendable = new Set(["CONNECT", "TRACE", "TRACK"]);

export function inProcessTransport(service: Service): Transport {
  return async ({ method, url, headers, body, timeoutMilliseconds, signal, bodySink }) => {
    signal?.throwIfAborted();
    const hasBody = body !== undefined && method !== "GET" && method !== "HEAD";
    const request = new Request(url, {
      method: unsendable.has(method.toUpperCase()) ? `X-${method}` : method,
      headers,
      body: hasBody ? body : undefined,
    });
    const { response, isCut } = await inTime(
      service(request, { address: "in-process" }),
      timeoutMilliseconds,
      signal,
    );
    if (!response || isCut) throw failure("ECONNRESET", "the connection was dropped");
    const { status } = response;
    const answer = { status, headers: Object.fromEntries(response.headers) };
    if (!bodySink || status < 200 || status >= 300) return { ...answer, text: await response.text() };
    bodySink.restart();
    bodySink.write(new Uint8Array(await response.arrayBuffer()));
    bodySink.end();
    return { ...answer, text: "" };
  };
}

/** As on a network: the caller stops waiting, and what it asked for may still be done. */
function inTime(outcome: Promise<Outcome>, milliseconds: number, signal?: AbortSignal): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal?.reason);
    const timer = setTimeout(
      () => reject(failure("UND_ERR_HEADERS_TIMEOUT", "no answer in time")),
      Math.min(milliseconds, 2 ** 31 - 1),
    );
    signal?.addEventListener("abort", onAbort, { once: true });
    outcome.then(resolve, reject).finally(() => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    });
  });
}

function failure(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}
