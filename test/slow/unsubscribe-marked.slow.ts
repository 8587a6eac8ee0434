/** `--unsubscribe-marked` with every answer of its run lost once, before and after the service acted. */
import { expect, it } from "vitest";
import { expectLost, undisturbed } from "../journeys/marking.ts";

it.each(["before", "after"] as const)(
  "comes to the same when any answer is lost %s the service acted",
  async (when) => {
    const { requests, expected } = await undisturbed();
    expect(requests).toBeGreaterThan(4);
    for (let lost = 1; lost <= requests; lost++) await expectLost(when, lost, expected);
  },
);
