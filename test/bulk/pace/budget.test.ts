import { expect, it } from "vitest";
import { Budget } from "../../../src/bulk/pace/budget.ts";
import type { RateLimits } from "../../../src/wire.ts";

const open = { reserve: 0, waits: true };
const start = Date.parse("2026-11-21T12:00:00Z");
const reset = start / 1000 + 600;
const hour = (remaining: number, at = reset): RateLimits => ({ hour: { limit: 100, remaining, reset: at } });

/** One that knows how many the hour holds. */
function holding(remaining: number, options: Partial<ConstructorParameters<typeof Budget>[0]> = {}): Budget {
  const budget = new Budget({ ...open, ...options });
  budget.seed(hour(remaining));
  return budget;
}

/** Leaves as often as it may, up to `most`. */
function burst(budget: Budget, maxRequests = 1000, now = start): number {
  let left = 0;
  while (left < maxRequests && budget.decide(now).kind === "go") {
    budget.reserve();
    left++;
  }
  return left;
}

it("lets one request ask what the window holds, then as many as it holds", () => {
  const budget = new Budget(open);
  expect(burst(budget)).toBe(1);
  expect(budget.decide(start)).toEqual({ kind: "hold" });
  budget.noteAnswer(hour(7), start);
  expect(burst(budget)).toBe(7);
  expect(budget.decide(start)).toEqual({ kind: "hold" });
});

it("waits for the window's end when nothing is left, and then asks again", () => {
  const budget = holding(0);
  expect(budget.decide(start)).toMatchObject({ kind: "wait", until: reset * 1000 + 250 });
  expect(burst(budget, 1000, reset * 1000 + 250)).toBe(1);
  budget.noteAnswer(hour(99, reset + 3600), reset * 1000 + 300);
  expect(burst(budget, 1000, reset * 1000 + 300)).toBe(99);
});

it("keeps the reserve, and waits for no hour that cannot hold it", () => {
  expect(burst(holding(30, { reserve: 10 }))).toBe(20);
  expect(holding(100, { reserve: 100 }).decide(start)).toEqual({ kind: "never", limit: 100 });
});

it("believes the smallest number of a window, whatever the order of the answers", () => {
  const budget = holding(50);
  expect(burst(budget, 3)).toBe(3);
  for (const remaining of [47, 49, 48]) budget.noteAnswer(hour(remaining), start);
  expect(budget.limits.hour?.remaining).toBe(47);
  expect(burst(budget)).toBe(47);
});

it("slows down towards the end of a window that others spend from too", () => {
  const budget = holding(60);
  for (let step = 0, remaining = 60; step < 10; step++) {
    budget.reserve();
    remaining -= 3;
    budget.noteAnswer(hour(remaining), start);
  }
  expect(budget.limits.hour?.remaining).toBe(30);
  expect(burst(budget)).toBe(7);
});

it("stops after so many requests, at a time, and at the month's end", () => {
  const limited = holding(50, { maxRequests: 2 });
  expect(burst(limited)).toBe(2);
  expect(limited.decide(start)).toMatchObject({ kind: "stop", by: "max-requests" });
  expect(new Budget({ ...open, until: start }).decide(start)).toMatchObject({ kind: "stop", by: "until" });
  const month = new Budget({ ...open, reserve: 5 });
  month.seed({ ...hour(50), month: { limit: 1000, remaining: 8 } });
  expect(burst(month)).toBe(3);
  expect(month.decide(start)).toEqual({ kind: "hold" });
  for (const remaining of [7, 6, 5]) month.noteAnswer({ month: { limit: 1000, remaining } }, start);
  expect(month.decide(start)).toMatchObject({ kind: "stop", by: "month" });
});

it("waits longer after each 429 in a row, but not beyond the window's end", () => {
  const budget = new Budget(open);
  budget.reserve();
  budget.noteLimited("hour", { retryAfterSeconds: 10, limits: hour(0) }, start);
  expect(budget.decide(start)).toMatchObject({ kind: "wait", until: start + 10_000 });
  budget.reserve();
  budget.noteLimited("hour", { retryAfterSeconds: 10, limits: hour(0) }, start + 10_000);
  expect(budget.decide(start + 10_000)).toMatchObject({ until: start + 30_000 });
  budget.reserve();
  budget.noteLimited("hour", { retryAfterSeconds: 3600, limits: hour(0) }, start + 500_000);
  expect(budget.decide(start + 500_000)).toMatchObject({ until: reset * 1000 + 250 });
});

it.each([
  ["--no-wait", { waits: false }, "hour"],
  ["--until", { until: start + 3_000 }, "until"],
])("stops with %s in place of waiting, and says when the limit ends", (_name, options, by) => {
  const stop = { kind: "stop", by, until: reset * 1000 + 250 };
  expect(holding(0, options).decide(start)).toEqual(stop);
  const budget = new Budget({ ...open, ...options });
  budget.reserve();
  budget.noteLimited("hour", { retryAfterSeconds: 600, limits: hour(0) }, start);
  expect(budget.decide(start)).toEqual(stop);
});

it("takes refusals of requests that were under way together for one", () => {
  const budget = holding(50);
  burst(budget, 8);
  for (let request = 0; request < 8; request++)
    budget.noteLimited("hour", { retryAfterSeconds: 10, limits: {} }, start + request);
  expect(budget.decide(start + 8)).toMatchObject({ kind: "wait", until: start + 10_000 });
});

it.each(["month", "address"] as const)("never waits for a 429 of the %s", (kind) => {
  const budget = new Budget(open);
  budget.reserve();
  budget.noteLimited(kind, { retryAfterSeconds: 86_400, limits: {} }, start);
  expect(budget.decide(start)).toEqual({ kind: "stop", by: kind, until: start + 86_400_000 });
});

it("goes by the service's clock where ours is wrong", () => {
  const budget = new Budget(open);
  budget.reserve();
  budget.noteAnswer(hour(0), start, start + 120_000);
  const verdict = budget.decide(start);
  expect(verdict).toMatchObject({ kind: "wait" });
  expect((verdict as { until: number }).until).toBeLessThan(reset * 1000 - 119_000);
});
