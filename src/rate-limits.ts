/** The rate-limit headers of one answer; a part that was not sent is absent. */
export interface RateLimits {
  /** `reset` is Unix time in seconds. */
  hour?: { limit: number; remaining: number; reset?: number };
  month?: { limit: number; remaining: number };
  /** When the monthly quota starts anew: Unix time in seconds. Only a refusal says so. */
  monthReset?: number;
}

/** What is known after a further answer. A quota that was refused has nothing left. */
export function mergeLimits(known: RateLimits | undefined, seen: RateLimits): RateLimits {
  const limits = { ...known, ...seen };
  if (seen.month) return { ...limits, monthReset: undefined };
  if (seen.monthReset === undefined || !limits.month) return limits;
  return { ...limits, month: { ...limits.month, remaining: 0 } };
}
