import { expect, it } from "vitest";
import { editKilled } from "./killing-edits.ts";

it.each([
  ["delete", 1],
  ["unsubscribe", 1],
] as const)("ends a killed %s as if it had never been killed, with its backup whole", async (kind, kills) => {
  expect((await editKilled(kind, 7, kills, 40)).killed).toBe(kills);
});
