import { describe, expect, it } from "vitest";
import { Budget } from "../../../src/bulk/pace/budget.ts";
import { PacedSend } from "../../../src/bulk/pace/paced-send.ts";
import type { ApiRequest, Clock, Send, SendOptions } from "../../../src/wire.ts";

const start = Date.parse("2026-11-21T12:00:00Z");
const hours = 3_600_000;
const request: ApiRequest = { method: "GET", path: "/api/list", effect: "read" };

describe("a clock that is set while the hour's end is waited for", () => {
  it.each([
    ["back by 5 hours", -5 * hours, 3600],
    ["forward by 5 hours", 5 * hours, 60],
    ["not at all", 0, 3600],
  ])("(%s) does not lengthen the wait", async (_what, jump, mostSeconds) => {
    const { clock, slept } = settableClock(jump);
    const budget = new Budget({ reserve: 0, waits: true });
    budget.seed({ hour: { limit: 100, remaining: 0, reset: start / 1000 + 3600 } });
    const paced = new PacedSend({
      send: answering,
      sentBefore: 0,
      budget,
      clock,
      concurrency: 1,
      signal: new AbortController().signal,
    });
    await paced.plain(request);
    // Seen at the next look at the clock, at most 15 s later.
    expect(slept()).toBeLessThanOrEqual(mostSeconds + 16);
    expect(slept()).toBeGreaterThan(mostSeconds === 60 ? 0 : mostSeconds - 1);
  });
});

const answering = (async (_request: ApiRequest, options?: SendOptions) => {
  options?.onEvent?.({ kind: "sent", request, attempt: 1, sent: { target: request.path } });
  return { status: 200, headers: {}, limits: {}, text: "[]", body: [] };
}) as unknown as Send;

/** Its time passes only in sleep; after the first 30 s it is set. */
function settableClock(jump: number): { clock: Clock; slept(): number } {
  let slept = 0;
  let isSet = false;
  return {
    slept: () => slept / 1000,
    clock: {
      now: () => start + slept + (isSet ? jump : 0),
      async sleep(milliseconds) {
        slept += milliseconds;
        if (slept >= 30_000) isSet = true;
      },
    },
  };
}
