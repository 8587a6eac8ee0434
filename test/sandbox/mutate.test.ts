/** PUT /api/contact/{contactId}/mutate. */
import { expect, test } from "vitest";
import { invalidAt, missing, onlyError, openAccount, refs, unknownId } from "./account.ts";

/** A contact with the first of two fields, tags and lists. */
async function withContact() {
  const account = await openAccount();
  const { fields, ...ids } = await account.furnished();
  const [tags, lists] = [refs(...ids.tags), refs(...ids.lists)];
  const value = (text: string, at = 0) => ({ _id: fields[at], value: text });
  const path = await account
    .create("a@b.co", { fields: [value("old")], tags: tags.slice(0, 1), lists: lists.slice(0, 1) })
    .then(({ _id }) => `/api/contact/${_id}`);
  const mutate = (body: unknown) => account.call("PUT", `${path}/mutate`, body);
  const stored = () => account.get(path);
  return { ...account, made: await stored(), mutate, stored, value, tags, lists };
}

test("Mutate: adds and removes tags and lists, sets fields, and answers the contact as GET gives it", async () => {
  const { clock, get, listsPath, mutate, stored, value, tags, lists } = await withContact();
  clock.pass(60);
  const fields = [value("new"), value("", 1)];
  const added = { addTags: [tags[1]], addLists: [lists[1]] };
  const removed = { removeTags: [tags[0]], removeLists: [lists[0]] };
  const { status, body } = await mutate({ ...added, ...removed, updateFields: fields });
  expect(status).toBe(200);
  const [createdAt, updatedAt] = ["2026-06-15T12:00:00.000Z", "2026-06-15T12:01:00.000Z"];
  expect(body).toMatchObject({ tags: [tags[1]], lists: [lists[1]], fields, __v: 1, createdAt, updatedAt });
  expect(await stored()).toEqual(body);
  expect((await get(listsPath)).records).toMatchObject([{ totalContacts: 0 }, { totalContacts: 1 }]);
});

test("Mutate rule 1: an omitted operation leaves its facet unchanged", async () => {
  const { made, mutate, tags } = await withContact();
  const { body } = await mutate({ addTags: [tags[1]] });
  expect(body).toMatchObject({ fields: made.fields, lists: made.lists, tags });
});

test("Mutate: bare ids will do for tags and lists, and one may neither be named twice nor both added and removed", async () => {
  const { mutate, tags, lists } = await withContact();
  const one = tags[1]!;
  for (const body of [{ addTags: [one], removeTags: [one] }, { addTags: [one, one._id] }]) {
    expect(onlyError(await mutate(body))).toMatchObject({ status: 400, errorType: "ValidationError" });
  }
  const { body } = await mutate({ addTags: [one._id], removeLists: [lists[0]!._id] });
  expect(body).toMatchObject({ tags, lists: [] });
});

test("Mutate rule 2: status cannot be changed", async () => {
  const { made, mutate, stored } = await withContact();
  const answer = await mutate({ status: { primary: "inactive", secondary: "unsubscribe" } });
  expect(onlyError(answer)).toMatchObject(invalidAt("status"));
  expect(await stored()).toEqual(made);
});

test.each<[what: string, bad: (contact: { lists: object[] }) => object]>([
  ["an unknown list", () => ({ removeLists: refs(unknownId) })],
  ["an unknown field", () => ({ updateFields: [{ _id: unknownId, value: "x" }] })],
  ["a list for a tag", ({ lists }) => ({ addTags: [lists[0]] })],
])("Mutate rule 3: all of it is applied, or nothing: %s", async (_what, bad) => {
  const { made, mutate, stored, value, tags, lists } = await withContact();
  const good = { addTags: [tags[1]], updateFields: [value("new")], removeTags: [tags[0]] };
  const refusal = onlyError(await mutate({ ...good, ...bad({ lists }) }));
  expect(refusal).toMatchObject({ status: 400, errorType: "ValidationError" });
  expect(await stored()).toEqual(made);
});

test("Mutate rule 4: what is so already is no change, beside what is not", async () => {
  const { mutate, made, value, tags, lists } = await withContact();
  const ofTags = { addTags: [tags[0]], removeTags: [tags[1]] };
  const { status, body } = await mutate({ ...ofTags, addLists: lists, updateFields: [value("old")] });
  expect(status).toBe(200);
  expect(body).toMatchObject({ tags: made.tags, fields: made.fields, lists });
});

test("Mutate rule 5: a request that changes nothing is 400, and the contact stays as it is", async () => {
  const { made, mutate, stored, value, tags, lists } = await withContact();
  for (const nothing of [
    {},
    { __v: 0 },
    { addTags: [], updateFields: [] },
    { addTags: [tags[0]] },
    { removeTags: [tags[1]], addLists: [lists[0]], removeLists: [lists[1]] },
    { updateFields: [value("old")], __v: 0 },
  ]) {
    const refusal = { status: 400, errorType: "ValidationError", message: "No changes to apply" };
    expect(onlyError(await mutate(nothing))).toEqual(refusal);
  }
  expect(await stored()).toEqual(made);
});

test("Mutate rule 6: a stale __v is 400 ConcurrencyError, also where nothing would change, or more is wrong", async () => {
  const { mutate, tags, lists } = await withContact();
  expect((await mutate({ addTags: [tags[1]], __v: 0 })).body.__v).toBe(1);
  const additions = [[], [tags[1]], [unknownId]].map((addTags) => ({ addTags }));
  const deltas = [{}, { addLists: [lists[1]] }, ...additions];
  for (const delta of deltas) {
    for (const __v of [0, 2, 99]) {
      const refusal = onlyError(await mutate({ ...delta, __v }));
      expect(refusal).toMatchObject({ status: 400, errorType: "ConcurrencyError" });
    }
  }
});

test("Mutate rule 7: without __v the last write wins", async () => {
  const { mutate, value, stored } = await withContact();
  const numbers = Array.from({ length: 20 }, (_, number) => `${number}`);
  await Promise.all(numbers.map((number) => mutate({ updateFields: [value(number)] })));
  expect(await stored()).toMatchObject({ fields: [{ value: "19" }], __v: 20 });
});

test("Mutate: what is wrong is 400 ValidationError with its field", async () => {
  const { mutate } = await withContact();
  const rows: [field: string, wrong: unknown[]][] = [
    ["addTags", [refs(unknownId), "x", [5], ["x", { _id: "x" }]]],
    ["removeTags", [refs(unknownId)]],
    ["addLists", [[unknownId]]],
    ["removeLists", [refs(unknownId)]],
    ["updateFields", [[{ _id: unknownId, value: "x" }], [{ _id: "x" }], [{ _id: "x", value: 5 }]]],
    ["__v", ["0", 0.5]],
  ];
  for (const [field, wrong] of rows) {
    for (const value of wrong)
      expect(onlyError(await mutate({ [field]: value }))).toMatchObject(invalidAt(field));
  }
});

test("Mutate: a contact that is not in the account is 404", async () => {
  const { call } = await openAccount();
  expect(onlyError(await call("PUT", `/api/contact/${unknownId}/mutate`, {}))).toEqual(missing("Contact"));
});
