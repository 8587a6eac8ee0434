import fc from "fast-check";
import { expect, test } from "vitest";
import { TextIndex } from "../src/text-index.ts";
import { runs } from "./support/runs.ts";

test("an index knows which texts were added, where, and which twice", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ maxLength: 2 }), { maxLength: 3000, size: "max" }), (texts) => {
      const index = new TextIndex();
      const places = new Map<string, number[]>();
      for (const [place, text] of texts.entries()) {
        expect(index.add(text)).toBe(place);
        places.set(text, [...(places.get(text) ?? []), place]);
      }
      expect(index.size).toBe(texts.length);
      expect(index.hasRepeated).toBe(places.size < texts.length);
      for (const [text, added] of places) {
        expect([...index.find(text)]).toEqual(added.reverse());
        expect([index.has(text), index.isRepeated(text)]).toEqual([true, added.length > 1]);
      }
      expect([index.has("more"), index.isRepeated("more"), [...index.find("more")]]).toEqual([
        false,
        false,
        [],
      ]);
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
