/** The whole journey under every variant alone, under pairs of them, and under some that meet in one place. */
import { describe, expect, it } from "vitest";
import { type Journey, travel } from "../journeys/variant-journey.ts";

const alone: [name: string, value: string][] = [
  ["keys", "refused"],
  ["keys", "first"],
  ["max-keys", "1"],
  ["max-keys", "4"],
  ["max-keys", "7"],
  ["page", "cap:3"],
  ["page", "refuse:3"],
  ["page", "cap:10"],
  ["page", "refuse:30"],
  ["lists", "array"],
  ["created", "201"],
  ["mutate-elements", "object"],
  ["mutate-elements", "id"],
  ["mutate-answer", "empty"],
  ["mutate-answer", "other"],
  ["noop", "NoChangesError"],
  ["search-lag", "1000"],
  ["search-lag", "30000"],
  ["key-case", "exact"],
  ["inactive", "hidden"],
  ["structures", "slim"],
  ["status", "object"],
  ["unknown-members", "ignore"],
  ["hourly-headers", "missing"],
];

/** Pairs of different variants, the same ones each time; no pair twice. */
function pairs(count: number): Record<string, string>[] {
  const all = alone.flatMap((first, index) =>
    alone.slice(index + 1).flatMap((second) => (first[0] === second[0] ? [] : [[first, second]])),
  );
  // A step that has no divisor in common with their number meets each of them.
  const step = 36;
  return Array.from({ length: count }, (_, number) => Object.fromEntries(all[(number * step) % all.length]!));
}

describe("the same journey", () => {
  let plain: Journey;

  it("goes well under the documents alone", async () => {
    plain = await travel({});
    expect(plain.writesOfRepeats).toEqual([0, 0, 0]);
  });

  const several: Record<string, string>[] = [
    { lists: "array", created: "201", structures: "slim" },
    { keys: "refused", "max-keys": "20", page: "refuse:25" },
  ];

  it.each([...alone.map(([name, value]) => ({ [name]: value })), ...several, ...pairs(24)])(
    "comes to the same end under %j",
    async (variants) => {
      const { said, ...journey } = await travel(variants);
      expect(journey, said).toEqual({ ...plain, said: undefined });
    },
  );
});
