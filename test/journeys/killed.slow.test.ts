import { it } from "vitest";
import { runs } from "../support/runs.ts";
import { expectSurvived } from "./killing.ts";

it.each([
  ["import", 1],
  ["delete", 500],
  ["unsubscribe", 500],
] as const)("%s: killed again and again, it ends as if it had never been", async (kind, firstSeed) => {
  let left = runs(2);
  for (let seed = firstSeed; left > 0; seed++)
    left -= await expectSurvived(kind, seed, Math.min(5, left), 60);
});
