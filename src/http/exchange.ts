/** One HTTP exchange: a request through a dispatcher, and what comes back of it. */

import type { Dispatcher as UndiciDispatcher } from "undici";
import type { TransportFailure, WireAnswer, WireRequest } from "../wire.ts";
import { bodyTooLarge, createFailure, maxBodyBytes } from "./no-answer.ts";

/** Longer timers overflow and fire at once, in milliseconds. */
const maxTimerMilliseconds = 2 ** 31 - 1;

export interface Controller {
  abort(reason: Error): void;
}

/** The methods of undici's `DispatchHandler` that are called. */
interface Handler {
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

interface DispatchOptions {
  origin: string;
  path: string;
  method: UndiciDispatcher.HttpMethod;
  headers: Record<string, string>;
  body?: string;
  /** False: a request whose answer is lost is never repeated unasked. */
  idempotent: false;
}

/** Carries one request at a time: undici's `Dispatcher`, or Node's own client in its place. */
export interface Dispatcher {
  dispatch(options: DispatchOptions, handler: Handler): void;
  destroy(): void | Promise<void>;
}

/** @throws TransportFailure; the reason of the request's signal once that fires */
export function exchange(dispatcher: Dispatcher, request: WireRequest, origin: string): Promise<WireAnswer> {
  return new Promise((resolve, reject) => {
    if (request.signal?.aborted) return reject(request.signal.reason as Error);
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
    const answer = new IncomingAnswer(request, resolve, reject);
    try {
      dispatcher.dispatch(options, answer);
    } catch (error) {
      answer.fail(error as Error);
    }
  });
}

/**
 * Collects an answer. It is settled once: when the answer is whole, an error comes, the time is over or the
 * signal fires.
 */
class IncomingAnswer implements Handler {
  private readonly request: WireRequest;
  private readonly resolve: (answer: WireAnswer) => void;
  private readonly reject: (error: Error) => void;
  private readonly timer: NodeJS.Timeout;
  private readonly onAbort = () => this.fail(this.request.signal!.reason as Error);
  private wasSent = false;
  private isSettled = false;
  private controller: Controller | undefined;
  private head: Pick<WireAnswer, "status" | "headers"> | undefined;
  private chunks: Buffer[] = [];
  private length = 0;

  constructor(request: WireRequest, resolve: (answer: WireAnswer) => void, reject: (error: Error) => void) {
    this.request = request;
    this.resolve = resolve;
    this.reject = reject;
    this.timer = setTimeout(
      () => this.fail(createFailure(this.wasSent ? "UND_ERR_HEADERS_TIMEOUT" : "UND_ERR_CONNECT_TIMEOUT")),
      Math.min(request.timeoutMilliseconds, maxTimerMilliseconds),
    );
    request.signal?.addEventListener("abort", this.onAbort);
  }

  onRequestStart(controller: Controller): void {
    this.controller = controller;
    // Given up while the connection was being made: now it must not be sent any more.
    if (this.isSettled) controller.abort(createFailure("UND_ERR_ABORTED"));
    else this.wasSent = true;
  }

  onResponseStart(
    _controller: Controller,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (status < 200) return;
    this.head = { status, headers: flattenHeaders(headers) };
  }

  onResponseData(_controller: Controller, chunk: Buffer): void {
    if (this.isSettled) return;
    this.length += chunk.length;
    if (this.length <= maxBodyBytes) this.chunks.push(chunk);
    else this.fail(createFailure(bodyTooLarge));
  }

  onResponseEnd(): void {
    if (this.isSettled) return;
    this.finish();
    this.resolve(this.received()!);
  }

  onResponseError(_controller: Controller | undefined, error: Error): void {
    this.fail(error);
  }

  fail(error: TransportFailure): void {
    if (this.isSettled) return;
    this.finish();
    this.controller?.abort(error);
    if (!this.request.signal?.aborted) {
      Object.assign(error, { wasSent: this.wasSent, partial: this.received() });
    }
    this.reject(error);
  }

  private finish(): void {
    this.isSettled = true;
    clearTimeout(this.timer);
    this.request.signal?.removeEventListener("abort", this.onAbort);
  }

  /** The answer as far as it came; undefined before its head. */
  private received(): WireAnswer | undefined {
    if (!this.head) return undefined;
    // A body that is too large is dropped: it may be larger than a text can be.
    const bytes = this.length > maxBodyBytes ? Buffer.alloc(0) : joinChunks(this.chunks);
    return { ...this.head, text: bytes.toString("utf8"), bytes };
  }
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
