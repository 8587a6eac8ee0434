import fc from "fast-check";
import { expect, it } from "vitest";
import { EcmError } from "../../src/errors.ts";
import { parseFilter } from "../../src/select/contact-filters.ts";
import { mayMeanUnchanged, parseFieldValues, wouldChange } from "../../src/service/contact-changes.ts";
import { performOnContact } from "../../src/service/find-contact.ts";
import type { Contact, ContactStructure, MutateBody } from "../../src/wire.ts";
import { plainStructure } from "../support/service.ts";
import { sendTo } from "./kit.ts";

const labels = { f1: "City", f2: "a=b" };
const fields = Object.entries(labels).map(([_id, label]) => ({ _id, label, dataType: "text" }));
const structure: ContactStructure = { ...plainStructure, fields };

it("FIELD=VALUE splits at the first =, and keeps the value exactly", () => {
  fc.assert(
    fc.property(fc.string(), (value) => {
      expect(parseFieldValues(structure, [`City=${value}`])).toEqual([{ _id: "f1", value }]);
    }),
  );
});

it("FIELD=VALUE names the id of a field whose label holds =", () => {
  const refusal = expect.objectContaining({ kind: "not found" });
  expect(() => parseFieldValues(structure, ["a=b=1"])).toThrow(refusal);
  expect(parseFieldValues(structure, ["f2=1=2"])).toEqual([{ _id: "f2", value: "1=2" }]);
});

it.each(["City", "=x", ""])("FIELD=VALUE is not %j", (text) => {
  expect(() => parseFieldValues(structure, [text])).toThrow(expect.objectContaining({ kind: "usage" }));
});

const contact: Contact = {
  _id: "c1",
  key: "a@x.org",
  contactStructureId: "s1",
  fields: [{ _id: "f1", value: "Paris" }],
  lists: [{ _id: "l1" }],
  tags: [{ _id: "t1" }],
};
it.each<[boolean, unknown]>([
  [false, {}],
  [false, { __v: 3 }],
  [false, { addTags: [{ _id: "t1" }], removeTags: [{ _id: "t2" }] }],
  [false, { addLists: ["l1"], removeLists: ["l2"] }],
  [false, { updateFields: [{ _id: "f1", value: "Paris" }] }],
  [false, { updateFields: [{ _id: "f2", value: "" }] }],
  [true, { addTags: [{ _id: "t2" }] }],
  [true, { removeTags: ["t1"] }],
  [true, { addLists: [{ _id: "l1" }, { _id: "l2" }] }],
  [true, { removeLists: [{ _id: "l1" }] }],
  [true, { updateFields: [{ _id: "f1", value: "paris" }] }],
  [true, { updateFields: [{ _id: "f9", value: "x" }] }],
  [true, { addTags: "t1" }],
  [true, { addTags: [7] }],
  [true, { status: "active" }],
  [true, null],
  [true, []],
])("whether a mutate would change a contact is %s for %j", (expected, body) => {
  expect(wouldChange(contact, body as MutateBody)).toBe(expected);
});

it("whether a mutate would change a contact counts as a change where the contact does not tell", () => {
  const { lists: _lists, ...partial } = contact;
  expect(wouldChange(partial, { addLists: [{ _id: "l1" }] })).toBe(true);
  expect(wouldChange(partial, { removeLists: [{ _id: "l1" }] })).toBe(true);
});

it.each([
  [true, {}],
  [true, { type: "NoChangeError" }],
  [false, { type: "ValidationError", field: "addTags" }],
  [false, { type: "ValidationError", fieldId: "f1" }],
  [false, { type: "ConcurrencyError" }],
  [false, { status: 500 }],
])("a refused mutate may mean no change (%s) where it gives no other reason: %j", (expected, details) => {
  const refusal = new EcmError("service", "no", undefined, { status: 400, ...details });
  expect(mayMeanUnchanged(refusal)).toBe(expected);
  expect(mayMeanUnchanged(new Error("no"))).toBe(false);
});

it.each([
  ["KEY EQ a@x.org", ["a@x.org"]],
  ["KEY EQ a@x.org, b@x.org ,c@x.org", ["a@x.org", "b@x.org", "c@x.org"]],
  ["LIST_ID  IN  north,News", ["north", "News"]],
  ["FIELD_ID EQ New York", ["New York"]],
  ["KEY EQ a,,b", ["a", "", "b"]],
])("--filter reads the values of %s", (text, values) => expect(parseFilter(text).values).toEqual(values));

it("--filter takes any column and operator as they are typed", () => {
  const filter = { columnToFilter: "some_Column", operator: "~>", values: ["x"] };
  expect(parseFilter("  some_Column  ~>  x ")).toEqual(filter);
});

const hex = "0123456789abcdef01234567";
const missing = () =>
  Promise.reject(new EcmError("service", "Contact not found", undefined, { status: 404 }));

/** Tries on ids and searches for keys, in order. */
async function steps(word: string, ids: string[], found: Partial<Contact>[]) {
  const taken: string[] = [];
  const send = sendTo(() => {
    taken.push("search");
    return { totalRecords: found.length, contacts: found };
  });
  const result = await performOnContact({ send, structure: async () => structure }, word, async (id) => {
    taken.push(id);
    return ids.includes(id) ? id : missing();
  }).catch((error: EcmError) => error.kind);
  return [...taken, `= ${result}`];
}

it("a contact by id or key takes one request for an id, and one search more for a key", async () => {
  expect(await steps(hex, [hex], [])).toEqual([hex, `= ${hex}`]);
  expect(await steps("a@x.org", ["c1"], [{ _id: "c1", key: "A@x.org" }])).toEqual(["search", "c1", "= c1"]);
  expect(await steps(hex, ["c1"], [{ _id: "c1", key: hex }])).toEqual([hex, "search", "c1", "= c1"]);
  expect(await steps("c-7", ["c-7"], [])).toEqual(["search", "c-7", "= c-7"]);
});

it("a contact by id or key never touches a contact that the search gave without its key being the one asked for", async () => {
  const others = [{ _id: "c1", key: "other@x.org" }, { _id: "c2" }];
  expect(await steps("a@x.org", ["c1", "c2"], others)).toEqual(["search", "= no contact"]);
});

it("a contact by id or key prefers the exact key, and names the ids when two match", async () => {
  const two = ["A@x.org", "a@x.org"].map((key, index) => ({ _id: `c${index + 1}`, key }));
  expect(await steps("a@x.org", ["c2"], two)).toEqual(["search", "c2", "= c2"]);
  expect(await steps("A@X.org", ["c2"], two)).toEqual(["search", "= usage"]);
});
