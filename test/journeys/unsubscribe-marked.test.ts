/** `--unsubscribe-marked`: each of its writes happens once, whenever the run is disturbed. */
import { describe, expect, it } from "vitest";
import { runKilled } from "./kills.ts";
import { expectLost, readOutcome, runUndisturbed, startScene } from "./marking.ts";
import type { Moment } from "./recording-proxy.ts";

describe.each(["import", "apply"] as const)("--unsubscribe-marked (%s)", (how) => {
  it("comes to the same when the answer to a write is lost", { tags: "slow" }, async () => {
    const { requests, expected } = await runUndisturbed(how);
    expect(expected).toMatchObject({
      rows: { updated: 3, skipped: how === "import" ? 1 : 0 },
      ...(how === "import" && { consent: { marked: 2, inactive: 0 } }),
      names: [
        ["a@example.com", "New"],
        ["b@example.com", "Old"],
        ["c@example.com", "New"],
      ],
      inactive: ["a@example.com", "b@example.com"],
    });
    // The last four are the writes.
    for (let lost = requests - 3; lost <= requests; lost++) await expectLost(how, "after", lost, expected);
  });

  it.each([
    ["before the status is written", "PATCH", "before"],
    ["after the status is written", "PATCH", "after"],
    ["after the fields are written", "mutate", "after"],
  ])("comes to the same when it is killed %s", { tags: "slow" }, async (_name, kind, when) => {
    const { expected } = await runUndisturbed(how);
    const { proxy, command } = await startScene(how);
    const meant = kind === "mutate" ? /\/mutate$/ : /^\/api\/contact\/[0-9a-f]{24}$/;
    const isThen = (moment: Moment) => moment.when === when && meant.test(moment.path);
    const killed = await runKilled(proxy, [...command, "--concurrency", "1"], isThen, "drop");
    expect(killed.code).toBe(-1);
    const { stdout } = await proxy.ecm(command);
    expect(await readOutcome(proxy, stdout)).toEqual(expected);
  });
});

it.each([
  ["import", "before"],
  ["import", "after"],
  ["apply", "before"],
  ["apply", "after"],
] as const)(
  "comes to the same when any answer of %s is lost %s the service acted",
  { tags: "slow" },
  async (how, when) => {
    const { requests, expected } = await runUndisturbed(how);
    expect(requests).toBeGreaterThan(4);
    for (let lost = 1; lost <= requests; lost++) await expectLost(how, when, lost, expected);
  },
);
