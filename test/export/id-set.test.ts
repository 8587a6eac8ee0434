import fc from "fast-check";
import { expect, test } from "vitest";
import { IdSet } from "../../src/export/id-set.ts";

const id = fc.oneof(
  // Close together, so that several come twice and places collide.
  fc.nat(40).map((number) => `6b0133c7a7f4ce0e8d${number.toString(16).padStart(6, "0")}`),
  fc.stringMatching(/^[0-9a-f]{24}$/),
  fc.constantFrom(
    "0".repeat(24),
    "f".repeat(24),
    "6B0133C7A7F4CE0E8D000001",
    "",
    "a@b.co",
    `${"0".repeat(23)}g`,
  ),
);

test("an id set knows what it was given, and nothing else", { tags: "slow" }, () => {
  fc.assert(
    fc.property(fc.array(id, { maxLength: 300, size: "max" }), (ids) => {
      const set = new IdSet();
      const plain = new Set<string>();
      for (const each of ids) {
        expect(set.add(each)).toBe(!plain.has(each));
        plain.add(each);
      }
      expect(set.size).toBe(plain.size);
    }),
  );
});

test.each([
  ["one after the other", 1],
  ["back and forth", 7919],
])("an id set grows, %s", { tags: "slow" }, (_order, step) => {
  const count = 50_000;
  const ids = Array.from({ length: count }, (_, index) => {
    const number = (index * step) % count;
    return `${(0x6b0133c7 + (number >> 4)).toString(16)}a7f4ce0e8d${number.toString(16).padStart(6, "0")}`;
  });
  const set = new IdSet(ids);
  expect(set.size).toBe(count);
  expect(ids.filter((each) => set.add(each))).toEqual([]);
});
