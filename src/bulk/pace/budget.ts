/**
 * What the answers say of the limits, and so whether one more request may leave (specification, Limits).
 * Times are milliseconds of the local clock. The account's other users spend too, so that what is left is
 * read from every answer, and the requests that are still under way are taken off it.
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
  /** Wait for one of the requests under way to end, then ask again. */
  | { kind: "hold" }
  | { kind: "wait"; until: number; why: string }
  /** `until`: when a limit allows requests again, where that is known. */
  | { kind: "stop"; by: BudgetStop; until?: number };

/** What is known when a request asks. */
interface BudgetState {
  readonly hour: Pick<HourWindow, "current" | "isUnknown" | "hasOthers">;
  /** When the hour's window ends; undefined while it is not known. */
  readonly reset: number | undefined;
  readonly month: RateLimits["month"];
  readonly pause: Pick<Pause, "until" | "retryAt">;
  /** Whether one more request was sent although the month is used up. */
  readonly hasAskedMonth: boolean;
  readonly underWay: number;
  readonly spent: number;
}

/**
 * Other users' requests that arrive between an answer and our
 * next request are met by leaving them this share.
 */
const otherClientsShare = 4;
/** Past the window's end by this much, so that no request arrives before it. */
const marginAfterResetMilliseconds = 250;

export class Budget {
  /** The service's clock minus ours, in milliseconds; 0 while they agree. */
  clockOffset = 0;
  private readonly options: BudgetOptions;
  private readonly hour = new HourWindow();
  private readonly pause = new Pause();
  private month: RateLimits["month"];
  private hasAskedMonth = false;
  private inFlight = 0;
  private spent: number;
  private stopped: Verdict | undefined;

  /** @param sentBefore requests of this invocation that were sent already */
  constructor(options: BudgetOptions, sentBefore = 0) {
    this.options = options;
    this.spent = sentBefore;
  }

  get underWay(): number {
    return this.inFlight;
  }

  /** How long a window of the hourly limit is, in seconds; undefined until an answer has shown it. */
  get windowSeconds(): number | undefined {
    return this.hour.seconds;
  }

  /** What is known of the limits, newest first of each answer. */
  get limits(): RateLimits {
    return { hour: this.hour.current, month: this.month };
  }

  decide(now: number): Verdict {
    const state = this.state();
    const verdict = this.stopped ?? checkLimits(this.options, state, now);
    if (verdict) return verdict;
    if (state.reset !== undefined && now >= state.reset) this.hour.end();
    return checkHour(this.options, this.state());
  }

  /** A request leaves. */
  reserve(): void {
    if (this.month && this.month.remaining < 1) this.hasAskedMonth = true;
    this.inFlight++;
    this.spent++;
  }

  /** A request that `leave` announced does not leave after all. */
  release(): void {
    this.inFlight--;
    this.spent--;
  }

  /** A request that `leave` announced was sent once more below. */
  noteRepeat(): void {
    this.spent++;
    this.hour.spend(false);
  }

  /** It came back. @param serverNow the answer's own time, when it said one */
  noteAnswer(limits: RateLimits, now: number, serverNow?: number): void {
    this.inFlight--;
    this.pause.answered();
    if (serverNow !== undefined) this.clockOffset = computeClockOffset(serverNow, now);
    this.month = toSmallerLimit(this.month, limits.month);
    this.hour.note(limits.hour, this.inFlight, now + this.clockOffset);
  }

  /** No answer came: it may have been counted. */
  noteLost(): void {
    this.inFlight--;
    this.hour.spend(true);
    if (this.month) this.month.remaining--;
  }

  /** A 429: it was not counted. */
  noteLimited(
    kind: LimitKind,
    { retryAfterSeconds, limits }: { retryAfterSeconds: number | undefined; limits: RateLimits },
    now: number,
  ): void {
    this.inFlight--;
    if (kind !== "hour") {
      const until = retryAfterSeconds === undefined ? undefined : now + retryAfterSeconds * 1000;
      this.stopped = { kind: "stop", by: kind, until };
      return;
    }
    this.hour.noteOthers();
    this.hour.note(limits.hour, this.inFlight);
    this.pause.begin(retryAfterSeconds, now, this.state().reset);
  }

  /** What limits said before this run began to count. */
  seed(limits: RateLimits): void {
    this.month ??= toSmallerLimit(undefined, limits.month);
    this.hour.note(limits.hour, this.inFlight);
  }

  private state(): BudgetState {
    const { hour, pause, month, hasAskedMonth, inFlight: underWay, spent, clockOffset } = this;
    const reset = hour.current && hour.current.reset * 1000 - clockOffset + marginAfterResetMilliseconds;
    return { hour, pause, month, hasAskedMonth, underWay, spent, reset };
  }
}

/** Undefined when only the hourly limit is left to be asked. */
function checkLimits(options: BudgetOptions, state: BudgetState, now: number): Verdict | undefined {
  const { month, pause, underWay, spent } = state;
  const { maxRequests, until, reserve } = options;
  if (maxRequests !== undefined && spent >= maxRequests) return { kind: "stop", by: "max-requests" };
  if (until !== undefined && now >= until) return { kind: "stop", by: "until" };
  if (month && month.remaining - reserve - underWay < 1) {
    if (underWay > 0) return { kind: "hold" };
    // Headers do not say when the next period begins. A refusal does, and counts against no limit.
    const mayAsk = month.remaining < 1 && reserve === 0 && !state.hasAskedMonth;
    if (!mayAsk) return { kind: "stop", by: "month" };
  }
  return pause.until > now ? waitOrStop(pause.until, "the service asked to wait", options, state) : undefined;
}

/** To be asked of a window that has not ended. */
function checkHour(options: BudgetOptions, state: BudgetState): Verdict {
  const { hour, reset, underWay } = state;
  if (!hour.current || reset === undefined) {
    // The first answer of a window says what it holds: one request goes ahead and asks.
    return hour.isUnknown || underWay === 0 ? { kind: "go" } : { kind: "hold" };
  }
  const left = hour.current.remaining - options.reserve;
  const mayBeUnderWay = hour.hasOthers ? Math.floor(left / otherClientsShare) : left;
  if (underWay < mayBeUnderWay) return { kind: "go" };
  return underWay > 0 ? { kind: "hold" } : waitOrStop(reset, "hourly limit reached", options, state);
}

function waitOrStop(until: number, why: string, options: BudgetOptions, state: BudgetState): Verdict {
  if (!options.waits) {
    const { hour, reset = 0, pause } = state;
    const isUsedUp = hour.current !== undefined && hour.current.remaining <= options.reserve;
    return { kind: "stop", by: "hour", until: Math.max(until, pause.retryAt, isUsedUp ? reset : 0) };
  }
  if (options.until !== undefined && until >= options.until) return { kind: "stop", by: "until", until };
  return { kind: "wait", until, why };
}

/** The service's clock minus ours; 0 while they agree. */
function computeClockOffset(serverNow: number, now: number): number {
  // The header is cut to whole seconds: a smaller difference says nothing.
  const offset = serverNow + 500 - now;
  return Math.abs(offset) < 2000 ? 0 : offset;
}

/** The smaller of what was known and what was said of this month, unless a new month has begun. */
function toSmallerLimit(current: RateLimits["month"], reported: RateLimits["month"]): RateLimits["month"] {
  if (!reported) return current;
  const isNewPeriod = current && reported.remaining > current.remaining + 1000;
  const remaining =
    current && !isNewPeriod ? Math.min(current.remaining, reported.remaining) : reported.remaining;
  return { limit: reported.limit, remaining };
}

interface Window {
  limit: number;
  /** Smallest that any answer of this window said. */
  remaining: number;
  reset: number;
  /** For seeing what others spend: what the first answer said, and our answers since. */
  base: number;
  own: number;
}

/**
 * The window of the hourly limit, as the answers describe it (specification, Limits). The account's other
 * users spend too: that shows when less is left than the own requests explain.
 */
class HourWindow {
  /** Whether answers say nothing of a window: there is no limit to keep. */
  isUnknown = false;
  hasOthers = false;
  /** How long a window is, in seconds; undefined until an answer has shown it. */
  seconds: number | undefined;
  private window: Window | undefined;

  /** Undefined until an answer has told it. `reset` in Unix seconds, as the service says it. */
  get current(): { limit: number; remaining: number; reset: number } | undefined {
    const { window } = this;
    return window && { limit: window.limit, remaining: window.remaining, reset: window.reset };
  }

  /** @param serverNow milliseconds by the service's clock; absent where nothing was answered just now */
  note(hour: RateLimits["hour"], underWay: number, serverNow?: number): void {
    const { window } = this;
    // Without its end an hour cannot be planned with.
    if (hour?.reset === undefined) {
      this.isUnknown ||= !window;
      return;
    }
    this.isUnknown = false;
    const { reset } = hour;
    if (!window || reset > window.reset + 1) {
      this.noteLength(hour, reset, serverNow);
      this.window = { ...hour, reset, base: hour.remaining, own: 0 };
      return;
    }
    // An answer of the window before came late.
    if (reset < window.reset - 1) return;
    window.own++;
    window.limit = hour.limit;
    window.remaining = Math.min(window.remaining, hour.remaining);
    // What is under way may be counted already; whatever goes beyond that, others have spent.
    if (window.base - window.remaining > window.own + underWay) this.hasOthers = true;
  }

  /**
   * A request was sent whose answer will not be read.
   * @param isCounted it may have been counted by the service
   */
  spend(isCounted: boolean): void {
    if (!this.window) return;
    this.window.own++;
    if (isCounted) this.window.remaining--;
  }

  /** A request was refused although some should have been left. */
  noteOthers(): void {
    this.hasOthers = true;
  }

  /** The window is over: the first answer of the next one says what that holds. */
  end(): void {
    this.window = undefined;
  }

  /** The first request of a window began it; and one window begins where the other ended, or later. */
  private noteLength(hour: { limit: number; remaining: number }, reset: number, serverNow?: number): void {
    const isFirst = hour.remaining === hour.limit - 1 && serverNow !== undefined;
    if (isFirst) this.seconds = Math.max(1, Math.round(reset - serverNow / 1000));
    else if (this.window)
      this.seconds = Math.min(reset - this.window.reset, this.seconds ?? Number.POSITIVE_INFINITY);
  }
}

const maxPauseSeconds = 300;

/** The pause after a request that was refused for the hourly limit; it grows with every refusal in a row. */
class Pause {
  until = 0;
  /** When the service said to try again; a pause may be shorter, to look whether others have left some. */
  retryAt = 0;
  private inARow = 0;

  /** @param reset the window's end, where known: past it there is nothing left to wait for */
  begin(retryAfterSeconds: number | undefined, now: number, reset: number | undefined): void {
    // Requests that were under way together are refused together: that is one refusal.
    if (this.until > now) return;
    const needed = Math.max(1, retryAfterSeconds ?? 1);
    this.retryAt = now + needed * 1000;
    const end = now + Math.min(needed * 2 ** Math.min(this.inARow, 20), maxPauseSeconds) * 1000;
    this.inARow++;
    this.until = reset !== undefined && reset > now ? Math.min(end, reset) : end;
  }

  /** The next pause is a short one again. */
  answered(): void {
    this.inARow = 0;
  }
}
