/** `--unsubscribe-marked` with every answer of its run lost once, before and after the service acted. */
import { expect, it } from "vitest";
import { expectLost, undisturbed } from "../journeys/marking.ts";

it.each([
  ["import", "before"],
  ["import", "after"],
  ["apply", "before"],
  ["apply", "after"],
] as const)("comes to the same when any answer of %s is lost %s the service acted", async (how, when) => {
  const { requests, expected } = await undisturbed(how);
  expect(requests).toBeGreaterThan(4);
  for (let lost = 1; lost <= requests; lost++) await expectLost(how, when, lost, expected);
});
