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
  /** No hour has more than the reserve. */
  | { kind: "never"; limit: number }
  /** `until`: when a limit allows requests again, where that is known. */
  | { kind: "stop"; by: BudgetStop; until?: number };

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
  /** Requests that have left and did not come back yet. */
  underWay = 0;
  readonly options: BudgetOptions;
  private readonly hour = new HourWindow();
  private readonly pause = new Pause();
  private month: RateLimits["month"];
  /** Whether one more request was sent although the month is used up. */
  private hasAskedMonth = false;
  private spent: number;
  /** The service has refused a request for a limit that is never waited for. */
  private refused: Verdict | undefined;

  /** @param sentBefore requests of this invocation that were sent already */
  constructor(options: BudgetOptions, sentBefore = 0) {
    this.options = options;
    this.spent = sentBefore;
  }

  /** What is known of the limits, newest first of each answer. */
  get limits(): RateLimits {
    return { hour: this.hour.current, month: this.month };
  }

  /** When the hour's window ends; undefined while it is not known. */
  private get reset(): number | undefined {
    const { current } = this.hour;
    return current && current.reset * 1000 - this.clockOffset + marginAfterResetMilliseconds;
  }

  decide(now: number): Verdict {
    const verdict = this.refused ?? this.checkLimits(now) ?? this.checkMonth();
    if (verdict) return verdict;
    if (this.pause.until > now) return this.waitOrStop(this.pause.until, "the service asked to wait");
    if (this.reset !== undefined && now >= this.reset) this.hour.end();
    return this.checkHour();
  }

  /** A request leaves. */
  reserve(): void {
    if (this.month && this.month.remaining < 1) this.hasAskedMonth = true;
    this.underWay++;
    this.spent++;
  }

  /** A request that was reserved does not leave after all. */
  release(): void {
    this.underWay--;
    this.spent--;
  }

  /** A request that was reserved was sent once more below. */
  noteRepeat(): void {
    this.spent++;
    this.hour.spend(false);
  }

  /** It came back. @param serverNow the answer's own time, when it said one */
  noteAnswer(limits: RateLimits, now: number, serverNow?: number): void {
    this.underWay--;
    this.pause.answered();
    if (serverNow !== undefined) this.clockOffset = computeClockOffset(serverNow, now);
    this.month = toSmallerLimit(this.month, limits.month);
    this.hour.note(limits.hour, this.underWay);
  }

  /** No answer came: it may have been counted. */
  noteLost(): void {
    this.underWay--;
    this.hour.spend(true);
    if (this.month) this.month.remaining--;
  }

  /** A 429: it was not counted. */
  noteLimited(
    kind: LimitKind,
    { retryAfterSeconds, limits }: { retryAfterSeconds: number | undefined; limits: RateLimits },
    now: number,
  ): void {
    this.underWay--;
    if (kind !== "hour") {
      const until = retryAfterSeconds === undefined ? undefined : now + retryAfterSeconds * 1000;
      this.refused = { kind: "stop", by: kind, until };
      return;
    }
    this.hour.hasOthers = true;
    this.hour.note(limits.hour, this.underWay);
    this.pause.begin(retryAfterSeconds, now, this.reset);
  }

  /** What limits said before this run began to count. */
  seed(limits: RateLimits): void {
    this.month ??= limits.month && { ...limits.month };
    this.hour.note(limits.hour, this.underWay);
  }

  private checkLimits(now: number): Verdict | undefined {
    const { maxRequests, until } = this.options;
    if (maxRequests !== undefined && this.spent >= maxRequests) return { kind: "stop", by: "max-requests" };
    return until !== undefined && now >= until ? { kind: "stop", by: "until" } : undefined;
  }

  private checkMonth(): Verdict | undefined {
    const { month, underWay, hasAskedMonth } = this;
    const { reserve } = this.options;
    if (!month || month.remaining - reserve - underWay >= 1) return undefined;
    if (underWay > 0) return { kind: "hold" };
    // Headers do not say when the next period begins. A refusal does, and counts against no limit.
    const mayAsk = month.remaining < 1 && reserve === 0 && !hasAskedMonth;
    return mayAsk ? undefined : { kind: "stop", by: "month" };
  }

  /** To be asked of a window that has not ended. */
  private checkHour(): Verdict {
    const { hour, reset, underWay } = this;
    if (!hour.current || reset === undefined) {
      // The first answer of a window says what it holds: one request goes ahead and asks.
      return hour.isUnknown || underWay === 0 ? { kind: "go" } : { kind: "hold" };
    }
    const { limit, remaining } = hour.current;
    if (limit <= this.options.reserve) return { kind: "never", limit };
    const left = remaining - this.options.reserve;
    const mayBeUnderWay = hour.hasOthers ? Math.floor(left / otherClientsShare) : left;
    if (underWay < mayBeUnderWay) return { kind: "go" };
    return underWay > 0 ? { kind: "hold" } : this.waitOrStop(reset, "hourly limit reached");
  }

  private waitOrStop(until: number, why: string): Verdict {
    const { options, hour, pause, reset = 0 } = this;
    const by = !options.waits ? "hour" : until >= (options.until ?? Infinity) ? "until" : undefined;
    if (!by) return { kind: "wait", until, why };
    // A pause may be shorter than the limit lasts.
    const isUsedUp = hour.current !== undefined && hour.current.remaining <= options.reserve;
    return { kind: "stop", by, until: Math.max(until, pause.retryAt, isUsedUp ? reset : 0) };
  }
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

/**
 * The window of the hourly limit, as the answers describe it (specification, Limits). The account's other
 * users spend too: that shows when less is left than the own requests explain.
 */
class HourWindow {
  /** `reset` in Unix seconds, as the service says it; `remaining`: the smallest that any answer said. */
  current: { limit: number; remaining: number; reset: number } | undefined;
  /** Whether answers say nothing of a window: there is no limit to keep. */
  isUnknown = false;
  /** Others were seen to spend, or a request was refused although some should have been left. */
  hasOthers = false;
  /** What the first answer of the window said was left, and our answers since. */
  private first = 0;
  private own = 0;

  note(hour: RateLimits["hour"], underWay: number): void {
    const { current } = this;
    // Without its end an hour cannot be planned with.
    if (hour?.reset === undefined) {
      this.isUnknown ||= !current;
      return;
    }
    this.isUnknown = false;
    const { limit, remaining, reset } = hour;
    if (!current || reset > current.reset + 1) {
      this.current = { limit, remaining, reset };
      this.first = remaining;
      this.own = 0;
      return;
    }
    // An answer of the window before came late.
    if (reset < current.reset - 1) return;
    this.own++;
    current.limit = limit;
    current.remaining = Math.min(current.remaining, remaining);
    // What is under way may be counted already; whatever goes beyond that, others have spent.
    if (this.first - current.remaining > this.own + underWay) this.hasOthers = true;
  }

  /**
   * A request was sent whose answer will not be read.
   * @param isCounted it may have been counted by the service
   */
  spend(isCounted: boolean): void {
    this.own++;
    if (isCounted && this.current) this.current.remaining--;
  }

  /** The window is over: the first answer of the next one says what that holds. */
  end(): void {
    this.current = undefined;
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
