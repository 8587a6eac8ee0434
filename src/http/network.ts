/** One HTTP exchange over the network, through undici. */
import type { Agent, Dispatcher } from "undici";
import { startNetworkFast } from "../v8-flags.ts";
import type { BodySink, Transport, TransportFailure, WireAnswer, WireRequest } from "../wire.ts";
import { bodyTooLarge, longestBody } from "./failure.ts";

export interface NetworkTransport {
  transport: Transport;
  close(): Promise<void>;
}

/** No connection takes longer to make than this, in milliseconds. */
const longestConnect = 10_000;
/**
 * An idle socket is let go after this, in milliseconds: long before a server would drop it. A write that meets a
 * dropped socket is lost without anyone knowing whether it was applied.
 */
const longestIdle = 1_500;
/** Longer timers overflow and fire at once, in milliseconds. */
const longestTimer = 2 ** 31 - 1;

/** A proxy that requests go through, and the hosts that are reached without it, as NO_PROXY names them. */
export interface ProxyRoute {
  url: string;
  noProxy: string;
}

/**
 * Opens up to `connections` sockets, each when all others are busy.
 * @param purpose `single` starts fast; `bulk` is for thousands of requests
 * @param proxy undici's agent for proxies is loaded only when there is one
 */
export async function openNetwork(
  purpose: "single" | "bulk",
  connections = 64,
  proxy?: ProxyRoute,
): Promise<NetworkTransport> {
  if (purpose === "single") startNetworkFast();
  const options = {
    connections,
    pipelining: 1,
    keepAliveTimeout: longestIdle,
    keepAliveMaxTimeout: longestIdle,
    // The whole exchange has one time limit, below.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { timeout: longestConnect },
  };
  const agent = proxy ? await proxyAgent(proxy, options) : await directAgent(options);
  const originOf = createOriginReader();
  return {
    transport: (request) =>
      exchange(agent, request, originOf(request.url)).catch((error: TransportFailure) => {
        throw proxy ? Object.assign(error, { proxy: withoutCredentials(proxy.url) }) : error;
      }),
    close: () => agent.destroy(),
  };
}

function withoutCredentials(url: string): string {
  const { protocol, host } = new URL(url);
  return `${protocol}//${host}`;
}

/** Reads the origin of an address; that of the last one is known, since a command speaks to one service. */
function createOriginReader(): (url: string) => string {
  let last = "";
  return (url) => {
    if (last === "" || !url.startsWith(`${last}/`)) last = new URL(url).origin;
    return last;
  };
}

/** The agent alone, by its default export: the whole package takes more than twice as long to load. */
async function directAgent(options: Agent.Options): Promise<Dispatcher> {
  const { default: Agent } = await import("undici/lib/dispatcher/agent.js");
  return new Agent(options);
}

async function proxyAgent({ url, noProxy }: ProxyRoute, options: Agent.Options): Promise<Dispatcher> {
  const [{ default: EnvHttpProxyAgent }, { default: Dispatcher }, { default: connect }] = await Promise.all([
    import("undici/lib/dispatcher/env-http-proxy-agent.js"),
    import("undici/lib/dispatcher/dispatcher.js"),
    import("undici/lib/api/api-connect.js"),
  ]);
  // What a proxy is asked with; the whole package does the same when it is loaded.
  Dispatcher.prototype.connect = connect;
  return new EnvHttpProxyAgent({ ...options, httpProxy: url, httpsProxy: url, noProxy });
}

function exchange(agent: Dispatcher, request: WireRequest, origin: string): Promise<WireAnswer> {
  return new Promise((resolve, reject) => {
    let wasSent = false;
    let isSettled = false;
    let controller: Dispatcher.DispatchController | undefined;
    let head: Pick<WireAnswer, "status" | "headers"> | undefined;
    const chunks: Buffer[] = [];
    let length = 0;
    let sink: BodySink | undefined;
    /** What the sink cannot take ends the exchange. */
    const sinkInto = (act: (into: BodySink) => void) => {
      try {
        act(sink!);
      } catch (error) {
        fail(error as Error);
      }
    };

    const timer = setTimeout(
      () => fail(withCode(wasSent ? "UND_ERR_HEADERS_TIMEOUT" : "UND_ERR_CONNECT_TIMEOUT")),
      Math.min(request.timeoutMilliseconds, longestTimer),
    );
    const onAbort = () => fail(request.signal!.reason as Error);
    const finish = () => {
      isSettled = true;
      clearTimeout(timer);
      request.signal?.removeEventListener("abort", onAbort);
    };
    const whole = (): WireAnswer | undefined => {
      if (!head) return undefined;
      // A body that is too large is not what anybody wanted, and may be larger than a text can be.
      const bytes = length > longestBody ? Buffer.alloc(0) : joined(chunks);
      return { ...head, text: bytes.toString("utf8"), bytes };
    };
    const fail = (error: TransportFailure) => {
      if (isSettled) return;
      finish();
      controller?.abort(error);
      if (!request.signal?.aborted) Object.assign(error, { wasSent, partial: whole() });
      reject(error);
    };

    if (request.signal?.aborted) return onAbort();
    request.signal?.addEventListener("abort", onAbort);
    const options = {
      origin,
      // As it was built: a URL object would fold `..` in it.
      path: request.url.slice(origin.length) || "/",
      method: request.method as Dispatcher.HttpMethod,
      headers: request.headers,
      body: request.body,
      // A lost answer is ours to judge.
      idempotent: false,
    };
    try {
      agent.dispatch(options, {
        onRequestStart(started) {
          controller = started;
          // Given up while the connection was being made: now it must not be sent any more.
          if (isSettled) started.abort(withCode("UND_ERR_ABORTED"));
          else wasSent = true;
        },
        onResponseStart(_controller, status, headers) {
          if (status < 200) return;
          head = { status, headers: flattened(headers) };
          if (!request.bodySink || status >= 300) return;
          sink = request.bodySink;
          sinkInto((into) => into.restart());
        },
        onResponseData(_controller, chunk) {
          if (isSettled) return;
          if (sink) {
            timer.refresh();
            return sinkInto((into) => into.write(chunk));
          }
          length += chunk.length;
          if (length <= longestBody) chunks.push(chunk);
          else fail(withCode(bodyTooLarge));
        },
        onResponseEnd() {
          if (sink && !isSettled) sinkInto((into) => into.end());
          if (isSettled) return;
          finish();
          resolve(whole()!);
        },
        onResponseError: (_controller, error) => fail(error),
      });
    } catch (error) {
      fail(error as Error);
    }
  });
}

function joined(chunks: Buffer[]): Buffer {
  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
}

function withCode(code: string): TransportFailure {
  return Object.assign(new Error(code), { code });
}

function flattened(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  const flat: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) flat[name.toLowerCase()] = Array.isArray(value) ? value.join(", ") : value;
  }
  return flat;
}
