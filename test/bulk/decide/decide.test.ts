/** The one judge of a contact, by example. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { isInactive } from "../../../src/api/contacts.ts";
import { decide } from "../../../src/bulk/decide.ts";
import type { Desired, Operation } from "../../../src/bulk/desired.ts";
import { type Changes, toCreateBody, toMutateBody, toRestored, toValues } from "../../../src/bulk/values.ts";
import type { Contact } from "../../../src/wire.ts";

const key = "a@x.org";
const wish = (changes: Changes, more: Partial<Desired> = {}): Desired => ({
  values: toValues(changes),
  absent: "create",
  present: "change",
  mayJoinLists: true,
  ...more,
});
const found: Partial<Contact> = {
  _id: "c",
  key,
  fields: [{ _id: "f", value: "old" }],
  lists: [{ _id: "l" }],
  tags: [{ _id: "t" }],
  __v: 3,
};

it.each<[name: string, wish: Changes, body: object | undefined, more?: Partial<Desired>]>([
  ["leaves what is so already", { fields: [["f", "old"]], addLists: ["l"], addTags: ["t"] }, undefined],
  ["leaves what nobody wishes", {}, undefined],
  ["sets what differs", { fields: [["f", "new"]] }, { updateFields: [{ _id: "f", value: "new" }] }],
  ["clears a value", { fields: [["f", ""]] }, { updateFields: [{ _id: "f", value: "" }] }],
  ["leaves a blank blank", { fields: [["g", ""]] }, undefined],
  [
    "adds the missing ones alone",
    { addLists: ["l", "m"], addTags: ["u"] },
    { addLists: ["m"], addTags: ["u"] },
  ],
  ["removes the present ones alone", { removeLists: ["l", "m"], removeTags: ["u"] }, { removeLists: ["l"] }],
  ["never adds an unsubscribed person to a list", { addLists: ["m"] }, undefined, { mayJoinLists: false }],
])("%s", (_name, changes, body, more) => {
  const decision = decide(key, wish(changes, more), found);
  if (body === undefined) return expect(decision).toEqual({ kind: "leave" });
  const toElement = (each: unknown) => (typeof each === "string" ? { _id: each } : each);
  const elements = Object.entries(body).map(([name, all]) => [name, all.map(toElement)]);
  expect(toMutateBody(decision as Change)).toEqual({ ...Object.fromEntries(elements), __v: 3 });
});

it("puts everything but blanks into the one create", () => {
  const changes: Changes = {
    fields: [
      ["f", "x"],
      ["g", ""],
    ],
    addLists: ["l"],
    addTags: ["t"],
  };
  const create = decide(key, wish(changes), undefined);
  expect(toCreateBody(create as Extract<Operation, { kind: "create" }>, "s")).toEqual({
    key,
    contactStructureId: "s",
    fields: [{ _id: "f", value: "x" }],
    lists: [{ _id: "l" }],
    tags: [{ _id: "t" }],
  });
});

it("never creates whom the file marks as not subscribed", () => {
  const decision = decide(key, wish({ addLists: ["l"] }, { mayJoinLists: false }), undefined);
  expect(decision).toEqual({ kind: "skip", code: "not_subscribed" });
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
      (held, lists, tags, wanted, add, remove, addTags) => {
        const before: Partial<Contact> = {
          _id: "c",
          fields: Object.entries(held).map(([_id, value]) => ({ _id, value })),
          lists: lists.map((_id) => ({ _id })),
          tags: tags.map((_id) => ({ _id })),
        };
        const removeLists = remove.filter((id) => !add.includes(id));
        const desired = wish({ fields: Object.entries(wanted), addLists: add, removeLists, addTags });
        const change = findChange(desired, before);
        if (!change) return;
        const after = carryOut(change, before);
        expect(decide(key, desired, after)).toEqual({ kind: "leave" });
        // Undone, it is as it was, but for blanks that were nothing before.
        const undo = findChange(toRestored(change, {}), after)!;
        const filled = ({ fields: all = [] }: Partial<Contact>) => all.filter(({ value }) => value !== "");
        const restored = carryOut(undo, after);
        expect(new Set(filled(restored))).toEqual(new Set(filled(before)));
        expect(new Set(restored.lists)).toEqual(new Set(before.lists));
        expect(new Set(restored.tags)).toEqual(new Set(before.tags));
      },
    ),
  );
});

type Change = Extract<Operation, { kind: "change" }>;

function findChange(desired: Desired, contact: Partial<Contact>): Change | undefined {
  const decision = decide(key, desired, contact);
  if (decision.kind === "leave") return undefined;
  expect(decision.kind).toBe("change");
  return decision as Change;
}

function carryOut(change: Change, contact: Partial<Contact>): Partial<Contact> {
  const {
    updateFields = [],
    addLists = [],
    removeLists = [],
    addTags = [],
    removeTags = [],
  } = toMutateBody(change);
  const without = (all: Contact["lists"] = [], removed: readonly { _id: string }[]) =>
    (all as { _id: string }[]).filter(({ _id }) => !removed.some((each) => each._id === _id));
  return {
    ...contact,
    fields: [...(without(contact.fields as never, updateFields) as never[]), ...updateFields],
    lists: [...without(contact.lists, removeLists), ...addLists],
    tags: [...without(contact.tags, removeTags), ...addTags],
  };
}
