/** Setting the service's time: to a time, by a duration, back to the real one. It ticks on from there. */
import type { ClockChange } from "../public-types.ts";
import { invalid } from "../rules/refusal.ts";
import { checkTimeRange, clockBody, parseBody, parseDuration, parseTime } from "./bodies.ts";

/**
 * @param before the service's time less the real one; like the result, in milliseconds
 * @throws Refusal for members that contradict each other, and a time that is none or out of range
 */
export function changedClock(change: ClockChange, before: number, realNow: number): number {
  const { time, advance, real } = parseBody(clockBody, change);
  const moves = [time, advance, real].filter((each) => each !== undefined).length;
  if (moves !== 1) throw invalid("Give one of time, advance and real");
  if (real) return 0;
  const wanted =
    time !== undefined
      ? parseTime(time, "time")
      : checkTimeRange(realNow + before + parseDuration(advance!, "advance"), "advance");
  return Math.round(wanted - realNow);
}
