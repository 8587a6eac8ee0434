import fc from "fast-check";
import { expect, test } from "vitest";
import { formatCount } from "../src/counts.ts";

test("a number is written as in English, whole or not", () => {
  const number = fc.oneof(fc.maxSafeInteger(), fc.integer({ min: -9999, max: 99_999 }), fc.double());
  fc.assert(
    fc.property(number, (value) => {
      expect(formatCount(value)).toBe((value === 0 ? 0 : value).toLocaleString("en-US"));
    }),
  );
});
