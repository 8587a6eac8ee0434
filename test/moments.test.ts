import { expect, it } from "vitest";
import { formatDuration, formatMoment } from "../src/moments.ts";

const now = Date.parse("2026-11-22T13:48:20Z");

it.each<[at: string, words: string]>([
  ["2026-11-22T13:48:10Z", "in 1 s"],
  ["2026-11-22T13:48:20.400Z", "in 1 s"],
  ["2026-11-22T13:49:00Z", "in 40 s"],
  ["2026-11-22T14:31:00Z", "at 14:31 (in 43 min)"],
  ["2026-11-22T14:30:21Z", "at 14:31 (in 42 min)"],
  ["2026-11-22T14:30:01Z", "at 14:30 (in 42 min)"],
  ["2026-11-22T23:59:30Z", "tomorrow at 00:00 (in 10.2 h)"],
  ["2026-11-23T01:00:00Z", "tomorrow at 01:00 (in 11.2 h)"],
  ["2026-12-01T00:00:00Z", "on 1 December at 00:00 (in 8 days)"],
  ["2027-01-01T00:00:00Z", "on 1 January 2027 at 00:00 (in 39 days)"],
])("the moment %s is %s", (at, words) => expect(formatMoment(Date.parse(at), now)).toBe(words));

it("a moment is not known where no date can hold it", () => {
  expect(formatMoment(undefined, now)).toBeUndefined();
  expect(formatMoment(9e15, now)).toBeUndefined();
  expect(formatMoment(8.64e15, now)).toMatch(/^on \d+ September 275760 at 00:00/);
});

it("a length of time has one part", () => {
  const told = [0.2, 45, 720, 12_240, 1_000_000].map(formatDuration);
  expect(told).toEqual(["under 1 s", "45 s", "12 min", "3.4 h", "11.6 days"]);
});
