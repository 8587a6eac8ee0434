/** What `ecm apply` decides of a contact: what was approved where it is as it was, and nothing else. */
import { describe, expect, it } from "vitest";
import { asApproved, decide, toBefore } from "../../../src/bulk/decide.ts";
import type { Before, Desired } from "../../../src/bulk/desired.ts";
import { judge } from "../../../src/bulk/plan/judge.ts";
import { type Changes, toValues } from "../../../src/bulk/values.ts";
import type { Contact } from "../../../src/wire.ts";

const key = "a@x.org";
const item = {
  ref: 2,
  line: 2,
  key: { written: key, sent: key, identity: key },
  cells: [],
} as const;
const wish = (changes: Changes, more: Partial<Desired> = {}): Desired => ({
  values: toValues(changes),
  absent: "create",
  present: "change",
  mayJoinLists: true,
  ...more,
});
/** What the plan's line keeps of the contact. */
function toBeforeOf(desired: Desired, contact: Partial<Contact>): Before {
  const verdict = decide(key, desired, contact);
  if (!("unmet" in verdict) || verdict.do === undefined) throw new Error("nothing is written");
  return toBefore(verdict.do, contact)!;
}
function judgeApproved(
  desired: Desired,
  before: Before | undefined,
  contact: Partial<Contact> | undefined,
  isSuppressed = false,
) {
  const suppression = { holds: () => isSuppressed, holdsNow: () => isSuppressed };
  const approved = { ...item, desired: asApproved(desired, before) };
  return judge(
    approved,
    { contact, at: 0 },
    {
      structureId: "s",
      looks: { by: "search", suppressions: "hold" },
      suppression,
      describe: ({ code }) => code,
    },
  );
}
const changed = { kind: "skip", code: "changed" };
const leave = { kind: "leave" };

const as = (more: Partial<Contact> = {}): Partial<Contact> => ({
  _id: "c",
  key,
  __v: 4,
  contactStatus: "Active",
  fields: [{ _id: "f", value: "old" }],
  lists: [{ _id: "gone" }],
  tags: [],
  ...more,
});

describe("a create", () => {
  const create = wish({ fields: [["f", "x"]], addLists: ["l"] });
  const values = [
    { what: "field", id: "f", to: "x", was: null },
    { what: "list", id: "l", to: true, was: false },
  ];
  it.each<[string, Partial<Contact> | undefined, object]>([
    ["nobody is there", undefined, { kind: "create", key, values }],
    [
      "who is there holds all of it",
      as({ fields: [{ _id: "f", value: "x" }], lists: [{ _id: "l" }] }),
      leave,
    ],
    ["who is there has another value", as({ lists: [{ _id: "l" }] }), changed],
    ["who is there is in another list", as({ fields: [{ _id: "f", value: "x" }] }), changed],
  ])("%s", (_name, found, decision) => expect(judgeApproved(create, undefined, found)).toEqual(decision));

  it("of somebody who is suppressed is none", () => {
    expect(judgeApproved(create, undefined, undefined, true)).toEqual({ kind: "skip", code: "suppressed" });
  });
});

describe("a change", () => {
  const change = wish({ fields: [["f", "new"]], addLists: ["l"], removeLists: ["gone"] });
  const before = toBeforeOf(change, as({ __v: 3 }));
  const values = [
    { what: "field", id: "f", to: "new", was: "old" },
    { what: "list", id: "l", to: true, was: false },
    { what: "list", id: "gone", to: false, was: true },
  ];
  const currentChange = { kind: "change", id: "c", version: 4, values };
  const ofUnknownLists = values.map((each) => (each.what === "list" ? { ...each, was: null } : each));
  const done = as({ fields: [{ _id: "f", value: "new" }], lists: [{ _id: "l" }] });

  it.each<[string, Partial<Contact> | undefined, object]>([
    ["as it was, with the version of now", as(), currentChange],
    ["as it was, of unknown version", as({ __v: undefined }), { kind: "change", id: "c", values }],
    [
      "something else was changed",
      as({
        tags: [{ _id: "t" }],
        fields: [
          { _id: "f", value: "old" },
          { _id: "g", value: "z" },
        ],
      }),
      currentChange,
    ],
    ["it is as wanted", done, leave],
    ["another value", as({ fields: [{ _id: "f", value: "other" }] }), changed],
    ["no value", as({ fields: [] }), changed],
    ["the value is there, the list is not", as({ fields: [{ _id: "f", value: "new" }] }), changed],
    ["in the list", as({ lists: [{ _id: "gone" }, { _id: "l" }] }), changed],
    ["out of the list that it leaves", as({ lists: [] }), changed],
    ["lists that nobody tells", as({ lists: undefined }), { ...currentChange, values: ofUnknownLists }],
    ["unsubscribed since", as({ contactStatus: "Inactive" }), changed],
    ["another contact with this key", as({ _id: "d" }), changed],
    ["gone", undefined, changed],
  ])("%s", (_name, found, decision) => expect(judgeApproved(change, before, found)).toEqual(decision));

  it("of somebody who was inactive when it was approved is carried out", () => {
    const hadLeft = { ...before, isInactive: true as const };
    expect(judgeApproved(change, hadLeft, as({ contactStatus: "Inactive" })).kind).toBe("change");
  });

  it("by whose plan lists were not known is carried out whatever they are", () => {
    const values = before.values.map((each) => (each.what === "list" ? { ...each, to: null } : each));
    const unknown = { ...before, values };
    expect(judgeApproved(change, unknown, as({ lists: [] })).kind).toBe("change");
  });
});

describe("an unsubscription", () => {
  const unsubscription = wish({}, { end: "unsubscribe" });
  const before = toBeforeOf(unsubscription, as());
  const written = { kind: "unsubscribe", id: "c", was: { primary: "Active", secondary: undefined } };
  it.each<[string, Partial<Contact> | undefined, object]>([
    ["as it was", as(), written],
    ["of another status by now", as({ contactStatus: "Pending" }), changed],
    ["inactive already", as({ contactStatus: "Inactive" }), leave],
    ["gone", undefined, changed],
    ["another contact", as({ _id: "d" }), changed],
  ])("%s", (_name, found, decision) =>
    expect(judgeApproved(unsubscription, before, found)).toEqual(decision),
  );
});

describe("a deletion", () => {
  const deletion = wish({}, { end: "delete" });
  const before = toBeforeOf(deletion, as());
  const now = (contact: Partial<Contact>) => ({ kind: "delete", id: "c", contact });
  it.each<[string, Partial<Contact> | undefined, object]>([
    ["as it was", as(), now(as())],
    ["of another version alone", as({ __v: 9 }), now(as({ __v: 9 }))],
    [
      "an empty value more",
      as({
        fields: [
          { _id: "f", value: "old" },
          { _id: "g", value: "" },
        ],
      }),
      now(
        as({
          fields: [
            { _id: "f", value: "old" },
            { _id: "g", value: "" },
          ],
        }),
      ),
    ],
    ["another value", as({ fields: [{ _id: "f", value: "x" }] }), changed],
    [
      "a value more",
      as({
        fields: [
          { _id: "f", value: "old" },
          { _id: "g", value: "z" },
        ],
      }),
      changed,
    ],
    ["in another list", as({ lists: [{ _id: "l" }] }), changed],
    ["with a tag more", as({ tags: [{ _id: "t" }] }), changed],
    ["unsubscribed since", as({ contactStatus: "Inactive" }), changed],
    ["another contact with this key", as({ _id: "d" }), { kind: "skip", code: "missing" }],
    ["gone", undefined, { kind: "skip", code: "missing" }],
  ])("%s", (_name, found, decision) => expect(judgeApproved(deletion, before, found)).toEqual(decision));
});
