/** A service whose feed of events behaves in every way that its documents leave open, over real HTTP. */
import { errorBody, json } from "../support/http-server.ts";
import { startService } from "../support/service.ts";

export type FeedEvent = Record<string, unknown> & { timestamp: string; type: string };

export interface Play {
  /** `shuffled`: at random, but always the same. */
  order: "newest" | "oldest" | "shuffled";
  /** The most that a page holds; larger ones are cut in silence, or refused. */
  maxPageSize?: number;
  isRefusing?: boolean;
  /** `array`: a bare array without a total; a number: that, always. */
  total: "right" | "missing" | "array" | number;
  /** What comes in after each answer, one batch after the other. */
  arrivals?: FeedEvent[][];
}

export const serviceNow = Date.parse("2026-11-21T12:00:00Z");
export const dayMilliseconds = 86_400_000;

/** Starts one. Its events may be changed at any time, and so may the play. */
export async function startFeed(events: FeedEvent[], play: Play) {
  const weights = new Map<FeedEvent, number>();
  const toWeight = (event: FeedEvent) => {
    if (!weights.has(event)) weights.set(event, scramble(weights.size + 1));
    return weights.get(event)!;
  };
  const feed = { now: serviceNow, events, play, requests: 0 };
  const inOrder = (found: FeedEvent[]) => {
    const byTime = [...found].sort((one, other) => Date.parse(one.timestamp) - Date.parse(other.timestamp));
    if (play.order === "oldest") return byTime;
    if (play.order === "newest") return byTime.reverse();
    return byTime.sort((one, other) => toWeight(one) - toWeight(other));
  };
  const service = await startService((request, response) => {
    feed.requests++;
    const { searchParams } = new URL(request.url, "http://x");
    const [page, requestedSize] = [Number(searchParams.get("page")), Number(searchParams.get("size"))];
    const since = feed.now - Number(searchParams.get("pastDays") ?? 10_000) * dayMilliseconds;
    const { maxPageSize = 1000, isRefusing, total } = play;
    if (isRefusing && requestedSize > maxPageSize) {
      return json(response, 400, errorBody("ValidationError", "too many", { field: "size" }));
    }
    const size = Math.min(requestedSize, maxPageSize);
    const found = inOrder(feed.events.filter(({ timestamp }) => !(Date.parse(timestamp) < since)));
    const records = found.slice((page - 1) * size, page * size);
    const claimedTotal = typeof total === "number" ? total : total === "right" ? found.length : undefined;
    json(response, 200, total === "array" ? records : { total: claimedTotal, records });
    feed.events.push(...(play.arrivals?.shift() ?? []));
  });
  /** @param clockDays how many days this machine's clock is ahead */
  const ecm = (args: string[], clockDays = 0) => {
    const clock = {
      now: () => feed.now + clockDays * dayMilliseconds,
      sleep: () => Promise.resolve(),
    };
    return service.ecm(["events", ...args, "--json"], { clock });
  };
  return { feed, ecm, env: service.env };
}

/** A number below 2³² that looks like chance. */
function scramble(seed: number): number {
  let value = (seed * 2_654_435_761) >>> 0;
  value = Math.imul(value ^ (value >>> 15), 2_246_822_519) >>> 0;
  return (value ^ (value >>> 13)) >>> 0;
}
