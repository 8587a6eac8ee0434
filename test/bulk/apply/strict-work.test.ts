/** What `ecm apply` decides of a contact: what was approved where it is as it was, and nothing else. */
import { describe, expect, it } from "vitest";
import { replaceStandIns } from "../../../src/bulk/apply/stand-ins.ts";
import type { Operation } from "../../../src/bulk/items.ts";
import { createStrictWork } from "../../../src/bulk/jobs/strict-work.ts";
import type { Contact } from "../../../src/wire.ts";

const key = "a@x.org";
const item = {
  kind: "contact",
  ref: 2,
  line: 2,
  key: { written: key, sent: key, identity: key },
  cells: [],
} as const;
const decide = (approved: Operation, found: Partial<Contact> | undefined, isSuppressed = false) => {
  const suppressions = { has: () => isSuppressed } as unknown as Parameters<typeof createStrictWork>[0];
  return createStrictWork(suppressions).decide({ ...item, approved }, found);
};
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
  const create: Operation = {
    kind: "create",
    body: { key, contactStructureId: "s", fields: [{ _id: "f", value: "x" }], lists: [{ _id: "l" }] },
  };
  it.each<[string, Partial<Contact> | undefined, object]>([
    ["nobody is there", undefined, create],
    [
      "who is there holds all of it",
      as({ fields: [{ _id: "f", value: "x" }], lists: [{ _id: "l" }] }),
      leave,
    ],
    ["who is there has another value", as({ lists: [{ _id: "l" }] }), changed],
    ["who is there is in another list", as({ fields: [{ _id: "f", value: "x" }] }), changed],
  ])("%s", (_name, found, decision) => expect(decide(create, found)).toEqual(decision));

  it("of somebody who is suppressed is none", () => {
    expect(decide(create, undefined, true)).toEqual({ kind: "skip", code: "suppressed" });
  });
});

describe("a change", () => {
  const change: Operation & { kind: "change" } = {
    kind: "change",
    contactId: "c",
    body: {
      updateFields: [{ _id: "f", value: "new" }],
      addLists: [{ _id: "l" }],
      removeLists: [{ _id: "gone" }],
      __v: 3,
    },
    before: { fields: [{ _id: "f", value: "old" }], knewLists: true, knewTags: true },
  };
  const currentChange = { ...change, body: { ...change.body, __v: 4 } };
  const { __v: _, ...bodyWithoutVersion } = change.body;
  const done = as({ fields: [{ _id: "f", value: "new" }], lists: [{ _id: "l" }] });

  it.each<[string, Partial<Contact> | undefined, object]>([
    ["as it was, with the version of now", as(), currentChange],
    ["as it was, of unknown version", as({ __v: undefined }), { ...change, body: bodyWithoutVersion }],
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
    ["lists that nobody tells", as({ lists: undefined }), currentChange],
    ["unsubscribed since", as({ contactStatus: "Inactive" }), changed],
    ["another contact with this key", as({ _id: "d" }), changed],
    ["gone", undefined, changed],
  ])("%s", (_name, found, decision) => expect(decide(change, found)).toEqual(decision));

  it("of somebody who was inactive when it was approved is carried out", () => {
    const approved = { ...change, before: { ...change.before, inactive: true as const } };
    const { kind } = decide(approved, as({ contactStatus: "Inactive" }));
    expect(kind).toBe("change");
  });

  it("by whose plan lists were not known is carried out whatever they are", () => {
    const approved = { ...change, before: { ...change.before, knewLists: false } };
    expect(decide(approved, as({ lists: [] })).kind).toBe("change");
  });
});

describe("an unsubscription", () => {
  const status: Operation = {
    kind: "status",
    contactId: "c",
    status: { primary: "Inactive", secondary: "Unsubscribe" },
  };
  it.each<[string, Operation, Partial<Contact> | undefined, object]>([
    ["as it was", status, as(), status],
    ["inactive already", status, as({ contactStatus: "Inactive" }), leave],
    ["gone", status, undefined, changed],
    ["another contact", status, as({ _id: "d" }), changed],
  ])("%s", (_name, approved, found, decision) => expect(decide(approved, found)).toEqual(decision));
});

describe("a deletion", () => {
  const deletion: Operation = { kind: "delete", contactId: "c", contact: as() };
  const now = (found: Partial<Contact>) => ({ ...deletion, contact: found });
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
    ["another contact with this key", as({ _id: "d" }), changed],
    ["gone", undefined, { kind: "skip", code: "missing" }],
  ])("%s", (_name, found, decision) => expect(decide(deletion, found)).toEqual(decision));
});

describe("names that did not exist when the plan was made", () => {
  const ids = new Map([
    ["new list L", "l1"],
    ["new tag T", "t1"],
  ]);
  it("are ids once they do, wherever they stand", () => {
    const body = {
      key,
      contactStructureId: "s",
      lists: [{ _id: "new list L" }, { _id: "old" }],
      tags: [{ _id: "new tag T" }],
    };
    const create: Operation = { kind: "create", body };
    const desired = {
      fields: [] as [string, string][],
      addLists: ["new list L"],
      removeLists: ["old"],
      addTags: ["new tag T"],
      removeTags: [],
    };
    expect(replaceStandIns({ operation: create, desired }, ids)).toEqual({
      operation: {
        kind: "create",
        body: { ...body, lists: [{ _id: "l1" }, { _id: "old" }], tags: [{ _id: "t1" }] },
      },
      desired: { ...desired, addLists: ["l1"], addTags: ["t1"] },
    });
    const change = (id: string): Operation & { kind: "change" } => ({
      kind: "change",
      contactId: "c",
      body: { addTags: [{ _id: id }], __v: 3 },
      before: { fields: [], knewLists: true, knewTags: true },
    });
    expect(replaceStandIns({ operation: change("new tag T") }, ids).operation).toEqual(change("t1"));
  });

  it("stay as they are until then, and where a value reads like one", () => {
    const create: Operation = {
      kind: "create",
      body: { key: "new list L", contactStructureId: "s", fields: [{ _id: "f", value: "new list L" }] },
    };
    expect(replaceStandIns({ operation: create }, ids).operation).toEqual(create);
    const createByName: Operation = {
      kind: "create",
      body: { key, contactStructureId: "s", lists: [{ _id: "new list L" }] },
    };
    expect(replaceStandIns({ operation: createByName }, new Map()).operation).toBe(createByName);
  });
});
