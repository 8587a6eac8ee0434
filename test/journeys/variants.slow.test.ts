/** The whole journey under every variant, in pairs of how the service is read and how it is written, and many at once. */
import { describe, expect, it } from "vitest";
import { type Journey, runJourney } from "./variant-journey.ts";

type Variants = Record<string, string>;

/** Every step, what the account holds in the end, and the writes of what had nothing to do are the same. */
function expectSame({ output, ...journey }: Journey, { output: _said, ...plain }: Journey): void {
  expect(journey, output).toEqual(plain);
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

  const many = { keys: "first", page: "cap:3", lists: "array", "mutate-elements": "id" };
  it.each<Variants>([
    { ...many, "mutate-answer": "empty", noop: "NoChangesError", "hourly-headers": "missing" },
    { keys: "refused", lists: "array" },
    { keys: "first", "mutate-elements": "object" },
    { "max-keys": "1", "mutate-answer": "other" },
    { "max-keys": "4", "mutate-elements": "id" },
    { "max-keys": "7", "hourly-headers": "missing" },
    { page: "cap:3", "mutate-answer": "empty" },
    { page: "refuse:3", noop: "NoChangesError" },
    { page: "cap:10" },
    { page: "refuse:30", keys: "refused", "max-keys": "20" },
    { "search-lag": "1000" },
    { "search-lag": "30000", lists: "array", "mutate-elements": "id" },
    { source: "specified" },
  ])("comes to the same end, step by step, under %j", async (variants) => {
    expectSame(await runJourney(variants), plain);
  });
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

  it.each<Variants>([
    {},
    { keys: "first", lists: "array" },
    { "max-keys": "4", "mutate-elements": "id", "mutate-answer": "empty" },
    { page: "cap:3" },
    { "search-lag": "30000" },
  ])("comes to the same end where the service is what the specification shows, with %j", async (variants) => {
    expectSame(await runJourney({ ...variants, literal: "yes" }, { isFurnished: true }), plain);
  });
});
