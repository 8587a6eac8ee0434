/** Tables of cases: the quick suite tries the first ones, and the slow suite the others. */
import { describe, it } from "vitest";

/** `it.each` of a table. @param count how many of its cases are for the quick suite */
export function firstQuick(count: number): typeof it.each {
  const each = (cases: readonly unknown[]) => (title: string, test: () => void) => {
    it.each(cases.slice(0, count))(title, test);
    it.each(cases.slice(count))(title, { tags: "slow" }, test);
  };
  return each as unknown as typeof it.each;
}

/** The same of `describe.each`. */
export function firstGroupsQuick(count: number): typeof describe.each {
  const each = (cases: readonly unknown[]) => (title: string, tests: () => void) => {
    describe.each(cases.slice(0, count))(title, tests);
    describe.each(cases.slice(count))(title, { tags: "slow" }, tests);
  };
  return each as unknown as typeof describe.each;
}
