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

export class KeyForm {
  /** In which keys are asked for. */
  current: BehaviorPoints["keys"];
  /** Known from earlier, or there is no contact to prove it by: believed without proof. */
  isTrusted: boolean;
  /** Answers of this process have shown that several keys count. */
  #isProven = false;
  readonly #behavior: Behavior;

  constructor(behavior: Behavior) {
    const known = behavior.get("keys");
    this.#behavior = behavior;
    this.current = known ?? "any";
    this.isTrusted = known !== undefined;
  }

  get isOneByOne(): boolean {
    return this.current === "one";
  }

  /** The usual form, unproven: where it is refused, alternatives are tried. */
  get isFirstTry(): boolean {
    return this.current === "any" && !this.#isProven;
  }

  /** Searches need not wait for each other to find out. */
  get isSettled(): boolean {
    return this.#isProven || this.isTrusted;
  }

  toFilters({ keys, further }: KeyQuery): Filter[] {
    if (this.current !== "alternatives" || keys.length === 1)
      return createFilter(createEquals("KEY", [...keys]), ...further);
    return keys.flatMap((key) => createFilter(createEquals("KEY", [key]), ...further));
  }

  useOneByOne(): void {
    this.current = "one";
    this.prove();
  }

  prove(): void {
    this.#isProven = true;
    this.#behavior.learn("keys", this.current);
  }

  /** Only some keys count: the next form is taken. */
  disprove(): void {
    this.#isProven = false;
    this.isTrusted = false;
    if (this.current === "any") this.current = "alternatives";
    else this.useOneByOne();
  }
}
