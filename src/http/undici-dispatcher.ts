/** undici: for thousands of requests, and for proxies. */
import { Agent, ProxyAgent } from "undici";
import type { Dispatcher, SocketLimits } from "./dispatcher.ts";

/** @param proxy the address of a proxy that all requests go through */
export function createUndiciDispatcher(limits: SocketLimits, proxy?: string): Dispatcher {
  const options = {
    connections: limits.connections,
    pipelining: 1,
    keepAliveTimeout: limits.idleMilliseconds,
    keepAliveMaxTimeout: limits.idleMilliseconds,
    // The whole exchange has one time limit of its own.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { timeout: limits.connectMilliseconds },
  };
  return proxy === undefined ? new Agent(options) : new ProxyAgent({ ...options, uri: proxy });
}
