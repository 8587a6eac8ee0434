/**
 * Node's own client, for commands that send a few requests. undici compiles a parser at the first answer,
 * which takes longer than all the rest of such a command.
 */
import type { Socket } from "node:net";
import type { Controller, Dispatcher, SocketLimits } from "./dispatcher.ts";
import { createFailure } from "./failure.ts";

/** @param origin that all requests go to */
export async function createNodeDispatcher(origin: string, limits: SocketLimits): Promise<Dispatcher> {
  const { protocol, hostname, port } = new URL(origin);
  const isSecure = protocol === "https:";
  const { Agent, request: open } = isSecure ? await import("node:https") : await import("node:http");
  const agent = new Agent({
    keepAlive: true,
    maxSockets: limits.connections,
    timeout: limits.idleMilliseconds,
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
        limitConnect(socket, isSecure ? "secureConnect" : "connect", limits.connectMilliseconds);
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
function limitConnect(socket: Socket, connected: string, milliseconds: number): void {
  const timer = setTimeout(() => socket.destroy(createFailure("UND_ERR_CONNECT_TIMEOUT")), milliseconds);
  const clear = () => clearTimeout(timer);
  socket.once(connected, clear).once("close", clear);
}
