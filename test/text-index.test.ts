import fc from "fast-check";
import { expect, test } from "vitest";
import { TextIndex } from "../src/text-index.ts";
import { runs } from "./support/runs.ts";

test("an index knows which texts were added, where, and which twice", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ maxLength: 2 }), { maxLength: 3000, size: "max" }), (texts) => {
      const index = new TextIndex();
      const places = new Map<string, number[]>();
      for (const [place, text] of texts.entries()) places.set(text, [place, ...(places.get(text) ?? [])]);
      expect(texts.map((text) => index.add(text))).toEqual([...texts.keys()]);
      expect([index.size, index.hasRepeated]).toEqual([texts.length, places.size < texts.length]);
      const told = (text: string) => [index.has(text), index.isRepeated(text), [...index.find(text)]];
      expect([...places.keys()].map(told)).toEqual(
        [...places.values()].map((added) => [true, added.length > 1, added]),
      );
      expect(told("more")).toEqual([false, false, []]);
    }),
    { numRuns: runs(6) },
  );
});

test("one text that stands in every row of a long file costs no more than others", () => {
  const index = new TextIndex();
  for (let row = 0; row < 200_000; row++) index.add("a@example.com");
  for (let row = 0; row < 20_000; row++) index.add(`p${row}@example.com`);
  expect(index.isRepeated("a@example.com")).toBe(true);
  expect(index.isRepeated("p1@example.com")).toBe(false);
});
