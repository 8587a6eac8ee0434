/** Setting the service's time: to a time, by a duration, back to the real one; running or standing still. */
import type { ClockChange } from "../public-types.ts";
import { invalid } from "../rules/refusal.ts";
import { type ClockSettings, realTime, serviceTimeAt } from "../store/settings.ts";
import { checkTimeRange, clockBody, invalidAt, parseBody, parseDuration, parseTime } from "./bodies.ts";

/** @throws Refusal for members that contradict each other */
export function checkedClockChange(change: ClockChange): ClockChange {
  const wanted = parseBody(clockBody, change);
  const { time, advance, real, frozen } = wanted;
  const moves = [time, advance, real].filter((each) => each !== undefined).length;
  if (moves > 1 || (moves === 0 && frozen === undefined)) {
    throw invalid("Give one of time, advance and real; or frozen, alone or with time or advance");
  }
  if (real && frozen !== undefined) throw invalidAt("frozen", "cannot be given with real");
  return wanted;
}

/** @throws Refusal for a time that is none, or out of range */
export function changedClock(
  { time, advance, real, frozen }: ClockChange,
  before: ClockSettings,
  realNow: number,
): ClockSettings {
  if (real) return realTime;
  let wanted = serviceTimeAt(before, realNow);
  if (time !== undefined) wanted = parseTime(time, "time");
  if (advance !== undefined) wanted = checkTimeRange(wanted + parseDuration(advance, "advance"), "advance");
  const isFrozen = frozen ?? before.clock_frozen_at !== null;
  wanted = Math.round(wanted);
  return { clock_offset: Math.round(wanted - realNow), clock_frozen_at: isFrozen ? wanted : null };
}
