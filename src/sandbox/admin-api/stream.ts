/** The log as server-sent events: the requests from `since` on, then each further one as it is answered. */
import { setTimeout as sleep } from "node:timers/promises";
import type { FollowingRequests } from "./log-follower.ts";

// Other processes of the folder write to the log too, without notice.
const pollMilliseconds = 100;
const maxAtOnce = 100;
const keepAliveMilliseconds = 15_000;

/**
 * @param next what follows: at most so many requests
 * @param closing ends the stream
 */
export function eventStream(next: (limit: number) => FollowingRequests, closing: AbortSignal): Response {
  const left = new AbortController();
  const signal = AbortSignal.any([closing, left.signal]);
  const encoder = new TextEncoder();
  let quietSince = performance.now();
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(encoder.encode(": the log of the sandbox\n\n"));
    },
    async pull(controller) {
      while (!signal.aborted) {
        const { log, isAnother, requests } = next(maxAtOnce);
        const events = requests.map(
          (each) => `id: ${log}-${each.n}\nevent: request\ndata: ${JSON.stringify(each)}\n\n`,
        );
        if (isAnother) events.unshift(`id: ${log}-0\nevent: log\ndata: ${JSON.stringify({ log })}\n\n`);
        if (events.length > 0) {
          controller.enqueue(encoder.encode(events.join("")));
          quietSince = performance.now();
          return;
        }
        if (performance.now() - quietSince > keepAliveMilliseconds) {
          controller.enqueue(encoder.encode(": still here\n\n"));
          quietSince = performance.now();
          return;
        }
        await sleep(pollMilliseconds, undefined, { signal, ref: false }).catch(() => {});
      }
      if (!left.signal.aborted) controller.close();
    },
    cancel: () => left.abort(),
  });
  return new Response(body, {
    headers: {
      "Content-Type": "text/event-stream; charset=utf-8",
      "Cache-Control": "no-store",
      "X-Content-Type-Options": "nosniff",
    },
  });
}
