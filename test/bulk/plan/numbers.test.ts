/** What a plan comes to in numbers, and what its limits allow. */
import { describe, expect, it } from "vitest";
import type { Decision, Desired, Item, Write } from "../../../src/bulk/desired.ts";
import type { RequestCounts } from "../../../src/bulk/pace/paced-send.ts";
import {
  addToTally,
  computePlanPrice,
  countPlannedWrites,
  createTally,
  findGuardFailure,
  type PlanTally,
} from "../../../src/bulk/plan/numbers.ts";
import type { GuardOptions } from "../../../src/bulk/runs/folder.ts";

const item: Item = {
  ref: 2,
  line: 2,
  key: { written: "a@x.org", sent: "a@x.org", identity: "a@x.org" },
  cells: [],
  desired: { values: [], absent: "create", present: "change", mayJoinLists: true },
};
const change: Write = { kind: "change", id: "c", values: [] };
const unsubscription: Write = { kind: "unsubscribe", id: "c" };

it.each<[name: string, decision: Decision, counted: Partial<PlanTally>, more?: Partial<Item>]>([
  ["a create", { kind: "create", key: "a@x.org", values: [] }, { created: 1, requests: 1 }],
  ["a change", change, { updated: 1, requests: 1 }],
  ["a removal from a list", change, { removed: 1, requests: 1 }, { isRemoval: true }],
  ["an unsubscription", unsubscription, { updated: 1, unsubscribed: 1, requests: 1 }],
  ["a deletion", { kind: "delete", id: "c", contact: {} }, { deleted: 1, requests: 1 }],
  ["nothing to do", { kind: "leave" }, { unchanged: 1 }],
  ["who is skipped", { kind: "skip", code: "exists" }, { skipped: { exists: 1 } }],
  ["who is rejected", { kind: "reject", code: "gone", message: "" }, { rejected: { gone: 1 } }],
  [
    "a write with a remark",
    { ...change, remark: { code: "r", message: "" } },
    { updated: 1, requests: 1, remarks: 1 },
  ],
])("counts %s", (_name, decision, counted, more = {}) => {
  const tally = createTally();
  addToTally(tally, { item: { ...item, ...more }, decision, contact: undefined }, 0);
  expect(tally).toEqual({ ...createTally(), ...counted });
});

it("counts reads before writes, who is inactive, and the first hundred who are marked", () => {
  const tally = createTally();
  const marked = { ...(item.desired as Desired), mayJoinLists: false };
  for (let line = 1; line <= 225; line++) {
    const contact = { _id: "c", contactStatus: line > 150 ? "Inactive" : "Active" };
    addToTally(tally, { item: { ...item, line, desired: marked }, decision: change, contact }, 1);
  }
  expect(tally).toMatchObject({ updated: 225, requests: 450, inactive: 75, marked: 150 });
  expect(tally.markedContacts.map(({ line }) => line)).toEqual(
    Array.from({ length: 100 }, (_, index) => index + 1),
  );
  expect(countPlannedWrites(tally)).toBe(225);
});

describe("guards", () => {
  // 8 contacts are looked at; rows that are rejected are none of them.
  const tally: PlanTally = {
    ...createTally(),
    created: 1,
    updated: 2,
    removed: 1,
    deleted: 1,
    unchanged: 2,
    skipped: { exists: 1 },
    rejected: { gone: 90 },
  };

  const of = (kind: string) => ({
    head: { kind, names: { fields: {}, lists: { l: "News" }, tags: {} } },
    isFirst: true,
  });

  it.each<[GuardOptions, string | undefined]>([
    [{}, undefined],
    [{ maxChanges: { rows: 5 } }, undefined],
    [{ maxChanges: { rows: 4 } }, "This would write to 5 contacts (of 8 looked at); --max-changes allows 4"],
    [{ maxChanges: { percent: 62.5 } }, undefined],
    [
      { maxChanges: { percent: 62.4 } },
      "This would write to 5 contacts (of 8 looked at); --max-changes allows 62.4 %",
    ],
    [{ maxChanges: { percent: 100 } }, undefined],
    [
      { maxChanges: { percent: 0 } },
      "This would write to 5 contacts (of 8 looked at); --max-changes allows 0 %",
    ],
    [
      { maxDelete: { percent: 12 } },
      "This would delete 1 contact (of 8 looked at); --max-delete allows 12 %",
    ],
    [
      { maxChanges: { rows: 5 }, maxDelete: { rows: 0 } },
      "This would delete 1 contact (of 8 looked at); --max-delete allows 0",
    ],
  ])("%j", (guards, message) => {
    expect(findGuardFailure(tally, guards, of("import"))?.message).toBe(message);
  });

  it.each<[kind: string, isFirst: boolean, GuardOptions, message: string | undefined]>([
    ["sync", true, {}, 'This would remove 1 of the 9 members of "News"; --max-remove allows 10 %'],
    ["sync", true, { maxRemove: { rows: 1 } }, undefined],
    ["sync", true, { maxRemove: { percent: 11.2 } }, undefined],
    [
      "sync",
      true,
      { maxRemove: { rows: 0 } },
      'This would remove 1 of the 9 members of "News"; --max-remove allows 0',
    ],
    // What began was allowed more, and a plan is applied as it was approved.
    ["sync", false, {}, undefined],
    ["apply", true, {}, undefined],
    [
      "apply",
      true,
      { maxRemove: { percent: 10 } },
      'This would remove 1 of the 9 members of "News"; --max-remove allows 10 %',
    ],
  ])("of a %s, first: %s, %j", (kind, isFirst, guards, message) => {
    const plan = { head: { ...of(kind).head, removals: { listId: "l", members: 9 } }, isFirst };
    expect(findGuardFailure(tally, guards, plan)?.message).toBe(message);
  });

  it("let nothing at all pass, whatever they allow", () => {
    const zero = { percent: 0 };
    const all = { maxChanges: zero, maxDelete: zero };
    expect(findGuardFailure(createTally(), all, of("import"))).toBeUndefined();
  });
});

describe("price", () => {
  const defaults = { spent: 3, left: 100, limits: {}, reserve: 0, concurrency: 8 };
  const hour = (remaining: number, reset?: number) => ({ limit: 3600, remaining, reset });
  it.each<
    [
      string,
      Partial<typeof defaults> & { limits?: object },
      { requests: number; seconds: number; fitsMonth: boolean },
    ]
  >([
    ["as long as answers take", {}, { requests: 103, seconds: 3, fitsMonth: true }],
    [
      "an hour that holds it",
      { limits: { hour: hour(100, 60) } },
      { requests: 103, seconds: 3, fitsMonth: true },
    ],
    [
      "an hour that does not",
      { limits: { hour: hour(50, 60) } },
      { requests: 103, seconds: 62, fitsMonth: true },
    ],
    [
      "several hours",
      { left: 8000, limits: { hour: hour(0, 60) } },
      { requests: 8003, seconds: 60 + 7200 + 20, fitsMonth: true },
    ],
    [
      "one whole window more",
      { left: 200, limits: { hour: { limit: 100, remaining: 100, reset: 600 } } },
      { requests: 203, seconds: 603, fitsMonth: true },
    ],
    [
      "one request beyond it",
      { left: 201, limits: { hour: { limit: 100, remaining: 100, reset: 600 } } },
      { requests: 204, seconds: 600 + 3600 + 1, fitsMonth: true },
    ],
    [
      "what is kept back of the hour",
      { limits: { hour: hour(100, 60) }, reserve: 1 },
      { requests: 103, seconds: 61, fitsMonth: true },
    ],
    [
      "a month that holds it",
      { limits: { month: { limit: 1000, remaining: 100 } } },
      { requests: 103, seconds: 3, fitsMonth: true },
    ],
    [
      "a month that would, but for what is kept back",
      { limits: { month: { limit: 1000, remaining: 100 } }, reserve: 1 },
      { requests: 103, seconds: 3, fitsMonth: false },
    ],
    [
      "a month that does not",
      { limits: { month: { limit: 1000, remaining: 99 } } },
      { requests: 103, seconds: 3, fitsMonth: false },
    ],
  ])("%s", (_name, given, { requests, seconds, fitsMonth }) => {
    const { spent, left, limits, reserve, concurrency } = { ...defaults, ...given };
    const price = computePlanPrice(
      {
        send: { counts: { total: spent } as RequestCounts },
        budget: { limits, clockOffset: 0 },
        options: { reserve, concurrency },
        clock: { now: () => 0 },
      },
      { writes: left, requests: left, changes: 0 },
      { further: 0, blockSize: 100 },
    );
    expect({ ...price.estimate, fitsMonth: price.fitsMonth }).toEqual({
      requests,
      seconds,
      fitsMonth,
    });
  });
});
