import { expect, it } from "vitest";
import { runs } from "../support/runs.ts";
import { expectSurvived } from "./killing.ts";

it.each([
  ["import", 1, 2, 60],
  ["delete", 7, 1, 40],
  ["unsubscribe", 7, 1, 40],
] as const)("an %s that is killed ends as if it had never been", async (kind, seed, kills, size) => {
  expect(await expectSurvived(kind, seed, kills, size)).toBeGreaterThan(0);
});

it.each([
  ["import", 100, 20, 240],
  ["delete", 500, 5, 60],
  ["unsubscribe", 500, 5, 60],
] as const)("again and again: %s", async (kind, firstSeed, most, size) => {
  const kills = runs(2);
  let killed = 0;
  for (let seed = firstSeed; killed < kills; seed++) killed += await expectSurvived(kind, seed, most, size);
  expect(killed).toBeGreaterThanOrEqual(kills);
});
