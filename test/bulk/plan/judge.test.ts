/** What a run does about a contact that was looked up, besides what is desired of it. */
import { expect, it } from "vitest";
import type { Desired, Item } from "../../../src/bulk/desired.ts";
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
const [created, changed] = [
  { kind: "create", key },
  { kind: "change", id: "c" },
];
const details = { type: "ValidationError", status: 400 };
const refused = new EcmError("service", "no such key", undefined, details) as ServiceError;

it.each<[string, Partial<Item>, Omit<Found, "at">, Partial<Judging>, object]>([
  ["nobody has the key", {}, {}, {}, created],
  ["somebody has it", {}, { contact: ofOslo }, {}, changed],
  ["it is so already", {}, { contact: ofRome }, {}, { kind: "leave" }],
  ["the key cannot be looked up", {}, { refused }, {}, { kind: "reject", code: "ValidationError" }],
  [
    "another row names them",
    {},
    { contact: ofOslo, isRepeated: true },
    {},
    { kind: "skip", code: "duplicate" },
  ],
  ["it is settled", { desired: { skip: "truncated" } }, {}, {}, { kind: "skip", code: "truncated" }],
  [
    "it is settled, with words",
    { desired: { reject: { code: "gone", message: "on line 3" } } },
    {},
    {},
    { kind: "reject", code: "gone", message: "on line 3" },
  ],
  [
    "it is settled, by a code alone",
    { desired: { reject: { code: "gone" } } },
    {},
    {},
    { kind: "reject", code: "gone", message: "gone" },
  ],
  [
    "who is suppressed is there",
    {},
    { contact: ofOslo },
    { suppression: isHeld },
    { kind: "skip", code: "suppressed" },
  ],
  ["… and a sync takes them out", { isRemoval: true }, { contact: ofOslo }, { suppression: isHeld }, changed],
  [
    "… and nobody is only kept from being created",
    {},
    { contact: ofOslo },
    { suppression: isHeld, ...looks("hold") },
    changed,
  ],
  [
    "who is suppressed is not there",
    {},
    {},
    { suppression: isHeld, ...looks("hold") },
    { kind: "skip", code: "suppressed" },
  ],
  [
    "… by their id",
    {},
    {},
    { suppression: isHeld, ...looks("hold", "id") },
    { kind: "skip", code: "suppressed" },
  ],
  ["they are not chosen", {}, { contact: ofOslo }, chosen(false), { kind: "skip", code: "not_selected" }],
  [
    "they are not chosen any more",
    {},
    { contact: ofOslo },
    { ...chosen(false), isSecondLook: true },
    { kind: "skip", code: "changed" },
  ],
  [
    "… and are as wanted",
    {},
    { contact: ofRome },
    { ...chosen(false), isSecondLook: true },
    { kind: "leave" },
  ],
  ["they are still chosen", {}, { contact: ofOslo }, { ...chosen(true), isSecondLook: true }, changed],
  [
    "a value cannot go back",
    { desired: { ...wish, values: [{ what: "field", id: "f", to: "Rome", lost: "gone" }] } },
    { contact: ofOslo },
    { names: { fields: { f: "City" }, lists: {}, tags: {} } },
    { kind: "reject", code: "changed_since", message: "changed_since City" },
  ],
  [
    "one of two values cannot go back",
    {
      desired: {
        ...wish,
        values: [...wish.values, { what: "list", id: "l", to: true, lost: "gone" }],
      },
    },
    { contact: { ...ofOslo, lists: [] } },
    {},
    { ...changed, remark: { code: "changed_since", message: "changed_since l" } },
  ],
])("%s", (_what, more, found, rules, decision) => {
  expect(judge(item(more), { ...found, at: 0 }, judging(rules))).toMatchObject(decision);
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
