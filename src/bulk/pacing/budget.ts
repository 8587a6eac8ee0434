/**
 * Whether one more request may leave: a state machine over what the answers say of the limits (specification, Limits).
 * Times are milliseconds of the local clock. The account's other users spend too, so that what is left is read from
 * every answer, and the requests that are still under way are taken off it.
 */
import type { LimitKind } from "../../errors.ts";
import type { RateLimits } from "../../wire.ts";

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
  /** Wait for one of the requests under way to come back, then ask again. */
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

interface Window {
  limit: number;
  /** Smallest that any answer of this window said. */
  remaining: number;
  /** Unix seconds, as the service says it. */
  reset: number;
  /** For seeing what others spend: what the first answer said, and our answers since. */
  base: number;
  own: number;
}

export function createBudget(options: BudgetOptions): Budget {
  let window: Window | undefined;
  let month: { limit: number; remaining: number } | undefined;
  let saysNothing = false;
  let hasOthers = false;
  let underWay = 0;
  let spent = 0;
  let clockOffset = 0;
  let pausedUntil = 0;
  let pauses = 0;
  /** When the service said to come back; a pause may be shorter, to look whether others have left some. */
  let retryAt = 0;
  let windowSeconds: number | undefined;
  let stopped: Verdict | undefined;

  const localReset = (of: Window) => of.reset * 1000 - clockOffset + afterReset;

  function askHour(now: number): Verdict {
    if (window && now >= localReset(window)) window = undefined;
    if (!window) {
      // The first answer of a window says what it holds: one request goes ahead and asks.
      return saysNothing || underWay === 0 ? { kind: "go" } : { kind: "hold" };
    }
    const left = window.remaining - options.reserve;
    const mayBeUnderWay = hasOthers ? Math.floor(left / shareAmongOthers) : left;
    if (underWay < mayBeUnderWay) return { kind: "go" };
    if (underWay > 0) return { kind: "hold" };
    return waitUntil(localReset(window), "hourly limit reached", now);
  }

  function waitUntil(until: number, why: string, now: number): Verdict {
    if (!options.waits) {
      const isUsedUp = window !== undefined && window.remaining <= options.reserve;
      return {
        kind: "stop",
        by: "hour",
        until: Math.max(until, retryAt, isUsedUp ? localReset(window!) : 0),
      };
    }
    if (options.until !== undefined && until >= options.until) return { kind: "stop", by: "until" };
    return until <= now ? { kind: "go" } : { kind: "wait", until, why };
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
      if (window) window.own++;
    },
    answered(limits, now, serverNow) {
      underWay--;
      pauses = 0;
      if (serverNow !== undefined) {
        // The header is cut to whole seconds: a smaller difference says nothing.
        const offset = serverNow + 500 - now;
        clockOffset = Math.abs(offset) < 2000 ? 0 : offset;
      }
      if (limits.month) {
        const isNewPeriod = month && limits.month.remaining > month.remaining + 1000;
        const remaining =
          month && !isNewPeriod ? Math.min(month.remaining, limits.month.remaining) : limits.month.remaining;
        month = { limit: limits.month.limit, remaining };
      }
      noteHour(limits.hour, now);
    },
    lost() {
      underWay--;
      if (window) {
        window.remaining--;
        window.own++;
      }
      if (month) month.remaining--;
    },
    limited(kind, retryAfterSeconds, limits, now) {
      underWay--;
      if (kind !== "hour") {
        stopped = {
          kind: "stop",
          by: kind,
          until: retryAfterSeconds === undefined ? undefined : now + retryAfterSeconds * 1000,
        };
        return;
      }
      hasOthers = true;
      noteHour(limits.hour);
      // Requests that were under way together are refused together: that is one refusal.
      if (pausedUntil > now) return;
      const needed = Math.max(1, retryAfterSeconds ?? 1);
      retryAt = now + needed * 1000;
      const doubled = Math.min(needed * 2 ** Math.min(pauses, 20), longestPauseSeconds);
      pauses++;
      const reset = window && localReset(window);
      const until = now + doubled * 1000;
      // Past the window's end there is nothing left to wait for; the first request of the next one asks.
      pausedUntil = reset !== undefined && reset > now ? Math.min(until, reset) : until;
    },
    seed(limits) {
      if (limits.month) month ??= { ...limits.month };
      noteHour(limits.hour);
    },
    setBack(milliseconds) {
      clockOffset += milliseconds;
      pausedUntil -= milliseconds;
    },
    get clockOffset() {
      return clockOffset;
    },
    get windowSeconds() {
      return windowSeconds;
    },
    get underWay() {
      return underWay;
    },
    get spent() {
      return spent;
    },
    get limits() {
      const hour = window && { limit: window.limit, remaining: window.remaining, reset: window.reset };
      return { hour, month };
    },
  };

  function noteHour(hour: RateLimits["hour"], now?: number): void {
    // Without its end an hour cannot be planned with.
    if (hour?.reset === undefined) {
      saysNothing ||= !window;
      return;
    }
    saysNothing = false;
    const { reset } = hour;
    if (!window || reset > window.reset + 1) {
      // The first request of a window began it; and one window begins where the other ended, or later.
      const isFirst = hour.remaining === hour.limit - 1 && now !== undefined;
      if (isFirst) windowSeconds = Math.max(1, Math.round(reset - (now + clockOffset) / 1000));
      else if (window)
        windowSeconds = Math.min(reset - window.reset, windowSeconds ?? Number.POSITIVE_INFINITY);
      window = { ...hour, reset, base: hour.remaining, own: 0 };
      return;
    }
    // An answer of the window before came late.
    if (reset < window.reset - 1) return;
    window.own++;
    window.limit = hour.limit;
    window.remaining = Math.min(window.remaining, hour.remaining);
    // What is under way may be counted already; whatever goes beyond that, others have spent.
    if (window.base - window.remaining > window.own + underWay) hasOthers = true;
  }
}
