/** What the rate-limit headers of one answer said; a part that was not sent is absent. */
export interface RateLimits {
  /** `reset` is Unix time in seconds. */
  hour?: { limit: number; remaining: number; reset?: number };
  month?: { limit: number; remaining: number };
}
