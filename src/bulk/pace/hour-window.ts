/**
 * The window of the hourly limit, as the answers describe it (specification, Limits). The account's other
 * users spend too: that shows when less is left than the own requests explain.
 */
import type { RateLimits } from "../../wire.ts";

export interface HourWindow {
  /** @param serverNow milliseconds by the service's clock; absent where nothing was answered just now */
  note(hour: RateLimits["hour"], underWay: number, serverNow?: number): void;
  /**
   * A request was sent whose answer will not be read.
   * @param isCounted it may have been counted by the service
   */
  spend(isCounted: boolean): void;
  /** A request was refused although some should have been left. */
  noteOthers(): void;
  /** The window is over: the first answer of the next one says what that holds. */
  end(): void;
  /** Whether answers say nothing of a window: there is no limit to keep. */
  readonly isUnknown: boolean;
  readonly hasOthers: boolean;
  /** How long a window is, in seconds; undefined until an answer has shown it. */
  readonly seconds: number | undefined;
  /** Undefined until an answer has told it. `reset` in Unix seconds, as the service says it. */
  readonly current: { limit: number; remaining: number; reset: number } | undefined;
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

export function createHourWindow(): HourWindow {
  let window: Window | undefined;
  let isUnknown = false;
  let hasOthers = false;
  let seconds: number | undefined;

  /** The first request of a window began it; and one window begins where the other ended, or later. */
  function noteLength(hour: { limit: number; remaining: number }, reset: number, serverNow?: number): void {
    const isFirst = hour.remaining === hour.limit - 1 && serverNow !== undefined;
    if (isFirst) seconds = Math.max(1, Math.round(reset - serverNow / 1000));
    else if (window) seconds = Math.min(reset - window.reset, seconds ?? Number.POSITIVE_INFINITY);
  }

  return {
    note(hour, underWay, serverNow) {
      // Without its end an hour cannot be planned with.
      if (hour?.reset === undefined) {
        isUnknown ||= !window;
        return;
      }
      isUnknown = false;
      const { reset } = hour;
      if (!window || reset > window.reset + 1) {
        noteLength(hour, reset, serverNow);
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
    },
    spend(isCounted) {
      if (!window) return;
      window.own++;
      if (isCounted) window.remaining--;
    },
    noteOthers() {
      hasOthers = true;
    },
    end() {
      window = undefined;
    },
    get isUnknown() {
      return isUnknown;
    },
    get hasOthers() {
      return hasOthers;
    },
    get seconds() {
      return seconds;
    },
    get current() {
      return window && { limit: window.limit, remaining: window.remaining, reset: window.reset };
    },
  };
}
