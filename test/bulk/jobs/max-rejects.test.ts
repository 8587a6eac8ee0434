/** How many rejected rows stop a run, while it is planned and while it writes. */
import { expect, it } from "vitest";
import { createTally } from "../../../src/bulk/plan/numbers.ts";
import { findMaxRejectsStop, type RunContext } from "../../../src/bulk/plan/session.ts";
import type { Limit } from "../../../src/bulk/runs/folder.ts";
import { Ledger } from "../../../src/bulk/runs/ledger.ts";

const none = {
  read: 1000,
  /** Rejected by the input; by the plan; by the service. */
  invalid: 0,
  planned: 0,
  refused: 0,
  /** Written; to be written; as they should be. */
  updated: 0,
  toUpdate: 0,
  unchanged: 0,
};
type Counts = Partial<typeof none>;

const cases: [why: string, counts: Counts, limit: Limit | undefined, stops: boolean][] = [
  ["nothing was accepted", { invalid: 50 }, undefined, true],
  ["one less", { invalid: 49 }, undefined, false],
  ["all kinds count together", { invalid: 20, planned: 20, refused: 10 }, undefined, true],
  ["one is as it should be", { invalid: 50, unchanged: 1 }, undefined, false],
  ["one was written", { invalid: 50, updated: 1 }, undefined, false],
  ["one will be written", { invalid: 50, toUpdate: 1 }, undefined, false],
  ["what was to be written is refused", { refused: 50, toUpdate: 50 }, undefined, true],
  ["the limit", { invalid: 3, unchanged: 90 }, { rows: 3 }, true],
  ["below the limit", { invalid: 2, unchanged: 90 }, { rows: 3 }, false],
  ["a limit of none, and one", { invalid: 1 }, { rows: 0 }, true],
  ["a limit of none, and none", {}, { rows: 0 }, false],
  ["a share", { invalid: 10, read: 100 }, { percent: 10 }, true],
  ["less than the share", { invalid: 9, read: 100 }, { percent: 10 }, false],
  ["no share of anything", { read: 100 }, { percent: 0 }, false],
];

it.each(cases)("%s: %o, limit %o", (_, counts, limit, stops) => {
  const stop = findMaxRejectsStop(toState(counts, limit));
  expect(stop?.by).toBe(stops ? "max-rejects" : undefined);
});

function toState(counts: Counts, maxRejects: Limit | undefined): RunContext {
  const { read, invalid, planned, refused, updated, toUpdate, unchanged } = { ...none, ...counts };
  const ledger = new Ledger();
  let ref = 1;
  for (let each = 0; each < refused; each++)
    ledger.take({ kind: "done", ref: ref++, outcome: "rejected", code: "ServiceError" });
  for (let each = 0; each < updated; each++) ledger.take({ kind: "done", ref: ref++, outcome: "updated" });
  return {
    options: { isDryRun: false, guards: maxRejects && { maxRejects } },
    input: { read, skipped: {}, rejected: { invalid } },
    tally: { ...createTally(), rejected: { not_found: planned }, updated: toUpdate, unchanged },
    ledger,
  } as unknown as RunContext;
}
