/**
 * When a request is sent again: the whole decision, as one pure function
 * (specification, Limits; promises, Configuration).
 */
import type { LimitKind } from "../errors.ts";
import type { ApiRequest } from "../wire.ts";

/** What went wrong in one attempt. */
export type Trouble =
  | { kind: "limited"; limit: LimitKind; retryAfterSeconds?: number }
  /** An answer of 500 and above. */
  | { kind: "failed"; status: number }
  /**
   * No connection was made: nothing can have been applied. `isLasting` when another try cannot help (a
   * certificate).
   */
  | { kind: "unconnected"; isLasting: boolean }
  /** A refusal (4xx) that was cut off: nothing was applied, and why is not known. */
  | { kind: "unexplained" }
  /** The connection was lost, or the answer did not come in time. */
  | { kind: "lost"; isTimeout: boolean };

export interface Situation {
  trouble: Trouble;
  effect: ApiRequest["effect"];
  /** Attempts made so far that were not answered with 429; the present one counts. */
  tries: number;
  /** Waits for a 429 so far. */
  limitWaits: number;
  /** Seconds waited for 429s so far. */
  waitedSeconds: number;
  /** Most seconds that may be waited for 429s in total. */
  maxWaitSeconds: number;
}

export type RetryDecision = { action: "stop" } | { action: "wait"; seconds: number };

/** Requests in total, the first included. */
const maxTries = 3;
/** Longest single wait for a 429, in seconds. */
const maxLimitWaitSeconds = 300;

const stopDecision: RetryDecision = { action: "stop" };

/**
 * A month's end and a blocked address are never waited for. The hour is, by min(Retry-After × 2^waits, 300)
 * seconds at a time, unless its end lies beyond what may still be waited: then waiting would be for nothing.
 * Reads are repeated after a lost connection, 502, 503 and 504; a write only when no connection was made, or
 * when it was refused in words that were lost.
 */
export function decideRetry(situation: Situation): RetryDecision {
  const { trouble, effect, tries } = situation;
  if (trouble.kind === "limited") return decideWait(trouble, situation);
  if (tries >= maxTries) return stopDecision;
  const again: RetryDecision = { action: "wait", seconds: computePauseSeconds(tries) };
  switch (trouble.kind) {
    case "unconnected":
      return trouble.isLasting ? stopDecision : again;
    case "unexplained":
      return again;
    case "lost":
      return effect === "read" && !trouble.isTimeout ? again : stopDecision;
    case "failed":
      return effect === "read" && [502, 503, 504].includes(trouble.status) ? again : stopDecision;
  }
}

function decideWait(
  trouble: Extract<Trouble, { kind: "limited" }>,
  { limitWaits, waitedSeconds, maxWaitSeconds }: Situation,
): RetryDecision {
  if (trouble.limit !== "hour") return stopDecision;
  // Nothing said, or "now": still leave the service a second.
  const needed = Math.max(1, trouble.retryAfterSeconds ?? 1);
  const left = maxWaitSeconds - waitedSeconds;
  if (needed > left) return stopDecision;
  const seconds = Math.min(needed * 2 ** Math.min(limitWaits, 30), maxLimitWaitSeconds, left);
  return { action: "wait", seconds };
}

/** 0.2 s, then 0.8 s. */
function computePauseSeconds(tries: number): number {
  return 0.2 * 4 ** (tries - 1);
}
