import { expect, it } from "vitest";
import { cutEvery } from "../journeys/journal-cut.ts";

it("goes on from a journal that is cut at any byte", async () => {
  expect(await cutEvery(1)).toBeGreaterThan(1000);
});
