/** One HTTP exchange over the network. */
import type { BodySink, Transport, TransportFailure, WireAnswer, WireRequest } from "../wire.ts";
import type { Controller, Dispatcher, DispatchOptions } from "./dispatcher.ts";
import { bodyTooLarge, createFailure, maxBodyBytes } from "./failure.ts";

export interface NetworkTransport {
  transport: Transport;
  close(): Promise<void>;
}

export interface NetworkOptions {
  /** That all requests go to. */
  baseUrl: string;
  /** `single` starts fast; `bulk` is for thousands of requests. */
  purpose: "single" | "bulk";
  /** Sockets, each opened when all others are busy. */
  connections?: number;
  /** The address of a proxy that all requests go through. */
  proxy?: string;
}

/** No connection takes longer to make than this. */
const connectMilliseconds = 10_000;
/**
 * An idle socket is let go after this: long before a server would drop it. A write that meets a dropped
 * socket is lost without anyone knowing whether it was applied.
 */
const idleMilliseconds = 1_500;
/** Longer timers overflow and fire at once, in milliseconds. */
const maxTimerMilliseconds = 2 ** 31 - 1;

export async function openNetwork(options: NetworkOptions): Promise<NetworkTransport> {
  const { origin } = new URL(options.baseUrl);
  const { proxy } = options;
  const dispatcher = await openDispatcher(origin, options);
  return {
    transport: (request) =>
      exchange(dispatcher, request, origin).catch((error: TransportFailure) => {
        throw proxy ? Object.assign(error, { proxy: removeCredentials(proxy) }) : error;
      }),
    async close() {
      await dispatcher.destroy();
    },
  };
}

async function openDispatcher(
  origin: string,
  { purpose, connections = 64, proxy }: NetworkOptions,
): Promise<Dispatcher> {
  const limits = { connections, connectMilliseconds, idleMilliseconds };
  if (purpose === "single" && proxy === undefined) {
    const { createNodeDispatcher } = await import("./node-dispatcher.ts");
    return createNodeDispatcher(origin, limits);
  }
  const { createUndiciDispatcher } = await import("./undici-dispatcher.ts");
  return createUndiciDispatcher(limits, proxy);
}

function removeCredentials(url: string): string {
  const { protocol, host } = new URL(url);
  return `${protocol}//${host}`;
}

function exchange(dispatcher: Dispatcher, request: WireRequest, origin: string): Promise<WireAnswer> {
  return new Promise((resolve, reject) => {
    let wasSent = false;
    let isSettled = false;
    let controller: Controller | undefined;
    let head: Pick<WireAnswer, "status" | "headers"> | undefined;
    const chunks: Buffer[] = [];
    let length = 0;
    let sink: BodySink | undefined;
    /** What the sink cannot take ends the exchange. */
    const passToSink = (act: (into: BodySink) => void) => {
      try {
        act(sink!);
      } catch (error) {
        fail(error as Error);
      }
    };

    const timer = setTimeout(
      () => fail(createFailure(wasSent ? "UND_ERR_HEADERS_TIMEOUT" : "UND_ERR_CONNECT_TIMEOUT")),
      Math.min(request.timeoutMilliseconds, maxTimerMilliseconds),
    );
    const onAbort = () => fail(request.signal!.reason as Error);
    const finish = () => {
      isSettled = true;
      clearTimeout(timer);
      request.signal?.removeEventListener("abort", onAbort);
    };
    const toAnswer = (): WireAnswer | undefined => {
      if (!head) return undefined;
      // A body that is too large is not what anybody wanted, and may be larger than a text can be.
      const bytes = length > maxBodyBytes ? Buffer.alloc(0) : joinChunks(chunks);
      return { ...head, text: bytes.toString("utf8"), bytes };
    };
    const fail = (error: TransportFailure) => {
      if (isSettled) return;
      finish();
      controller?.abort(error);
      if (!request.signal?.aborted) Object.assign(error, { wasSent, partial: toAnswer() });
      reject(error);
    };

    if (request.signal?.aborted) return onAbort();
    request.signal?.addEventListener("abort", onAbort);
    const options: DispatchOptions = {
      origin,
      // As it was built: a URL object would fold `..` in it.
      path: request.url.slice(origin.length) || "/",
      method: request.method as DispatchOptions["method"],
      headers: request.headers,
      body: request.body,
      // A lost answer is ours to judge.
      idempotent: false,
    };
    try {
      dispatcher.dispatch(options, {
        onRequestStart(started) {
          controller = started;
          // Given up while the connection was being made: now it must not be sent any more.
          if (isSettled) started.abort(createFailure("UND_ERR_ABORTED"));
          else wasSent = true;
        },
        onResponseStart(_controller, status, headers) {
          if (status < 200) return;
          head = { status, headers: flattenHeaders(headers) };
          if (!request.bodySink || status >= 300) return;
          sink = request.bodySink;
          passToSink((into) => into.restart());
        },
        onResponseData(_controller, chunk) {
          if (isSettled) return;
          if (sink) {
            timer.refresh();
            return passToSink((into) => into.write(chunk));
          }
          length += chunk.length;
          if (length <= maxBodyBytes) chunks.push(chunk);
          else fail(createFailure(bodyTooLarge));
        },
        onResponseEnd() {
          if (sink && !isSettled) passToSink((into) => into.end());
          if (isSettled) return;
          finish();
          resolve(toAnswer()!);
        },
        onResponseError: (_controller, error) => fail(error),
      });
    } catch (error) {
      fail(error as Error);
    }
  });
}

function joinChunks(chunks: Buffer[]): Buffer {
  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
}

function flattenHeaders(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  const flat: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) flat[name.toLowerCase()] = Array.isArray(value) ? value.join(", ") : value;
  }
  return flat;
}
