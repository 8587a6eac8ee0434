/** Reads on in the log of requests, also when it is cleared meanwhile; and the log as server-sent events. */
import { setTimeout as sleep } from "node:timers/promises";
import type { LoggedRequest, RequestQuery } from "../public-types.ts";
import type { RequestFilter, RequestLog } from "../store/request-log.ts";
import { parseRequestQuery } from "./bodies.ts";

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

/** What follows in the log. */
export interface FollowingRequests {
  /** Id of the log. */
  log: string;
  /** Whether it is another log than before: the reader starts over. */
  isAnother: boolean;
  /** The oldest first. */
  requests: LoggedRequest[];
}

export class LogFollower {
  private readonly requests: RequestLog;
  private readonly filter: RequestFilter;
  private log: string;

  /**
   * Begins where the query says, or after the last request that there is now.
   * @param lastEventId the id of the last event that was received, such as `0123456789abcdef-17`
   * @throws Refusal for an invalid query
   */
  constructor(requests: RequestLog, query: RequestQuery, lastEventId = "") {
    this.requests = requests;
    this.filter = parseRequestQuery(query, requests.id()).filter;
    const [, seenLog = query.log, lastSeen] = /^(?:([0-9a-f]{16})-)?(\d{1,15})$/.exec(lastEventId) ?? [];
    if (lastSeen !== undefined) this.filter.after = Number(lastSeen);
    else if (query.since === undefined) this.filter.after = requests.last();
    this.log = seenLog ?? requests.id();
  }

  /** At most so many requests. */
  next(limit: number): FollowingRequests {
    const log = this.requests.id();
    const isAnother = log !== this.log;
    if (isAnother) this.filter.after = 0;
    this.log = log;
    const last = this.requests.last();
    const requests = this.requests.find(this.filter, limit, "oldest");
    const lastFound = requests.at(-1)?.n ?? 0;
    // What did not match is not looked at again.
    this.filter.after = Math.max(this.filter.after ?? 0, lastFound, requests.length < limit ? last : 0);
    return { log, isAnother, requests };
  }
}
