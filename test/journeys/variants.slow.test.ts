/** The whole journey under every variant alone, under pairs of them, and under many at once. */
import { describe, expect, it } from "vitest";
import { type Journey, runJourney } from "./variant-journey.ts";

const values: Record<string, string> = {
  keys: "refused first",
  "max-keys": "1 4 7",
  page: "cap:3 refuse:3 cap:10 refuse:30",
  lists: "array",
  "mutate-elements": "object id",
  "mutate-answer": "empty other",
  noop: "NoChangesError",
  "search-lag": "1000 30000",
  "hourly-headers": "missing",
  source: "specified",
};
const alone = Object.entries(values).flatMap(([name, all]) =>
  all.split(" ").map((value) => [name, value] as const),
);

/** Pairs of different variants, the same ones each time; no pair twice. */
function pairs(count: number): Record<string, string>[] {
  const all = alone.flatMap((first, index) =>
    alone.slice(index + 1).flatMap((second) => (first[0] === second[0] ? [] : [[first, second]])),
  );
  // A step that has no divisor in common with their number meets each of them.
  const step = 37;
  return Array.from({ length: count }, (_, number) => Object.fromEntries(all[(number * step) % all.length]!));
}

/** What a journey is to be, without the steps that it left out. */
function sameSteps({ output: _said, ...plain }: Journey, { steps }: Pick<Journey, "steps">) {
  return {
    ...plain,
    steps: Object.fromEntries(Object.entries(plain.steps).filter(([name]) => name in steps)),
  };
}

describe("the same journey", () => {
  let plain: Journey;

  it("goes well under the documents alone", async () => {
    plain = await runJourney({});
    expect(plain.writesOfRepeats).toEqual([0, 0, 0]);
    expect(plain.steps).toMatchObject({
      import: { code: 0, rows: { created: 14 } },
      "import changes": { code: 0, rows: { created: 3, updated: 4, unchanged: 10 } },
      sync: { code: 0, rows: { updated: 8, unchanged: 1 } },
      clone: { contacts: 18 },
    });
  });

  it("comes to the same end, step by step, under many at once", async () => {
    const { output, ...otherwise } = await runJourney({
      keys: "first",
      page: "cap:3",
      lists: "array",
      "mutate-elements": "id",
      "mutate-answer": "empty",
      noop: "NoChangesError",
      "hourly-headers": "missing",
    });
    expect(otherwise, output).toEqual({ ...plain, output: undefined });
  });

  const several: Record<string, string>[] = [
    { lists: "array", "mutate-elements": "id" },
    { keys: "refused", "max-keys": "20", page: "refuse:25" },
  ];

  it.each([...alone.map(([name, value]) => ({ [name]: value })), ...several, ...pairs(4)])(
    "comes to the same end under %j",
    async (variants) => {
      const { output, ...journey } = await runJourney(variants);
      expect(journey, output).toEqual(sameSteps(plain, journey));
    },
  );
});

describe("the same journey in an account that has its structure", () => {
  let plain: Journey;

  it("goes well under the documents alone", async () => {
    plain = await runJourney({}, { isFurnished: true });
    expect(plain.steps).toMatchObject({
      import: { code: 0, rows: { created: 14 } },
      export: { code: 0, output: expect.arrayContaining(["p0@example.com"]) },
      get: {
        code: 0,
        output: expect.arrayContaining([expect.stringContaining("single@example.com\tBergen")]),
      },
      "unsubscribe one": { code: 0 },
      unsubscribe: { rows: { updated: 3, rejected: 1 } },
      "unsubscribe again": { rows: { updated: 0, unchanged: 3 } },
      "search where": { output: ["4"] },
    });
  });

  it("comes to the same end, step by step, where the service is what the specification shows", async () => {
    const { output, ...literal } = await runJourney({ literal: "yes" }, { isFurnished: true });
    expect(literal, output).toEqual({ ...plain, output: undefined });
  });

  it.each<Record<string, string>>([
    { keys: "first" },
    { "max-keys": "4" },
    { page: "cap:3" },
    { lists: "array" },
    { "mutate-elements": "id", "mutate-answer": "empty" },
    { "search-lag": "30000" },
  ])("comes to the same end there with %j besides", async (variants) => {
    const { output, ...journey } = await runJourney({ ...variants, literal: "yes" }, { isFurnished: true });
    expect(journey, output).toEqual(sameSteps(plain, journey));
  });
});
