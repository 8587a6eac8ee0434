import { expect, it } from "vitest";
import { importKilled, importUndisturbed } from "../journeys/killing.ts";

it("ends as if it had never been killed, a hundred times", async () => {
  const size = 360;
  const undisturbed = await importUndisturbed(size);
  let killed = 0;
  for (let seed = 100; killed < 100; seed++)
    killed += (await importKilled(seed, 25, size, undisturbed)).killed;
  expect(killed).toBeGreaterThanOrEqual(100);
});
