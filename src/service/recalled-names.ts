/**
 * The names of earlier commands that a command takes in place of fetching them, and whether it has taken any.
 */
import type { ContactList } from "../wire.ts";
import { type CachedNames, maxCacheAgeSeconds } from "./cached-names.ts";

/** What earlier commands saw of the account. */
export interface AccountMemory {
  /** What was seen at most so long ago. */
  recall(seconds: number): Pick<CachedNames, "structures" | "whole" | "lists">;
  /** @param requestedAt when the first of their pages was asked for, in milliseconds since the epoch */
  keepLists(structureId: string, lists: readonly ContactList[], requestedAt: number): void;
  now(): number;
}

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
    start(effect: keyof typeof maxCacheAgeSeconds): void {
      names = memory?.recall(maxCacheAgeSeconds[effect]);
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
