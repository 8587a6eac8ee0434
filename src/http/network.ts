/** The network as a transport: its dispatcher, its sockets, its proxy; and one exchange. */

import type { Socket } from "node:net";
import type { Dispatcher as UndiciDispatcher } from "undici";
import { usageError } from "../errors.ts";
import type { Transport, TransportFailure, WireAnswer, WireRequest } from "../wire.ts";
import { bodyTooLarge, createFailure, maxBodyBytes } from "./no-answer.ts";

interface NetworkTransport {
  transport: Transport;
  close(): Promise<void>;
}

interface NetworkOptions {
  /** The address that all requests go to. */
  baseUrl: string;
  /** `single` starts fast; `bulk` is for thousands of requests. */
  purpose: "single" | "bulk";
  /** Most sockets; each is opened when all others are busy. */
  connections?: number;
  /** Has the proxies' variables, in either letter case. A service on this machine is reached directly. */
  env?: Readonly<Record<string, string | undefined>>;
}

/** No connection takes longer to make than this. */
const connectMilliseconds = 10_000;
/**
 * An idle socket is let go after this: long before a server would drop it. A write that meets a dropped
 * socket is lost without anyone knowing whether it was applied.
 */
const idleMilliseconds = 1_500;

export async function openNetwork(options: NetworkOptions): Promise<NetworkTransport> {
  const { baseUrl, purpose, connections = 64 } = options;
  const { origin } = new URL(baseUrl);
  const proxies = findProxies(options);
  const isPlain = purpose === "single" && proxies === undefined;
  const dispatcher = await (isPlain
    ? openNodeDispatcher(origin, connections)
    : openUndiciDispatcher(connections, proxies));
  return {
    transport: (request) =>
      exchange(dispatcher, request, origin).catch((error: TransportFailure) => {
        throw proxies ? Object.assign(error, { isProxied: true }) : error;
      }),
    async close() {
      await dispatcher.destroy();
    },
  };
}

interface Proxies {
  httpProxy?: string;
  httpsProxy?: string;
  noProxy?: string;
}

const thisMachine = /^(localhost|.*\.localhost|127(\.\d+){3}|\[::1\])$/i;

/** Undefined where none is named, or none can reach the service: it is on this machine. */
function findProxies({ baseUrl, env = {} }: NetworkOptions): Proxies | undefined {
  const { hostname } = new URL(baseUrl);
  const read = (name: string) => env[name] || env[name.toUpperCase()];
  const toAddress = (text: string | undefined) => text && (text.includes("://") ? text : `http://${text}`);
  const [httpProxy, httpsProxy] = [read("http_proxy"), read("https_proxy")].map(toAddress);
  if (thisMachine.test(hostname) || (!httpProxy && !httpsProxy)) return undefined;
  return { httpProxy, httpsProxy, noProxy: read("no_proxy") };
}

/**
 * Node's own client, for commands that send a few requests. undici compiles a parser at the first answer,
 * which takes longer than all the rest of such a command.
 */
async function openNodeDispatcher(origin: string, connections: number): Promise<Dispatcher> {
  const { protocol, hostname, port } = new URL(origin);
  const isSecure = protocol === "https:";
  const { Agent, request: open } = isSecure ? await import("node:https") : await import("node:http");
  const agent = new Agent({ keepAlive: true, maxSockets: connections, timeout: idleMilliseconds });
  // An IPv6 address has brackets in a URL alone.
  const address = { agent, hostname: hostname.replace(/^\[(.*)\]$/, "$1"), port };
  return {
    dispatch({ path, method, headers, body }, handler) {
      const length = body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) };
      const request = open({ ...address, path, method, headers: { ...headers, ...length } });
      const controller: Controller = { abort: (reason) => request.destroy(reason) };
      const fail = (error: Error) => handler.onResponseError(controller, error);
      request.on("socket", (socket) => {
        const start = () => handler.onRequestStart(controller);
        if (!socket.connecting) return start();
        limitConnect(socket, isSecure ? "secureConnect" : "connect");
        socket.once(isSecure ? "secureConnect" : "connect", start);
      });
      request.on("response", (response) => {
        handler.onResponseStart(controller, response.statusCode!, response.headers);
        response.on("data", (chunk: Buffer) => handler.onResponseData(controller, chunk));
        response.on("end", () => handler.onResponseEnd());
        response.on("error", fail);
      });
      request.on("error", fail);
      request.end(body);
    },
    destroy: () => agent.destroy(),
  };
}

/** Ends a socket that has not connected in time. */
function limitConnect(socket: Socket, connected: string): void {
  const timer = setTimeout(
    () => socket.destroy(createFailure("UND_ERR_CONNECT_TIMEOUT")),
    connectMilliseconds,
  );
  const clear = () => clearTimeout(timer);
  socket.once(connected, clear).once("close", clear);
}

/** undici, for thousands of requests and for proxies. @throws UsageError for a proxy that is no address */
async function openUndiciDispatcher(connections: number, proxies?: Proxies): Promise<Dispatcher> {
  const { Agent, EnvHttpProxyAgent } = await import("undici");
  const options = {
    connections,
    pipelining: 1,
    keepAliveTimeout: idleMilliseconds,
    keepAliveMaxTimeout: idleMilliseconds,
    // The whole exchange has one time limit of its own.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { timeout: connectMilliseconds },
  };
  if (!proxies) return new Agent(options);
  try {
    return new EnvHttpProxyAgent({ ...options, ...proxies });
  } catch {
    // It may hold a password: it is not shown.
    throw usageError(
      "HTTPS_PROXY or HTTP_PROXY is not the address of an HTTP proxy",
      "Such as HTTPS_PROXY=http://proxy.example.com:3128; NO_PROXY names hosts that are reached directly",
      { type: "ProxyError" },
    );
  }
}

// One exchange: a request through a dispatcher, and what comes back of it.

/** Longer timers overflow and fire at once, in milliseconds. */
const maxTimerMilliseconds = 2 ** 31 - 1;

interface Controller {
  abort(reason: Error): void;
}

type HttpMethod = UndiciDispatcher.HttpMethod;
type IncomingHeaders = Record<string, string | string[] | undefined>;

/** The methods of undici's `DispatchHandler` that are called. */
interface Handler {
  /** The connection is made; the request goes out now. */
  onRequestStart(controller: Controller): void;
  onResponseStart(controller: Controller, status: number, headers: IncomingHeaders): void;
  onResponseData(controller: Controller, chunk: Buffer): void;
  onResponseEnd(): void;
  onResponseError(controller: Controller | undefined, error: Error): void;
}

interface DispatchOptions {
  origin: string;
  path: string;
  method: HttpMethod;
  headers: Record<string, string>;
  body?: string;
  /** False: a request whose answer is lost is never repeated unasked. */
  idempotent: false;
}

/** Carries one request at a time: undici's `Dispatcher`, or Node's own client in its place. */
interface Dispatcher {
  dispatch(options: DispatchOptions, handler: Handler): void;
  destroy(): void | Promise<void>;
}

/**
 * Settled once: when the answer is whole, an error comes, the time is over or the signal fires.
 * @throws TransportFailure; the reason of the request's signal once that fires
 */
function exchange(dispatcher: Dispatcher, request: WireRequest, origin: string): Promise<WireAnswer> {
  const { signal, timeoutMilliseconds, url, method, headers, body } = request;
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason as Error);
    let chunks: Buffer[] = [];
    let length = 0;
    let head: Pick<WireAnswer, "status" | "headers"> | undefined;
    let controller: Controller | undefined;
    let wasSent = false;
    let isSettled = false;
    const settle = () => {
      isSettled = true;
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    };
    const fail = (error: TransportFailure) => {
      if (isSettled) return;
      settle();
      controller?.abort(error);
      const partial = head && toAnswer(head, chunks);
      reject(signal?.aborted ? error : Object.assign(error, { wasSent, partial }));
    };
    const onAbort = () => fail(signal!.reason as Error);
    const timer = setTimeout(
      () => fail(createFailure(wasSent ? "UND_ERR_HEADERS_TIMEOUT" : "UND_ERR_CONNECT_TIMEOUT")),
      Math.min(timeoutMilliseconds, maxTimerMilliseconds),
    );
    signal?.addEventListener("abort", onAbort);
    const handler: Handler = {
      onRequestStart(started) {
        controller = started;
        // Given up while the connection was being made: now it must not be sent any more.
        if (isSettled) started.abort(createFailure("UND_ERR_ABORTED"));
        else wasSent = true;
      },
      onResponseStart(_controller, status, fields) {
        if (status >= 200) head = { status, headers: flattenHeaders(fields) };
      },
      onResponseData(_controller, chunk) {
        if (isSettled) return;
        length += chunk.length;
        chunks.push(chunk);
        if (length <= maxBodyBytes) return;
        // It may be larger than a text can be.
        chunks = [];
        fail(createFailure(bodyTooLarge));
      },
      onResponseEnd() {
        if (isSettled) return;
        settle();
        resolve(toAnswer(head!, chunks));
      },
      onResponseError: (_controller, error) => fail(error),
    };
    // As it was built: a URL object would fold `..` in it.
    const path = url.slice(origin.length) || "/";
    // A lost answer is ours to judge.
    const options = { origin, path, method: method as HttpMethod, headers, body, idempotent: false } as const;
    try {
      dispatcher.dispatch(options, handler);
    } catch (error) {
      fail(error as Error);
    }
  });
}

function toAnswer(head: Pick<WireAnswer, "status" | "headers">, chunks: readonly Buffer[]): WireAnswer {
  const bytes = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
  return { ...head, text: bytes.toString("utf8"), bytes };
}

function flattenHeaders(headers: IncomingHeaders): Record<string, string> {
  const flat: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) flat[name.toLowerCase()] = Array.isArray(value) ? value.join(", ") : value;
  }
  return flat;
}
