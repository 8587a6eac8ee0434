/** The table of the points that are open about the service: what is kept of them, and how it is said. */
import { expect, it } from "vitest";
import { describeBehavior, openPoints, readFreshBehavior } from "../../src/service/behavior.ts";

const now = Date.UTC(2026, 5, 15);
const learnedAt = new Date(now).toISOString();

const values = Object.entries(openPoints).flatMap(([name, { point, ...rest }]) => {
  const forms: object | string = "forms" in rest ? rest.forms : {};
  const known: [value: unknown, words: string][] =
    typeof forms === "string" ? [[1000, forms.replace("N", "1,000")]] : Object.entries(forms);
  return known.map(([value, words]) => ({ name, value, text: `${point}: ${words}` }));
});

it.each(values)("each form of a point is kept and said: $name $value", ({ name, value, text }) => {
  const known = readFreshBehavior({ [name]: { value, learnedAt } }, now);
  expect(known).toEqual({ [name]: { value, learnedAt } });
  expect(describeBehavior(known)).toEqual([text]);
});

it("each form of a point is left out where it is old, or of a future that no clock explains", () => {
  const days = (count: number) => new Date(now + count * 86_400_000).toISOString();
  const keep = (count: number) =>
    Object.keys(readFreshBehavior({ keys: { value: "any", learnedAt: days(count) } }, now));
  expect([keep(-31), keep(-29), keep(0.5), keep(2)]).toEqual([[], ["keys"], ["keys"], []]);
});
