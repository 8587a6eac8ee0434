/** The log of requests as server-sent events. */
import { setTimeout as sleep } from "node:timers/promises";
import type { LoggedRequest } from "../public-types.ts";

// Other processes of the folder write to the log too, without notice.
const pollMilliseconds = 100;
const maxAtOnce = 100;
const keepAliveMilliseconds = 15_000;

/**
 * @param next what follows in the log: at most so many requests
 * @param closing ends the stream
 */
export function streamRequests(next: (limit: number) => LoggedRequest[], closing: AbortSignal): Response {
  const left = new AbortController();
  const signal = AbortSignal.any([closing, left.signal]);
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(encoder.encode(": the log of the sandbox\n\n"));
    },
    async pull(controller) {
      for (const began = performance.now(); !signal.aborted; ) {
        const events = next(maxAtOnce).map(
          (each) => `id: ${each.n}\nevent: request\ndata: ${JSON.stringify(each)}\n\n`,
        );
        if (performance.now() - began > keepAliveMilliseconds) events.push(": still here\n\n");
        if (events.length > 0) return controller.enqueue(encoder.encode(events.join("")));
        await sleep(pollMilliseconds, undefined, { signal, ref: false }).catch(() => {});
      }
      if (!left.signal.aborted) controller.close();
    },
    cancel: () => left.abort(),
  });
  return new Response(body, { headers: { "Content-Type": "text/event-stream; charset=utf-8" } });
}
