import { it } from "vitest";
import { runs } from "../support/runs.ts";
import { expectSurvived } from "./killing.ts";

// An import is in chaos.slow.test.ts.
it.each(["delete", "unsubscribe"] as const)(
  "%s: killed again and again, it ends as if it had never been",
  async (kind) => {
    let left = runs(1);
    for (let seed = 500; left > 0; seed++) left -= await expectSurvived(kind, seed, Math.min(5, left), 60);
  },
);
