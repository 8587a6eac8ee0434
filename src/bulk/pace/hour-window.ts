/**
 * The window of the hourly limit, as the answers describe it (specification, Limits). The account's other
 * users spend too: that shows when less is left than the own requests explain.
 */
import type { RateLimits } from "../../wire.ts";

interface Window {
  limit: number;
  /** Smallest that any answer of this window said. */
  remaining: number;
  reset: number;
  /** For seeing what others spend: what the first answer said, and our answers since. */
  base: number;
  own: number;
}

export class HourWindow {
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
