/** What a plan comes to in numbers; `guards.slow.test.ts` has what its limits allow. */
import { expect, it } from "vitest";
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
import type { RateLimits } from "../../../src/wire.ts";

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
  ["a remark", { ...change, remark: { code: "r", message: "" } }, { updated: 1, requests: 1, remarks: 1 }],
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
  const first = Array.from({ length: 100 }, (_, index) => ({ line: index + 1 }));
  expect(tally.markedContacts).toMatchObject(first);
  expect(countPlannedWrites(tally)).toBe(225);
});

it("names a list as it is called, whatever its name looks like, where a limit refuses a plan", () => {
  const names = { fields: {}, tags: {}, lists: { l: "100 @ contacts" } };
  const head = { kind: "sync", removals: { listId: "l", members: 5 }, names };
  const failure = findGuardFailure({ ...createTally(), removed: 2 }, {}, { head, isFirst: true });
  const message = 'This would remove 2 of the 5 members of "100 @ contacts"; --max-remove allows 10 %';
  expect(failure).toMatchObject({ message });
});

const defaults = { left: 100, reserve: 0 };
const hour = (remaining: number, reset = 60, limit = 3600) => ({ hour: { limit, remaining, reset } });
const month = (remaining: number) => ({ month: { limit: 1000, remaining } });

it.each<[string, Partial<typeof defaults>, limits: RateLimits, seconds: number, fitsMonth?: boolean]>([
  ["as long as answers take", {}, {}, 3],
  ["an hour that holds it", {}, hour(100), 3],
  ["an hour that does not", {}, hour(50), 62],
  ["several hours", { left: 8000 }, hour(0), 60 + 7200 + 20],
  ["one whole window more", { left: 200 }, hour(100, 600, 100), 603],
  ["one request beyond it", { left: 201 }, hour(100, 600, 100), 600 + 3600 + 1],
  ["what is kept back of the hour", { reserve: 1 }, hour(100), 61],
  ["a month that holds it", {}, month(100), 3],
  ["a month that would, but for what is kept back", { reserve: 1 }, month(100), 3, false],
  ["a month that does not", {}, month(99), 3, false],
])("the price of %s", (_name, given, limits, seconds, fitsMonth = true) => {
  const { left, reserve } = { ...defaults, ...given };
  const send = { counts: { total: 3 } as RequestCounts };
  const options = { reserve, concurrency: 8 };
  const session = { send, options, budget: { limits, clockOffset: 0 }, clock: { now: () => 0 } };
  const plan = { writes: left, requests: left, changes: 0 };
  const price = computePlanPrice(session, plan, { further: 0, blockSize: 100 });
  expect(price).toMatchObject({ estimate: { requests: 3 + left, seconds }, fitsMonth });
});
