/** The network as a transport: through which dispatcher, over how many sockets, by which proxy. */
import type { Transport, TransportFailure } from "../wire.ts";
import type { Dispatcher } from "./dispatcher.ts";
import { exchange } from "./exchange.ts";

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
  /** The proxy that all requests go through; `shown` has no credentials. */
  proxy?: { url: string; shown: string };
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
  const { proxy } = options;
  const dispatcher = await openDispatcher(origin, options);
  return {
    transport: (request) =>
      exchange(dispatcher, request, origin).catch((error: TransportFailure) => {
        throw proxy ? Object.assign(error, { proxy: proxy.shown }) : error;
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
  return createUndiciDispatcher(limits, proxy?.url);
}
