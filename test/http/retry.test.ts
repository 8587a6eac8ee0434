import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decideRetry, type Situation, type Trouble } from "../../src/http/retry.ts";

const calm: Omit<Situation, "trouble"> = {
  effect: "read",
  tries: 1,
  limitWaits: 0,
  waitedSeconds: 0,
  maxWaitSeconds: 300,
};
const decide = (trouble: Trouble, more: Partial<Situation> = {}) =>
  decideRetry({ ...calm, trouble, ...more });
const hour = (retryAfterSeconds?: number): Trouble => ({ kind: "limited", limit: "hour", retryAfterSeconds });
const stop = { action: "stop" };
const wait = (seconds: number) => ({ action: "wait", seconds });

describe("the retry rule", () => {
  it.each<[string, Trouble, "read" | "write", boolean]>([
    ["a lost connection", { kind: "lost", isTimeout: false }, "read", true],
    ["a lost connection", { kind: "lost", isTimeout: false }, "write", false],
    ["no answer in time", { kind: "lost", isTimeout: true }, "read", false],
    ["no answer in time", { kind: "lost", isTimeout: true }, "write", false],
    ["502", { kind: "failed", status: 502 }, "read", true],
    ["503", { kind: "failed", status: 503 }, "read", true],
    ["504", { kind: "failed", status: 504 }, "read", true],
    ["500", { kind: "failed", status: 500 }, "read", false],
    ["501", { kind: "failed", status: 501 }, "read", false],
    ["503", { kind: "failed", status: 503 }, "write", false],
    ["no connection", { kind: "unconnected", isLasting: false }, "read", true],
    ["no connection", { kind: "unconnected", isLasting: false }, "write", true],
    ["a refusal that was cut off", { kind: "unexplained" }, "read", true],
    ["a refusal that was cut off", { kind: "unexplained" }, "write", true],
    ["a bad certificate", { kind: "unconnected", isLasting: true }, "read", false],
  ])("after %s (%o), repeats a %s: %s", (_name, trouble, effect, isRepeated) => {
    expect(decide(trouble, { effect }).action).toBe(isRepeated ? "wait" : "stop");
  });

  it("sends three times in total, after short pauses", () => {
    const lost: Trouble = { kind: "lost", isTimeout: false };
    expect([1, 2, 3].map((tries) => decide(lost, { tries }))).toEqual([wait(0.2), wait(0.8), stop]);
  });

  it("waits Retry-After × 2^waits, and never more than 300 s at a time", () => {
    const more = { maxWaitSeconds: 10_000 };
    expect(decide(hour(20), { ...more, limitWaits: 0 })).toEqual(wait(20));
    expect(decide(hour(20), { ...more, limitWaits: 1 })).toEqual(wait(40));
    expect(decide(hour(20), { ...more, limitWaits: 3 })).toEqual(wait(160));
    expect(decide(hour(20), { ...more, limitWaits: 4 })).toEqual(wait(300));
    expect(decide(hour(2000), more)).toEqual(wait(300));
    expect(decide(hour(20), { ...more, limitWaits: 5000 })).toEqual(wait(300));
  });

  it("stops at once when the window ends later than may be waited", () => {
    expect(decide(hour(301))).toEqual(stop);
    expect(decide(hour(300))).toEqual(wait(300));
    expect(decide(hour(20), { waitedSeconds: 290 })).toEqual(stop);
    expect(decide(hour(20), { maxWaitSeconds: 0 })).toEqual(stop);
  });

  it("waits the rest that may be waited when doubling would pass it", () => {
    expect(decide(hour(100), { limitWaits: 1, waitedSeconds: 150 })).toEqual(wait(150));
  });

  it("leaves the service a second when Retry-After is 0 or missing", () => {
    expect(decide(hour(0))).toEqual(wait(1));
    expect(decide(hour(undefined))).toEqual(wait(1));
  });

  it.each(["month", "address"] as const)("never waits for the limit of a %s", (limit) => {
    expect(decide({ kind: "limited", limit, retryAfterSeconds: 1 }, { maxWaitSeconds: 1e9 })).toEqual(stop);
  });

  it("repeats a write after a 429, since it was refused", () => {
    expect(decide(hour(5), { effect: "write" })).toEqual(wait(5));
  });

  it("never waits past the allowance in total, whatever the service asks for", () => {
    const waits = fc.array(fc.option(fc.integer({ min: 0, max: 5000 }), { nil: undefined }), {
      minLength: 1,
    });
    fc.assert(
      fc.property(waits, fc.integer({ min: 0, max: 4000 }), (retryAfters, maxWaitSeconds) => {
        let waitedSeconds = 0;
        for (let limitWaits = 0; ; limitWaits++) {
          const retryAfter = retryAfters[limitWaits % retryAfters.length];
          const decision = decide(hour(retryAfter), { limitWaits, waitedSeconds, maxWaitSeconds });
          if (decision.action === "stop") break;
          expect(decision.seconds).toBeGreaterThan(0);
          expect(decision.seconds).toBeLessThanOrEqual(300);
          waitedSeconds += decision.seconds;
        }
        expect(waitedSeconds).toBeLessThanOrEqual(maxWaitSeconds);
      }),
    );
  });
});
