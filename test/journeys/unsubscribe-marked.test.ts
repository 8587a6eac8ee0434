/** `--unsubscribe-marked`: each of its writes happens once, whenever the run is disturbed. */
import { describe, expect, it } from "vitest";
import { spawnEcm, waitForResult } from "../support/ecm.ts";
import { expectLost, readOutcome, runUndisturbed, startScene } from "./marking.ts";

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
    const child = spawnEcm([...command, "--concurrency", "1"], proxy.env);
    const isMeant = (url: string) =>
      kind === "mutate" ? url.endsWith("/mutate") : /^\/api\/contact\/[0-9a-f]{24}$/.test(url);
    proxy.onRequest = (moment) => {
      if (moment.when !== when || !isMeant(moment.path)) return undefined;
      child.kill("SIGKILL");
      return "drop";
    };
    expect((await waitForResult(child)).code).toBe(-1);
    proxy.onRequest = () => undefined;
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
