import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isInactive } from "../../../src/api/contacts.ts";
import { wasApplied } from "../../../src/bulk/apply/settle.ts";
import type { DesiredContact } from "../../../src/bulk/items.ts";
import { decideUndo } from "../../../src/bulk/jobs/undo-work.ts";
import { computeChange, type DecideOptions, decide, holdsCreate } from "../../../src/bulk/plan/decide.ts";
import type { Contact } from "../../../src/wire.ts";

const options: DecideOptions = { structureId: "s", mode: "upsert", missing: "skip" };
const nothing: DesiredContact = {
  fields: new Map(),
  addLists: [],
  removeLists: [],
  addTags: [],
  removeTags: [],
};
const createDesired = (parts: Partial<DesiredContact>): DesiredContact => ({ ...nothing, ...parts });
const found: Partial<Contact> = {
  _id: "c",
  key: "a@x.org",
  fields: [{ _id: "f", value: "old" }],
  lists: [{ _id: "l" }],
  tags: [{ _id: "t" }],
  __v: 3,
};

it("creates a contact with its own values", () => {
  const desired = createDesired({
    fields: new Map([
      ["f", "own"],
      ["g", ""],
    ]),
  });
  expect(decide("a@x.org", desired, undefined, options)).toMatchObject({
    kind: "create",
    body: { fields: [{ _id: "f", value: "own" }] },
  });
});

describe("deciding on a contact that exists", () => {
  const cases: [name: string, wish: Partial<DesiredContact>, body: object | undefined][] = [
    [
      "leaves what is so already",
      { fields: new Map([["f", "old"]]), addLists: ["l"], addTags: ["t"] },
      undefined,
    ],
    ["leaves what nobody wishes", {}, undefined],
    [
      "sets what differs",
      { fields: new Map([["f", "new"]]) },
      { updateFields: [{ _id: "f", value: "new" }] },
    ],
    ["sets what was blank", { fields: new Map([["g", "x"]]) }, { updateFields: [{ _id: "g", value: "x" }] }],
    ["clears a value", { fields: new Map([["f", ""]]) }, { updateFields: [{ _id: "f", value: "" }] }],
    ["leaves a blank blank", { fields: new Map([["g", ""]]) }, undefined],
    [
      "adds the missing ones alone",
      { addLists: ["l", "m"], addTags: ["u"] },
      { addLists: [{ _id: "m" }], addTags: [{ _id: "u" }] },
    ],
    [
      "removes the present ones alone",
      { removeLists: ["l", "m"], removeTags: ["u"] },
      { removeLists: [{ _id: "l" }] },
    ],
    ["never adds an unsubscribed person to a list", { addLists: ["m"], isNotSubscribed: true }, undefined],
  ];
  it.each(cases)("%s", (_name, parts, body) => {
    const decision = decide("a@x.org", createDesired(parts), found, options);
    if (body === undefined) expect(decision).toEqual({ kind: "leave" });
    else expect(decision).toMatchObject({ kind: "change", contactId: "c", body: { ...body, __v: 3 } });
  });

  it("sends what it cannot know, where the answer did not carry lists or tags", () => {
    const { lists: _lists, tags: _tags, ...bare } = found;
    expect(computeChange(createDesired({ addLists: ["l"], removeTags: ["t"] }), bare)).toEqual({
      body: { addLists: [{ _id: "l" }], removeTags: [{ _id: "t" }], __v: 3 },
      before: { fields: [], knewLists: false, knewTags: false },
    });
  });

  it("remembers what it replaces", () => {
    expect(
      computeChange(
        createDesired({
          fields: new Map([
            ["f", "new"],
            ["g", "x"],
          ]),
        }),
        found,
      )?.before.fields,
    ).toEqual([
      { _id: "f", value: "old" },
      { _id: "g", value: "" },
    ]);
  });

  it("passes it over in mode create", () => {
    const decision = decide("a@x.org", createDesired({ fields: new Map([["f", "new"]]) }), found, {
      ...options,
      mode: "create",
    });
    expect(decision).toEqual({ kind: "skip", code: "exists" });
  });
});

describe("deciding on a contact that does not exist", () => {
  const desired = createDesired({
    fields: new Map([
      ["f", "x"],
      ["g", ""],
    ]),
    addLists: ["l"],
    addTags: ["t"],
  });

  it("puts everything but blanks into the one create", () => {
    expect(decide("a@x.org", desired, undefined, options)).toEqual({
      kind: "create",
      body: {
        key: "a@x.org",
        contactStructureId: "s",
        fields: [{ _id: "f", value: "x" }],
        lists: [{ _id: "l" }],
        tags: [{ _id: "t" }],
      },
    });
  });

  it("never creates whom the file marks as not subscribed", () => {
    expect(decide("a@x.org", { ...desired, isNotSubscribed: true }, undefined, options)).toEqual({
      kind: "skip",
      code: "not_subscribed",
    });
  });

  it.each([
    ["skip" as const, { kind: "skip", code: "missing" }],
    ["reject" as const, { kind: "reject", code: "not_found" }],
  ])("in mode update: %s", (missing, expected) => {
    expect(decide("a@x.org", desired, undefined, { ...options, mode: "update", missing })).toMatchObject(
      expected,
    );
  });
});

describe("settling a write that nobody knows the end of", () => {
  const body = {
    key: "a@x.org",
    contactStructureId: "s",
    fields: [{ _id: "f", value: "x" }],
    lists: [{ _id: "l" }],
  };
  const created = { _id: "c", key: "a@x.org", fields: [{ _id: "f", value: "x" }], lists: [{ _id: "l" }] };
  const at = Date.parse("2026-11-21T12:00:00Z");
  const intent = { key: "a@x.org", at, operation: { kind: "create" as const, body } };

  it("knows its own create by its values and its time", () => {
    const ours = { ...created, createdAt: "2026-11-21T12:00:00.400Z" };
    expect(wasApplied(intent, ours)).toBe(true);
    expect(wasApplied(intent, { ...ours, fields: [{ _id: "f", value: "y" }] })).toBe(false);
    expect(wasApplied(intent, { ...ours, lists: [] })).toBe(false);
    expect(wasApplied(intent, { ...ours, createdAt: "2026-11-20T12:00:00Z" })).toBe(false);
    expect(wasApplied(intent, undefined)).toBe(false);
  });

  it("knows its own change by nothing being left to change", () => {
    const change = {
      kind: "change" as const,
      contactId: "c",
      body: { updateFields: [{ _id: "f", value: "x" }], addLists: [{ _id: "l" }] },
      before: { fields: [], knewLists: true, knewTags: true },
    };
    expect(wasApplied({ ...intent, operation: change }, created)).toBe(true);
    expect(wasApplied({ ...intent, operation: change }, { ...created, lists: [] })).toBe(false);
  });

  it("knows its own deletion by nothing having that id any more, and its own status by the contact being inactive", () => {
    const deletion = { kind: "delete" as const, contactId: "c", contact: created };
    expect(wasApplied({ ...intent, operation: deletion }, undefined)).toBe(true);
    expect(wasApplied({ ...intent, operation: deletion }, { ...created, _id: "another" })).toBe(true);
    expect(wasApplied({ ...intent, operation: deletion }, { ...created, _id: "c" })).toBe(false);
    const status = { kind: "status" as const, contactId: "c", status: { primary: "Inactive" } };
    const inactive = { ...created, status: { primary: "Inactive" } };
    expect(wasApplied({ ...intent, operation: status }, inactive)).toBe(true);
    expect(wasApplied({ ...intent, operation: status }, created)).toBe(false);
    expect(wasApplied({ ...intent, operation: status }, undefined)).toBe(false);
  });

  it("takes more than was asked for as what was asked for", () => {
    expect(
      holdsCreate(body, {
        ...created,
        tags: [{ _id: "automatic" }],
        fields: [...created.fields, { _id: "g", value: "auto" }],
      }),
    ).toBe(true);
  });
});

it.each([
  [{ primary: "Inactive", secondary: "Unsubscribe" }, true],
  [{ primary: "inactive" }, true],
  [{ primary: "active", secondary: "confirmed" }, false],
  [undefined, false],
])("tells an inactive contact by %j, whatever the letter case", (status, expected) => {
  expect(isInactive({ status })).toBe(expected);
});

it("leaves nothing to change once a change is carried out, whatever was wished and whatever was there", () => {
  const ids = fc.subarray(["a", "b", "c"]);
  const values = fc.dictionary(fc.constantFrom("f", "g", "h"), fc.constantFrom("", "x", "y"));
  fc.assert(
    fc.property(
      values,
      ids,
      ids,
      values,
      ids,
      ids,
      ids,
      (fields, lists, tags, desired, add, remove, addTags) => {
        const held: Partial<Contact> = {
          _id: "c",
          fields: Object.entries(fields).map(([_id, value]) => ({ _id, value })),
          lists: lists.map((_id) => ({ _id })),
          tags: tags.map((_id) => ({ _id })),
        };
        const wanting = createDesired({
          fields: new Map(Object.entries(desired)),
          addLists: add,
          removeLists: remove.filter((id) => !add.includes(id)),
          addTags,
        });
        const change = computeChange(wanting, held);
        if (!change) return;
        const { updateFields = [], addLists = [], removeLists = [], addTags: added = [] } = change.body;
        const removed = new Set(removeLists.map(({ _id }) => _id));
        const after: Partial<Contact> = {
          ...held,
          fields: [
            ...held.fields!.filter(({ _id }) => !updateFields.some((each) => each._id === _id)),
            ...updateFields,
          ],
          lists: [...held.lists!.filter(({ _id }) => !removed.has(_id)), ...addLists],
          tags: [...held.tags!, ...added],
        };
        expect(computeChange(wanting, after)).toBeUndefined();
        // Undone, it is as it was, but for blanks that were nothing before.
        const operation = { kind: "change" as const, contactId: "c", ...change };
        const item = {
          kind: "contact" as const,
          ref: 1,
          line: null,
          key: { written: "a", sent: "a", identity: "a" },
          cells: ["a"],
          undoes: { ref: 1, key: "a", operation },
        };
        const undo = decideUndo(item, after);
        expect(undo.kind).toBe("change");
      },
    ),
  );
});
