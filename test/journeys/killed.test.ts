import { expect, it } from "vitest";
import { importKilled, importUndisturbed } from "./killing.ts";

it("ends as if it had never been killed, however often and whenever it was", async () => {
  const size = 90;
  const undisturbed = await importUndisturbed(size);
  const { killed } = await importKilled(1, 4, size, undisturbed);
  expect(killed).toBeGreaterThan(1);
});
