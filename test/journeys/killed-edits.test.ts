import { expect, it } from "vitest";
import { editKilled } from "./killing-edits.ts";

it.each([
  ["delete", 4],
  ["unsubscribe", 3],
] as const)("ends a killed %s as if it had never been killed, with its backup whole", async (kind, kills) => {
  expect((await editKilled(kind, 7, kills, 60)).killed).toBe(kills);
});
