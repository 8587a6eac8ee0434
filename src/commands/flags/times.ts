/** Moments as people type them: RFC 3339, a date, or a duration from now. */
import { usageError } from "../../errors.ts";

const unitMilliseconds: Record<string, number> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/**
 * A moment in the past: RFC 3339, a date (its start, UTC), or how long ago, such as `24h`.
 * @returns milliseconds since the epoch @throws UsageError
 */
export function parsePastTime(text: string, flag: string, nowMilliseconds: number): number {
  const duration = parseDuration(text);
  const time = duration === undefined ? parseTimestamp(text) : nowMilliseconds - duration;
  if (time !== undefined) return time;
  throw usageError(
    `${flag}: ${JSON.stringify(text)} is not a time`,
    `Give ${flag} 2026-11-20T18:00:00Z, 2026-11-20, or 24h for the last 24 hours`,
  );
}

/** A future moment: RFC 3339, `HH:MM` today or tomorrow, or a duration such as `90m`. @throws UsageError */
export function parseFutureTime(text: string, flag: string, nowMilliseconds: number): number {
  const duration = parseDuration(text);
  if (duration !== undefined) return nowMilliseconds + duration;
  const clock = /^([01]?\d|2[0-3]):([0-5]\d)$/.exec(text);
  if (clock) {
    const at = new Date(nowMilliseconds);
    at.setHours(Number(clock[1]), Number(clock[2]), 0, 0);
    if (at.getTime() <= nowMilliseconds) at.setDate(at.getDate() + 1);
    return at.getTime();
  }
  const time = parseTimestamp(text);
  if (time !== undefined) return time;
  throw usageError(
    `${flag}: ${JSON.stringify(text)} is not a time`,
    "Give 2026-11-21T18:00:00Z, 18:00, or a duration such as 90m",
  );
}

function parseDuration(text: string): number | undefined {
  const [, amount, unit] = /^(\d+(?:\.\d+)?)([smhdw])$/.exec(text) ?? [];
  return amount === undefined ? undefined : Number(amount) * unitMilliseconds[unit!]!;
}

/**
 * A time with its zone, or a date (its start, UTC), in milliseconds since the epoch.
 * @returns undefined for anything else
 */
export function parseTimestamp(text: string): number | undefined {
  const isTime = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d))?$/i.test(text);
  const day = text.slice(0, 10);
  const start = isTime ? Date.parse(day) : Number.NaN;
  // JavaScript reads 30 February as 2 March.
  if (Number.isNaN(start) || !new Date(start).toISOString().startsWith(day)) return undefined;
  const time = Date.parse(text);
  return Number.isNaN(time) ? undefined : time;
}
