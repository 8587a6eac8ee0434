/** The table of the points that are open about the service: what is kept of them, and how it is said. */
import { describe, expect, it } from "vitest";
import { describeBehavior, openPoints, readSoundBehavior } from "../../src/service/behavior.ts";

const now = Date.UTC(2026, 5, 15);
const learnedAt = new Date(now).toISOString();

const values = Object.entries(openPoints).flatMap(([name, { point, ...rest }]) => {
  const forms: object = "forms" in rest ? rest.forms : {};
  const known: [value: unknown, words: string][] =
    "least" in forms && "words" in forms
      ? [[1000, String(forms.words).replace("N", "1,000")]]
      : Object.entries(forms);
  return known.map(([value, words]) => ({ name, value, text: `${point}: ${words}` }));
});

describe("each form of a point", () => {
  it.each(values)("is kept and said: $name $value", ({ name, value, text }) => {
    const known = readSoundBehavior({ [name]: { value, learnedAt } }, now);
    expect(known).toEqual({ [name]: { value, learnedAt } });
    expect(describeBehavior(known)).toEqual([text]);
  });

  it.each<[string, unknown]>([
    ["keys", "some"],
    ["keys", 1],
    ["keys", "toString"],
    ["maxKeys", 0],
    ["maxKeys", "7"],
    ["maxKeys", 1.5],
    // Nothing is learned of it.
    ["noop", "any"],
    ["toString", "any"],
  ])("is left out where it is none: %s %j", (name, value) => {
    expect(readSoundBehavior({ [name]: { value, learnedAt } }, now)).toEqual({});
  });

  it("is left out where it is old, or of a future that no clock explains", () => {
    const days = (count: number) => new Date(now + count * 86_400_000).toISOString();
    const keep = (count: number) =>
      Object.keys(readSoundBehavior({ keys: { value: "any", learnedAt: days(count) } }, now));
    expect([keep(-31), keep(-29), keep(0.5), keep(2)]).toEqual([[], ["keys"], ["keys"], []]);
  });
});
