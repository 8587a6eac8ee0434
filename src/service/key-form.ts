/**
 * In which form several keys are asked for in one search. Answers
 * decide which works, and what they show is learned.
 */

import { createEquals, createFilter } from "../api/contacts.ts";
import type { Criteria, Filter } from "../wire.ts";
import type { Behavior, BehaviorPoints } from "./behavior.ts";

export interface KeyQuery {
  keys: readonly string[];
  source: readonly string[];
  /** Criterias that must hold as well. */
  further: readonly Criteria[];
}

export type KeyForm = ReturnType<typeof createKeyForm>;

export function createKeyForm(behavior: Behavior) {
  let form: BehaviorPoints["keys"] = behavior.get("keys") ?? "any";
  /** Answers of this process have shown that several keys count. */
  let isProven = false;
  /** Known from earlier, or there is no contact to prove it by: believed without proof. */
  let isTrusted = behavior.get("keys") !== undefined;

  function prove(): void {
    isProven = true;
    behavior.learn("keys", form);
  }

  function useOneByOne(): void {
    form = "one";
    prove();
  }

  return {
    isOneByOne: () => form === "one",
    /** The usual form, unproven: where it is refused, alternatives are tried. */
    isFirstTry: () => form === "any" && !isProven,
    isTrusted: () => isTrusted,
    /** Searches need not wait for each other to find out. */
    isSettled: () => isProven || isTrusted,
    toFilters({ keys, further }: KeyQuery): Filter[] {
      if (form !== "alternatives" || keys.length === 1)
        return createFilter(createEquals("KEY", [...keys]), ...further);
      return keys.flatMap((key) => createFilter(createEquals("KEY", [key]), ...further));
    },
    /** Tries a form; nothing is learned of it. */
    use(next: "any" | "alternatives"): void {
      form = next;
    },
    useOneByOne,
    prove,
    trust(): void {
      isTrusted = true;
    },
    /** Only some keys count: the next form is taken. */
    disprove(): void {
      isProven = false;
      isTrusted = false;
      if (form === "any") form = "alternatives";
      else useOneByOne();
    },
  };
}
