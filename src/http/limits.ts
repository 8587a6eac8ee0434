/** The rate-limit headers of an answer (specification, Limits). Pure. */
import type { LimitKind } from "../errors.ts";
import type { RateLimits, WireAnswer } from "../wire.ts";

type Headers = Readonly<Record<string, string>>;

/** A later time is invalid: no date can hold it. */
const maxUnixSeconds = 8.64e12;

/** What the headers say; a part that is missing or no number is left out. */
export function readLimits(headers: Headers): RateLimits {
  const limits: RateLimits = {};
  const hour = {
    limit: parseInteger(headers["x-ratelimit-limit"]),
    remaining: parseInteger(headers["x-ratelimit-remaining"]),
  };
  const reset = readReset(headers);
  const month = {
    limit: parseInteger(headers["x-monthly-limit"]),
    remaining: parseInteger(headers["x-monthly-remaining"]),
  };
  if (isWhole(hour)) limits.hour = reset === undefined ? hour : { ...hour, reset };
  if (isWhole(month)) limits.month = month;
  return limits;
}

/** What a whole answer says of the limits: the refusal for the month says when the quota starts anew. */
export function readAnswerLimits({ status, headers, text }: WireAnswer, now: number): RateLimits {
  const limits = readLimits(headers);
  if (status !== 429) return limits;
  const seconds = readRetryAfter(headers, now);
  if (seconds === undefined || findLimitKind(text, headers, seconds) !== "month") return limits;
  const monthReset = Math.ceil(now / 1000 + seconds);
  return monthReset < maxUnixSeconds ? { ...limits, monthReset } : limits;
}

/**
 * Seconds to wait: `Retry-After` as a number or a date, else the time to the window's reset; undefined when
 * neither.
 */
export function readRetryAfter(headers: Headers, nowMilliseconds: number): number | undefined {
  const text = headers["retry-after"]?.trim();
  const seconds = parseInteger(text);
  if (seconds !== undefined) return seconds;
  const date = text ? Date.parse(text) : Number.NaN;
  const until = Number.isNaN(date) ? readReset(headers) : date / 1000;
  return until === undefined ? undefined : Math.max(0, Math.ceil(until - nowMilliseconds / 1000));
}

/**
 * Which limit a 429 speaks of: by its message, else by what the headers say is used up, else by how long it
 * lasts.
 */
export function findLimitKind(
  message: string,
  headers: Headers,
  retryAfterSeconds: number | undefined,
): LimitKind {
  if (/month/i.test(message)) return "month";
  if (/authentication/i.test(message)) return "address";
  if (/rate limit/i.test(message)) return "hour";
  if (parseInteger(headers["x-monthly-remaining"]) === 0) return "month";
  // No hour lasts longer than an hour.
  return retryAfterSeconds !== undefined && retryAfterSeconds > 3600 ? "month" : "hour";
}

/** In Unix seconds, where a larger number has milliseconds: as seconds it would lie beyond the year 5000. */
function readReset(headers: Headers): number | undefined {
  const reset = parseInteger(headers["x-ratelimit-reset"]);
  return reset !== undefined && reset > 1e11 ? Math.ceil(reset / 1000) : reset;
}

function parseInteger(text: string | undefined): number | undefined {
  return text !== undefined && /^\s*\d{1,15}\s*$/.test(text) ? Number(text) : undefined;
}

function isWhole<T extends Record<string, number | undefined>>(part: T): part is T & Record<keyof T, number> {
  return Object.values(part).every((value) => value !== undefined);
}
