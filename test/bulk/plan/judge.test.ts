/** What a run does about a contact that was looked up, besides what is desired of it. */
import { expect, it } from "vitest";
import type { Decision, Desired, Item } from "../../../src/bulk/desired.ts";
import { isReadById, type Judging, judge, needsLookup } from "../../../src/bulk/plan/judge.ts";
import type { Found } from "../../../src/bulk/plan/lookup.ts";
import { toValues } from "../../../src/bulk/values.ts";
import { EcmError, type ServiceError } from "../../../src/errors.ts";

const key = "ada@example.com";
const wish: Desired = {
  values: toValues({ fields: [["f", "Rome"]] }),
  absent: "create",
  present: "change",
  mayJoinLists: true,
};
const item = (more: Partial<Item> = {}): Item => ({
  ref: 2,
  line: 2,
  key: { written: key, sent: key, identity: key },
  cells: [],
  desired: wish,
  ...more,
});
const isHeld = { holds: () => true, holdsNow: () => true };
const isFree = { holds: () => false, holdsNow: () => false };
const judging = (more: Partial<Judging> = {}): Judging => ({
  structureId: "s",
  looks: { by: "search", suppressions: "pass-over" },
  suppression: isFree,
  describe: ({ code, parts }) => [code, ...(parts ?? []).map(({ name }) => name)].join(" "),
  ...more,
});
const ofOslo = { _id: "c", key, fields: [{ _id: "f", value: "Oslo" }] };
const ofRome = { _id: "c", key, fields: [{ _id: "f", value: "Rome" }] };
const chosen = (holds: boolean) => ({ selection: { holds: () => holds, needs: [] } as never });
const looks = (suppressions: "hold" | "include", by: "search" | "id" = "search") => ({
  looks: { by, suppressions },
});
const details = { type: "ValidationError", status: 400 };
const refused = new EcmError("service", "no such key", undefined, details) as ServiceError;
const settled = { code: "gone", message: "on line 3" };
const isLost = { what: "field", id: "f", to: "Rome", lost: "gone" } as const;
const lost = { desired: { ...wish, values: [isLost] } };
const isListLost = { what: "list", id: "l", to: true, lost: "gone" } as const;
const lostInPart = { desired: { ...wish, values: [...wish.values, isListLost] } };
const ofNoList = { ...ofOslo, lists: [] };
const names = { fields: { f: "City" }, lists: {}, tags: {} };
const secondLook = (holds: boolean) => ({ ...chosen(holds), isSecondLook: true }) as const;
const hold = (by?: "id") => ({ suppression: isHeld, ...looks("hold", by) });

/** What is done, its code, and its reason in words. */
function describeDecision(decision: Decision): string {
  const reason = "remark" in decision && decision.remark ? decision.remark : decision;
  const { code, message } = reason as { code?: string; message?: string };
  return [decision.kind, code, message && `(${message})`].filter(Boolean).join(" ");
}

it.each<[string, Partial<Item>, Omit<Found, "at">, Partial<Judging>, decision: string]>([
  ["nobody has the key", {}, {}, {}, "create"],
  ["somebody has it", {}, { contact: ofOslo }, {}, "change"],
  ["it is so already", {}, { contact: ofRome }, {}, "leave"],
  ["the key cannot be looked up", {}, { refused }, {}, "reject ValidationError (no such key)"],
  ["another row names them", {}, { contact: ofOslo, isRepeated: true }, {}, "skip duplicate"],
  ["it is settled", { desired: { skip: "truncated" } }, {}, {}, "skip truncated"],
  ["it is settled, with words", { desired: { reject: settled } }, {}, {}, "reject gone (on line 3)"],
  ["it is settled, by a code alone", { desired: { reject: { code: "gone" } } }, {}, {}, "reject gone (gone)"],
  ["who is suppressed is there", {}, { contact: ofOslo }, { suppression: isHeld }, "skip suppressed"],
  ["… a sync takes them out", { isRemoval: true }, { contact: ofOslo }, { suppression: isHeld }, "change"],
  ["… and nobody is only kept from being created", {}, { contact: ofOslo }, hold(), "change"],
  ["who is suppressed is not there", {}, {}, hold(), "skip suppressed"],
  ["… by their id", {}, {}, hold("id"), "skip suppressed"],
  ["they are not chosen", {}, { contact: ofOslo }, chosen(false), "skip not_selected"],
  ["they are not chosen any more", {}, { contact: ofOslo }, secondLook(false), "skip changed"],
  ["… and are as wanted", {}, { contact: ofRome }, secondLook(false), "leave"],
  ["they are still chosen", {}, { contact: ofOslo }, secondLook(true), "change"],
  ["a value is lost", lost, { contact: ofOslo }, { names }, "reject changed_since (changed_since City)"],
  ["one of two is lost", lostInPart, { contact: ofNoList }, {}, "change changed_since (changed_since l)"],
])("%s", (_what, more, found, rules, decision) => {
  const decided = judge(item(more), { ...found, at: 0 }, judging(rules));
  expect(describeDecision(decided)).toBe(decision);
  if ("id" in decided) expect(decided.id).toBe("c");
});

it.each<[string, Partial<Item>, Partial<Judging>, looked: boolean, byId: boolean]>([
  ["a contact by its key", {}, {}, true, false],
  ["a contact of an undo", { contactId: "c" }, looks("hold", "id"), true, true],
  ["somebody of an undo without an id", {}, looks("hold", "id"), true, false],
  ["what is settled", { desired: { skip: "duplicate" }, contactId: "c" }, looks("hold", "id"), false, false],
  ["who is suppressed", {}, { suppression: isHeld }, false, false],
  ["who is suppressed and only not created", {}, { suppression: isHeld, ...looks("hold") }, true, false],
])("is looked up, and by the id: %s", (_what, more, rules, looked, byId) => {
  const rulesOfRun = judging(rules);
  expect([needsLookup(item(more), rulesOfRun), isReadById(item(more), rulesOfRun)]).toEqual([looked, byId]);
});
