/** The network as a transport: through which dispatcher, over how many sockets, by which proxy. */

import type { Socket } from "node:net";
import { usageError } from "../errors.ts";
import type { Transport, TransportFailure } from "../wire.ts";
import { type Controller, type Dispatcher, exchange } from "./exchange.ts";
import { createFailure } from "./no-answer.ts";

export interface NetworkTransport {
  transport: Transport;
  close(): Promise<void>;
}

export interface NetworkOptions {
  /** The address that all requests go to. */
  baseUrl: string;
  /** `single` starts fast; `bulk` is for thousands of requests. */
  purpose: "single" | "bulk";
  /** Most sockets; each is opened when all others are busy. */
  connections?: number;
  /** For the variables of proxies, in either letter case. A service on this machine is always reached directly. */
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
  const { origin } = new URL(options.baseUrl);
  const proxies = findProxies(options);
  const dispatcher = await openDispatcher(origin, options, proxies);
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

async function openDispatcher(
  origin: string,
  { purpose, connections = 64 }: NetworkOptions,
  proxies: Proxies | undefined,
): Promise<Dispatcher> {
  return purpose === "single" && proxies === undefined
    ? openNodeDispatcher(origin, connections)
    : openUndiciDispatcher(connections, proxies);
}

/**
 * Node's own client, for commands that send a few requests. undici compiles a parser at the first answer,
 * which takes longer than all the rest of such a command.
 */
async function openNodeDispatcher(origin: string, connections: number): Promise<Dispatcher> {
  const { protocol, hostname, port } = new URL(origin);
  const isSecure = protocol === "https:";
  const { Agent, request: open } = isSecure ? await import("node:https") : await import("node:http");
  const agent = new Agent({
    keepAlive: true,
    maxSockets: connections,
    timeout: idleMilliseconds,
  });
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
