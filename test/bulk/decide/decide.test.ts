/** What is sent of a decision; that it is the right one is shown beside a model. */
import { expect, it } from "vitest";
import { isInactive } from "../../../src/api/contacts.ts";
import { decide } from "../../../src/bulk/decide.ts";
import type { Desired, Operation } from "../../../src/bulk/desired.ts";
import { type Changes, toCreateBody, toMutateBody, toValues } from "../../../src/bulk/values.ts";
import type { Contact } from "../../../src/wire.ts";

const key = "a@x.org";
const found: Partial<Contact> = {
  _id: "c",
  key,
  fields: [{ _id: "f", value: "old" }],
  lists: [{ _id: "l" }],
  tags: [{ _id: "t" }],
  __v: 3,
};

function decideOn(changes: Changes, contact: Partial<Contact> | undefined) {
  const desired: Desired = {
    values: toValues(changes),
    absent: "create",
    present: "change",
    mayJoinLists: true,
  };
  return decide(key, desired, contact);
}

it.each<[name: string, Changes, body: object]>([
  ["sets what differs", { fields: [["f", "new"]] }, { updateFields: [{ _id: "f", value: "new" }] }],
  ["clears a value", { fields: [["f", ""]] }, { updateFields: [{ _id: "f", value: "" }] }],
  [
    "adds the missing ones alone",
    { addLists: ["l", "m"], addTags: ["u"] },
    { addLists: [{ _id: "m" }], addTags: [{ _id: "u" }] },
  ],
  [
    "removes the present ones alone",
    { removeLists: ["l", "m"], removeTags: ["u", "t"] },
    { removeLists: [{ _id: "l" }], removeTags: [{ _id: "t" }] },
  ],
])("a mutate %s", (_name, changes, body) => {
  const decision = decideOn(changes, found) as Extract<Operation, { kind: "change" }>;
  expect(toMutateBody(decision)).toEqual({ ...body, __v: 3 });
});

it("the one create has everything but blanks", () => {
  const fields: [string, string][] = [
    ["f", "x"],
    ["g", ""],
  ];
  const create = decideOn({ fields, addLists: ["l"], addTags: ["t"] }, undefined);
  expect(toCreateBody(create as Extract<Operation, { kind: "create" }>, "s")).toEqual({
    key,
    contactStructureId: "s",
    fields: [{ _id: "f", value: "x" }],
    lists: [{ _id: "l" }],
    tags: [{ _id: "t" }],
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
