import { expect, it } from "vitest";
import { runs } from "../support/runs.ts";
import { editKilled } from "./killing-edits.ts";

it.each([
  ["delete", 1],
  ["unsubscribe", 1],
] as const)("ends a killed %s as if it had never been killed, with its backup whole", async (kind, kills) => {
  expect((await editKilled(kind, 7, kills, 40)).killed).toBe(kills);
});

it.each(["delete", "unsubscribe"] as const)(
  "ends a %s as if it had never been killed, again and again",
  async (kind) => {
    const kills = runs(1);
    let killed = 0;
    for (let seed = 500; killed < kills; seed++)
      killed += (await editKilled(kind, seed, kills, 20 * kills)).killed;
    expect(killed).toBeGreaterThanOrEqual(kills);
  },
);
