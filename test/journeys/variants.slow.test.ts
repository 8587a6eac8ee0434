/**
 * The journey under many variants at once; under each alone, and pairs of them, in single-variants.slow.test.ts.
 */
import { expect, it } from "vitest";
import { runJourney } from "./variant-journey.ts";

it("comes to the same end whatever the service decides, and what is imported again writes nothing", async () => {
  const plain = await runJourney({});
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
  expect(plain.writesOfRepeats).toEqual([0, 0, 0]);
  expect(plain.steps).toMatchObject({
    import: { code: 0, rows: { created: 14 } },
    "import changes": { code: 0, rows: { created: 3, updated: 4, unchanged: 10 } },
    sync: { code: 0, rows: { updated: 8, unchanged: 1 } },
    clone: { contacts: 18 },
  });
});

it("comes to the same end where the service is what the specification shows, to the letter", async () => {
  const plain = await runJourney({}, { isFurnished: true });
  const { output, ...literal } = await runJourney({ literal: "yes" }, { isFurnished: true });
  expect(literal, output).toEqual({ ...plain, output: undefined });
  expect(plain.steps).toMatchObject({
    export: { code: 0, keys: expect.arrayContaining(["p0@example.com"]) },
    get: { code: 0, output: expect.arrayContaining([expect.stringContaining("single@example.com\tBergen")]) },
    "unsubscribe one": { code: 0 },
    unsubscribe: { rows: { updated: 3, rejected: 1 } },
    "unsubscribe again": { rows: { updated: 0, unchanged: 3 } },
    "search where": { output: ["4"] },
  });
});
