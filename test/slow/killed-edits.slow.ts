import { expect, it } from "vitest";
import { editKilled } from "../journeys/killing-edits.ts";

it.each(["delete", "unsubscribe"] as const)(
  "ends a %s as if it had never been killed, fifty times",
  async (kind) => {
    let killed = 0;
    for (let seed = 500; killed < 50; seed++) killed += (await editKilled(kind, seed, 20, 240)).killed;
    expect(killed).toBeGreaterThanOrEqual(50);
  },
);
