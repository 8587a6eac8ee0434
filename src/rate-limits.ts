/** What answers say of the limits: merged, and in words. Pure. */
import { formatCount } from "./counts.ts";
import { formatMoment } from "./moments.ts";

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

/**
 * `rate-limit: hour=3541/3600 reset=2026-11-21T14:00:00Z month=98742/100000`; undefined when nothing is
 * known.
 */
export function formatRateLimitLine(limits: RateLimits): string | undefined {
  const parts: string[] = [];
  if (limits.hour) {
    const { limit, remaining, reset } = limits.hour;
    parts.push(`hour=${remaining}/${limit}`);
    if (reset !== undefined) parts.push(`reset=${formatTimestamp(reset)}`);
  }
  if (limits.month) parts.push(`month=${limits.month.remaining}/${limits.month.limit}`);
  return parts.length === 0 ? undefined : `rate-limit: ${parts.join(" ")}`;
}

/** What is left of the hour and the month, for a person. @param now milliseconds since the epoch */
export function formatRateLimitSentence(limits: RateLimits, now: number): string | undefined {
  const { hour, month, monthReset } = limits;
  const parts: string[] = [];
  if (hour) {
    const reset = hour.reset === undefined ? "" : `, resets ${formatMoment(hour.reset * 1000, now)}`;
    parts.push(`${formatCount(hour.remaining)} of ${formatCount(hour.limit)} left${reset || " this hour"}`);
  }
  if (month) parts.push(`${formatCount(month.remaining)} of ${formatCount(month.limit)} this month`);
  if (monthReset !== undefined) parts.push(`the month resets ${formatMoment(monthReset * 1000, now)}`);
  return parts.length === 0 ? undefined : parts.join(" · ");
}

/** RFC 3339 in UTC, whole seconds. @param unixSeconds Unix time in seconds */
export function formatTimestamp(unixSeconds: number): string {
  return new Date(unixSeconds * 1000).toISOString().replace(".000Z", "Z");
}
