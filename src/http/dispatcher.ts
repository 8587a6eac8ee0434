/** What carries one request at a time: undici's `Dispatcher`, or Node's own client in its place. */
import type { Dispatcher as UndiciDispatcher } from "undici";

export interface Controller {
  abort(reason: Error): void;
}

/** The methods of undici's `DispatchHandler` that are called. */
export interface Handler {
  /** The connection is made; the request goes out now. */
  onRequestStart(controller: Controller): void;
  onResponseStart(
    controller: Controller,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void;
  onResponseData(controller: Controller, chunk: Buffer): void;
  onResponseEnd(): void;
  onResponseError(controller: Controller | undefined, error: Error): void;
}

export interface DispatchOptions {
  origin: string;
  path: string;
  method: UndiciDispatcher.HttpMethod;
  headers: Record<string, string>;
  body?: string;
  /** False: a request whose answer is lost is never repeated unasked. */
  idempotent: false;
}

export interface Dispatcher {
  dispatch(options: DispatchOptions, handler: Handler): void;
  destroy(): void | Promise<void>;
}

/** Of the sockets that a dispatcher opens. */
export interface SocketLimits {
  /** Open at the same time. */
  connections: number;
  connectMilliseconds: number;
  /** After which an idle one is closed. */
  idleMilliseconds: number;
}
