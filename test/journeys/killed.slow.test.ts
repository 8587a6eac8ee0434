import { expect, it } from "vitest";
import { runs } from "../support/runs.ts";
import { importKilled, importUndisturbed } from "./killing.ts";

it("ends as if it had never been killed, however often and whenever it was", async () => {
  const size = 60;
  const undisturbed = await importUndisturbed(size);
  const { killed } = await importKilled(1, 2, size, undisturbed);
  expect(killed).toBeGreaterThan(0);
});

it("ends as if it had never been killed, again and again", async () => {
  const size = 240;
  const undisturbed = await importUndisturbed(size);
  const kills = runs(2);
  let killed = 0;
  for (let seed = 100; killed < kills; seed++)
    killed += (await importKilled(seed, 20, size, undisturbed)).killed;
  expect(killed).toBeGreaterThanOrEqual(kills);
});
