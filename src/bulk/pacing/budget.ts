/**
 * Whether one more request may leave: a state machine over what the answers say of the limits (specification, Limits).
 * Times are milliseconds of the local clock. The account's other users spend too, so that what is left is read from
 * every answer, and the requests that are still under way are taken off it.
 */
import type { LimitKind } from "../../errors.ts";
import type { RateLimits } from "../../wire.ts";
import { createHourWindow } from "./hour-window.ts";

export interface BudgetOptions {
  /** Requests of the hour, and of the month, to leave to others. */
  reserve: number;
  /** Whether the hour's end is waited for. */
  waits: boolean;
  /** Most requests of this invocation. */
  maxRequests?: number;
  /** Nothing is sent after this. */
  until?: number;
}

export type BudgetStop = "hour" | "month" | "address" | "max-requests" | "until";

export type Verdict =
  | { kind: "go" }
  /** Wait for one of the requests under way to end, then ask again. */
  | { kind: "hold" }
  | { kind: "wait"; until: number; why: string }
  | { kind: "stop"; by: BudgetStop; until?: number };

export interface Budget {
  ask(now: number): Verdict;
  /** A request leaves. */
  leave(): void;
  /** A request that `leave` announced does not leave after all. */
  withdraw(): void;
  /** A request that `leave` announced was sent once more below. */
  repeat(): void;
  /** It came back; `serverNow` is the answer's own time, when it said one. */
  answered(limits: RateLimits, now: number, serverNow?: number): void;
  /** No answer came: it may have been counted. */
  lost(): void;
  /** A 429: it was not counted. Returns when the next try may go, or that there is none. */
  limited(kind: LimitKind, retryAfterSeconds: number | undefined, limits: RateLimits, now: number): void;
  /** What limits said before this run began to count. */
  seed(limits: RateLimits): void;
  /** Our clock was set back by so many milliseconds. */
  setBack(milliseconds: number): void;
  /** The service's clock minus ours, in milliseconds; 0 while they agree. */
  readonly clockOffset: number;
  /** How long a window of the hourly limit is, in seconds; undefined until an answer has shown it. */
  readonly windowSeconds: number | undefined;
  readonly underWay: number;
  readonly spent: number;
  /** What is known of the limits, newest first of each answer. */
  readonly limits: RateLimits;
}

/** Other users' requests that arrive between an answer and our next request are met by leaving them this share. */
const shareAmongOthers = 4;
/** Past the window's end by this much, so that no request arrives before it. */
const afterReset = 250;
const longestPauseSeconds = 300;

export function createBudget(options: BudgetOptions): Budget {
  const hour = createHourWindow();
  let month: RateLimits["month"];
  let underWay = 0;
  let spent = 0;
  let clockOffset = 0;
  let pausedUntil = 0;
  let pauses = 0;
  /** When the service said to try again; a pause may be shorter, to look whether others have left some. */
  let retryAt = 0;
  let stopped: Verdict | undefined;

  /** When the window ends, by the local clock; undefined while it is not known. */
  function localReset(): number | undefined {
    return hour.known && hour.known.reset * 1000 - clockOffset + afterReset;
  }

  function askHour(now: number): Verdict {
    const reset = localReset();
    if (reset !== undefined && now >= reset) hour.end();
    const window = hour.known;
    if (!window || reset === undefined) {
      // The first answer of a window says what it holds: one request goes ahead and asks.
      return hour.isUnknown || underWay === 0 ? { kind: "go" } : { kind: "hold" };
    }
    const left = window.remaining - options.reserve;
    const mayBeUnderWay = hour.hasOthers ? Math.floor(left / shareAmongOthers) : left;
    if (underWay < mayBeUnderWay) return { kind: "go" };
    if (underWay > 0) return { kind: "hold" };
    return waitUntil(reset, "hourly limit reached", now);
  }

  function waitUntil(until: number, why: string, now: number): Verdict {
    if (!options.waits) {
      const isUsedUp = hour.known !== undefined && hour.known.remaining <= options.reserve;
      return { kind: "stop", by: "hour", until: Math.max(until, retryAt, isUsedUp ? localReset()! : 0) };
    }
    if (options.until !== undefined && until >= options.until) return { kind: "stop", by: "until" };
    return until <= now ? { kind: "go" } : { kind: "wait", until, why };
  }

  function noteClock(now: number, serverNow: number | undefined): void {
    if (serverNow === undefined) return;
    // The header is cut to whole seconds: a smaller difference says nothing.
    const offset = serverNow + 500 - now;
    clockOffset = Math.abs(offset) < 2000 ? 0 : offset;
  }

  /** The smallest that was said of this month. */
  function noteMonth(said: RateLimits["month"]): void {
    if (!said) return;
    const isNewPeriod = month && said.remaining > month.remaining + 1000;
    const remaining = month && !isNewPeriod ? Math.min(month.remaining, said.remaining) : said.remaining;
    month = { limit: said.limit, remaining };
  }

  function pause(retryAfterSeconds: number | undefined, now: number): void {
    const needed = Math.max(1, retryAfterSeconds ?? 1);
    retryAt = now + needed * 1000;
    const until = now + Math.min(needed * 2 ** Math.min(pauses, 20), longestPauseSeconds) * 1000;
    pauses++;
    const reset = localReset();
    // Past the window's end there is nothing left to wait for; the first request of the next one asks.
    pausedUntil = reset !== undefined && reset > now ? Math.min(until, reset) : until;
  }

  return {
    ask(now) {
      if (stopped) return stopped;
      if (options.maxRequests !== undefined && spent >= options.maxRequests) {
        return { kind: "stop", by: "max-requests" };
      }
      if (options.until !== undefined && now >= options.until) return { kind: "stop", by: "until" };
      if (month && month.remaining - options.reserve - underWay < 1) {
        return underWay > 0 ? { kind: "hold" } : { kind: "stop", by: "month" };
      }
      if (pausedUntil > now) return waitUntil(pausedUntil, "the service asked to wait", now);
      return askHour(now);
    },
    leave() {
      underWay++;
      spent++;
    },
    withdraw() {
      underWay--;
      spent--;
    },
    repeat() {
      spent++;
      hour.spend(false);
    },
    answered(limits, now, serverNow) {
      underWay--;
      pauses = 0;
      noteClock(now, serverNow);
      noteMonth(limits.month);
      hour.note(limits.hour, underWay, now + clockOffset);
    },
    lost() {
      underWay--;
      hour.spend(true);
      if (month) month.remaining--;
    },
    limited(kind, retryAfterSeconds, limits, now) {
      underWay--;
      if (kind !== "hour") {
        const until = retryAfterSeconds === undefined ? undefined : now + retryAfterSeconds * 1000;
        stopped = { kind: "stop", by: kind, until };
        return;
      }
      hour.noteOthers();
      hour.note(limits.hour, underWay);
      // Requests that were under way together are refused together: that is one refusal.
      if (pausedUntil <= now) pause(retryAfterSeconds, now);
    },
    seed(limits) {
      if (limits.month) month ??= { ...limits.month };
      hour.note(limits.hour, underWay);
    },
    setBack(milliseconds) {
      clockOffset += milliseconds;
      pausedUntil -= milliseconds;
    },
    get clockOffset() {
      return clockOffset;
    },
    get windowSeconds() {
      return hour.seconds;
    },
    get underWay() {
      return underWay;
    },
    get spent() {
      return spent;
    },
    get limits() {
      return { hour: hour.known, month };
    },
  };
}
