/** The names of earlier commands that a command takes in place of fetching them, and whether it has taken any. */
import type { AccountMemory } from "./account.ts";
import { rememberedSeconds } from "./remembered-names.ts";

export type RecalledNames = ReturnType<typeof createRecalledNames>;

export function createRecalledNames(memory?: AccountMemory) {
  let names: ReturnType<AccountMemory["recall"]> | undefined;
  let isUsed = false;

  return {
    isUsed: () => isUsed,
    /** @returns undefined unless it is remembered, and names are recalled at present */
    take<T>(part: (recalled: NonNullable<typeof names>) => T | undefined): T | undefined {
      const found = names && part(names);
      isUsed ||= found !== undefined;
      return found;
    },
    start(effect: keyof typeof rememberedSeconds): void {
      names = memory?.recall(rememberedSeconds[effect]);
      isUsed = false;
    },
    /** Nothing more is taken; what was taken still counts. */
    stop(): void {
      names = undefined;
    },
    end(): void {
      names = undefined;
      isUsed = false;
    },
  };
}
