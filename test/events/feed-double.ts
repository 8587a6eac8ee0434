/** A service whose feed of events behaves in every way that its documents leave open, over real HTTP. */
import { done, errorBody, json, startService } from "../kit.ts";

export type FeedEvent = Record<string, unknown> & { timestamp: string; type: string };

export interface Play {
  /** `given`: as the array has them; `shuffled`: at random, but always the same. */
  order: "given" | "newest" | "oldest" | "shuffled";
  /** The most that a page holds; larger ones are cut in silence, or refused. */
  maxPageSize?: number;
  isRefusing?: boolean;
  /** `array`: a bare array without a total; a number: that, always. */
  total: "right" | "missing" | "array" | number;
  /** What comes in after each answer, one batch after the other. */
  arrivals?: FeedEvent[][];
  /** Told after each page. */
  onPage?(page: number): void;
}

export const serviceNow = Date.parse("2026-11-21T12:00:00Z");
export const dayMilliseconds = 86_400_000;

/** Starts one. Its events may be changed at any time, and so may the play. */
export async function startFeed(events: FeedEvent[], play: Play = { order: "given", total: "right" }) {
  const weights = new Map<FeedEvent, number>();
  const toWeight = (event: FeedEvent) => {
    if (!weights.has(event)) weights.set(event, scramble(weights.size + 1));
    return weights.get(event)!;
  };
  const feed = { now: serviceNow, events, play, requests: 0 };
  const inOrder = (found: FeedEvent[]) => {
    if (play.order === "given") return found;
    const byTime = [...found].sort((one, other) => Date.parse(one.timestamp) - Date.parse(other.timestamp));
    if (play.order === "oldest") return byTime;
    if (play.order === "newest") return byTime.reverse();
    return byTime.sort((one, other) => toWeight(one) - toWeight(other));
  };
  const service = await startService((request, response) => {
    feed.requests++;
    const { pathname, searchParams } = new URL(request.url, "http://x");
    if (!pathname.endsWith("/events"))
      return json(response, 404, errorBody("RecordNotFound", "Contact not found"));
    const [page, requestedSize] = [Number(searchParams.get("page")), Number(searchParams.get("size"))];
    const since = feed.now - Number(searchParams.get("pastDays") ?? 10_000) * dayMilliseconds;
    const { maxPageSize = 1000, isRefusing, total } = play;
    if (isRefusing && requestedSize > maxPageSize) {
      return json(response, 400, errorBody("ValidationError", "too many", { field: "size" }));
    }
    const size = Math.min(requestedSize, maxPageSize);
    const types = searchParams.get("types")?.split(",");
    const isAsked = ({ timestamp, type }: FeedEvent) =>
      !(Date.parse(timestamp) < since) && (!types || types.includes(type));
    const found = inOrder(feed.events.filter(isAsked));
    const records = found.slice((page - 1) * size, page * size);
    const claimedTotal = typeof total === "number" ? total : total === "right" ? found.length : undefined;
    json(response, 200, total === "array" ? records : { total: claimedTotal, records });
    feed.events.push(...(play.arrivals?.shift() ?? []));
    play.onPage?.(page);
  });
  /** @param clockDays how many days this machine's clock is ahead */
  const show = (flags: string, clockDays = 0) => {
    const clock = { now: () => feed.now + clockDays * dayMilliseconds, sleep: () => Promise.resolve() };
    return service.ecm(`events ${flags}`, { clock });
  };
  const ecm = (flags: string, clockDays = 0) => show(`${flags} --json`, clockDays);
  /** The contacts of the events that are shown. */
  const ids = async (flags = "") => (await done(show(`${flags} -o id`))).split("\n").filter(Boolean);
  const last = (flags = "") => ids(`--since last ${flags}`);
  return { feed, show, ecm, ids, last, env: service.env, server: service.server };
}

/** A number below 2³² that looks like chance. */
function scramble(seed: number): number {
  let value = (seed * 2_654_435_761) >>> 0;
  value = Math.imul(value ^ (value >>> 15), 2_246_822_519) >>> 0;
  return (value ^ (value >>> 13)) >>> 0;
}
