/**
 * Failures in a row without an answer of the service: an outage is waited out, by one request at a time with
 * growing pauses between them, until one is answered or the attempts are used up. Each lost write is followed
 * by a read, so only an answered write shows that writes are answered again.
 */
import type { EcmError } from "../../errors.ts";
import type { ApiRequest } from "../../wire.ts";

type Effect = ApiRequest["effect"];

export interface Outage {
  /** Until when nothing is sent; undefined while the service answers. */
  readonly until: number | undefined;
  /** The service was reached, whatever it said. */
  noteReached(): void;
  /** It answered in its right mind: the outage, if there was one, is over. */
  end(effect: Effect): void;
  /** @returns false when it has lasted too long */
  noteFailure(effect: Effect, startedAt: number, now: number): boolean;
  /** Whether waiting cannot help. */
  isHopeless(error: EcmError): boolean;
  /** The clock was set back by so many milliseconds. */
  setBack(milliseconds: number): void;
}

/** Pauses after one, two, … failures, in milliseconds; then it has lasted too long. */
const pausesMilliseconds = [50, 500, 1500, 4000, 8000];

export function createOutage(): Outage {
  let failures = 0;
  let lostWrites = 0;
  let since = 0;
  let until = 0;
  let wasReached = false;
  return {
    get until() {
      return failures > 0 ? until : undefined;
    },
    noteReached() {
      wasReached = true;
    },
    end(effect) {
      failures = 0;
      if (effect === "write") lostWrites = 0;
    },
    noteFailure(effect, startedAt, now) {
      const before = effect === "write" ? Math.max(failures, lostWrites) : failures;
      // Requests that were under way together fail together: that is one failure.
      if (before > 0 && startedAt < since) return true;
      const pause = pausesMilliseconds[before];
      failures = before + 1;
      if (effect === "write") lostWrites = failures;
      since = now;
      until = now + (pause ?? 0);
      return pause !== undefined;
    },
    /**
     * A wrong address: when no connection was ever made, the attempts of a single request are enough. Or a
     * certificate that is not accepted.
     */
    isHopeless({ details }) {
      if (details.retryable === false) return true;
      return details.isUnconnected === true && !wasReached;
    },
    setBack(milliseconds) {
      until -= milliseconds;
      since -= milliseconds;
    },
  };
}
