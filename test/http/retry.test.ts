import fc from "fast-check";
import { expect, it } from "vitest";
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

const patient = { maxWaitSeconds: 10_000 };
it.each<[string, number | undefined, Partial<Situation>, object]>([
  ["Retry-After", 20, { ...patient, limitWaits: 0 }, wait(20)],
  ["twice that, the second time", 20, { ...patient, limitWaits: 1 }, wait(40)],
  ["eight times that, the fourth time", 20, { ...patient, limitWaits: 3 }, wait(160)],
  ["never more than 300 s", 20, { ...patient, limitWaits: 4 }, wait(300)],
  ["never more, whatever is asked for", 2000, patient, wait(300)],
  ["never more, however often", 20, { ...patient, limitWaits: 5000 }, wait(300)],
  ["as long as may be", 300, {}, wait(300)],
  ["not for a window that ends later", 301, {}, stop],
  ["not for one that ends later than the rest", 20, { waitedSeconds: 290 }, stop],
  ["not at all", 20, { maxWaitSeconds: 0 }, stop],
  ["the rest, when doubling would pass it", 100, { limitWaits: 1, waitedSeconds: 150 }, wait(150)],
  ["a second at least", 0, {}, wait(1)],
  ["a second where nothing is said", undefined, {}, wait(1)],
  ["also for a write, since it was refused", 5, { effect: "write" }, wait(5)],
])("waits for the hour: %s", (_name, retryAfterSeconds, situation, decision) => {
  expect(decide(hour(retryAfterSeconds), situation)).toEqual(decision);
});

it("never waits past the allowance in total, whatever the service asks for", () => {
  const waits = fc.array(fc.option(fc.integer({ min: 0, max: 5000 }), { nil: undefined }), { minLength: 1 });
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
