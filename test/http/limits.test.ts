import fc from "fast-check";
import { expect, it } from "vitest";
import { findLimitKind, readLimits, readRetryAfter } from "../../src/http/limits.ts";

const whole = {
  "x-ratelimit-limit": "3600",
  "x-ratelimit-remaining": "3541",
  "x-ratelimit-reset": "1795269600",
  "x-monthly-limit": "100000",
  "x-monthly-remaining": "98742",
};

it("takes a reset in milliseconds for what it is", () => {
  const headers = { ...whole, "x-ratelimit-reset": "1795269600500" };
  expect(readLimits(headers).hour?.reset).toBe(1795269601);
  expect(readRetryAfter(headers, 1795269600000)).toBe(1);
});

it("takes nothing but whole numbers, whatever the headers hold", () => {
  const value = fc.oneof(fc.string(), fc.constantFrom("-1", "1e9", "0x10", " 5 ", "9".repeat(30), "1.5", ""));
  const headers = fc.record(Object.fromEntries(Object.keys(whole).map((name) => [name, value])));
  fc.assert(
    fc.property(headers, (given) => {
      for (const part of Object.values(readLimits(given as Record<string, string>))) {
        for (const number of Object.values(part)) expect(Number.isSafeInteger(number)).toBe(true);
      }
      const { hour } = readLimits(given as Record<string, string>);
      if (hour?.reset !== undefined) expect(() => new Date(hour.reset! * 1000).toISOString()).not.toThrow();
    }),
  );
});

const now = Date.parse("2026-11-21T13:00:00Z");
it.each<[string, Record<string, string>, number | undefined]>([
  ["seconds", { "retry-after": "17" }, 17],
  ["a date", { "retry-after": "Sat, 21 Nov 2026 13:00:30 GMT" }, 30],
  ["a date that has passed", { "retry-after": "Sat, 21 Nov 2026 12:00:30 GMT" }, 0],
  ["nonsense, with a reset", { "retry-after": "soon", "x-ratelimit-reset": String(now / 1000 + 9) }, 9],
  ["nothing", {}, undefined],
])("Retry-After is read when it holds %s", (_name, headers, seconds) => {
  expect(readRetryAfter(headers, now)).toBe(seconds);
});

it.each<[string, Record<string, string>, number | undefined, string]>([
  ["Rate limit exceeded. Retry after 17 seconds.", {}, 17, "hour"],
  ["Monthly API quota exceeded.", {}, 17, "month"],
  ["Too many failed authentication attempts. Please try again later.", {}, 17, "address"],
  ["something else", { "x-monthly-remaining": "0" }, 17, "month"],
  ["something else", { "x-ratelimit-remaining": "0" }, 17, "hour"],
  ["something else", {}, 86_400, "month"],
  ["something else", {}, undefined, "hour"],
])("a 429 of %j with %o after %s s is the %s", (message, headers, seconds, kind) => {
  expect(findLimitKind(message, headers, seconds)).toBe(kind);
});
