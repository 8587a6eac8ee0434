/** `--unsubscribe-marked`: each of its writes happens once, whenever the run is disturbed. */
import { describe, expect, it } from "vitest";
import { resultOf, spawnEcm } from "../support/ecm.ts";
import { expectLost, flags, outcome, scene, undisturbed } from "./marking.ts";

describe("--unsubscribe-marked", () => {
  it("comes to the same when the answer to a write is lost", async () => {
    const { requests, expected } = await undisturbed();
    expect(expected).toMatchObject({
      rows: { updated: 3, skipped: 1 },
      consent: { marked: 2, inactive: 0 },
      inactive: ["a@example.com", "b@example.com"],
    });
    // The last four are the writes.
    for (let lost = requests - 3; lost <= requests; lost++) await expectLost("after", lost, expected);
  });

  it.each([
    ["before the status is written", "PATCH", "before"],
    ["after the status is written", "PATCH", "after"],
    ["after the fields are written", "mutate", "after"],
  ])("comes to the same when it is killed %s", async (_name, kind, when) => {
    const { expected } = await undisturbed();
    const { witness, path } = await scene();
    const child = spawnEcm(["import", path, ...flags, "--concurrency", "1"], witness.env);
    const isMeant = (url: string) =>
      kind === "mutate" ? url.endsWith("/mutate") : /^\/api\/contact\/[0-9a-f]{24}$/.test(url);
    witness.onRequest = (moment) => {
      if (moment.when !== when || !isMeant(moment.path)) return undefined;
      child.kill("SIGKILL");
      return "drop";
    };
    expect((await resultOf(child)).code).toBe(-1);
    witness.onRequest = () => undefined;
    const { stdout } = await witness.ecm(["import", path, ...flags]);
    expect(await outcome(witness, stdout)).toEqual(expected);
  });
});
