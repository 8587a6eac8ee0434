/** PUT /api/contact/{contactId}/mutate. */
import { expect, test } from "vitest";
import { invalidAt, onlyError, openAccount, type TestAccount } from "./account.ts";

async function furnishedContact() {
  const account = await openAccount();
  const { fields, tags, lists } = await account.furnished();
  const made = await account.create("a@b.co", {
    fields: [{ _id: fields[0], value: "old" }],
    tags: [{ _id: tags[0] }],
    lists: [{ _id: lists[0] }],
  });
  const mutate = (body: unknown) => account.call("PUT", `/api/contact/${made._id}/mutate`, body);
  const stored = async () => (await account.call("GET", `/api/contact/${made._id}`)).body;
  return { account, made, mutate, stored, fields, tags, lists };
}

test("Mutate: adds and removes tags and lists, sets fields, and answers the contact as GET gives it", async () => {
  const { account, mutate, stored, fields, tags, lists } = await furnishedContact();
  account.clock.pass(60);
  const { status, body } = await mutate({
    addTags: [{ _id: tags[1] }],
    removeTags: [{ _id: tags[0] }],
    addLists: [{ _id: lists[1] }],
    removeLists: [{ _id: lists[0] }],
    updateFields: [
      { _id: fields[0], value: "new" },
      { _id: fields[1], value: "" },
    ],
  });
  expect(status).toBe(200);
  expect(body).toMatchObject({
    tags: [{ _id: tags[1] }],
    lists: [{ _id: lists[1] }],
    fields: [
      { _id: fields[0], value: "new" },
      { _id: fields[1], value: "" },
    ],
    createdAt: "2026-06-15T12:00:00.000Z",
    updatedAt: "2026-06-15T12:01:00.000Z",
    __v: 1,
  });
  expect(await stored()).toEqual(body);
  expect(await totals(account)).toEqual([0, 1]);
});

test("Mutate: bare ids will do for tags and lists", async () => {
  const { mutate, tags, lists } = await furnishedContact();
  const { body } = await mutate({ addTags: [tags[1]], removeLists: [lists[0]] });
  expect(body).toMatchObject({ tags: tags.map((_id) => ({ _id })), lists: [] });
});

test("Mutate rule 1: an omitted operation leaves its facet unchanged", async () => {
  const { made, mutate, tags } = await furnishedContact();
  const { body } = await mutate({ addTags: [{ _id: tags[1] }] });
  expect(body.fields).toEqual(made.fields);
  expect(body.lists).toEqual(made.lists);
});

test("Mutate rule 2: status cannot be changed", async () => {
  const { made, mutate, stored } = await furnishedContact();
  const answer = await mutate({ status: { primary: "inactive", secondary: "unsubscribe" } });
  expect(onlyError(answer)).toMatchObject({ status: 400, errorType: "ValidationError" });
  expect(await stored()).toEqual(made);
});

test("Mutate rule 3: all of it is applied, or nothing", async () => {
  const { made, mutate, stored, fields, tags, lists } = await furnishedContact();
  for (const bad of [
    { removeLists: [{ _id: "f".repeat(24) }] },
    { updateFields: [{ _id: "f".repeat(24), value: "x" }] },
    { addTags: [{ _id: lists[0] }] },
  ]) {
    const answer = await mutate({
      addTags: [{ _id: tags[1] }],
      updateFields: [{ _id: fields[0], value: "new" }],
      removeTags: [{ _id: tags[0] }],
      ...bad,
    });
    expect(onlyError(answer)).toMatchObject({ status: 400, errorType: "ValidationError" });
    expect(await stored()).toEqual(made);
  }
});

test("Mutate rule 4: what is so already is no change, beside what is not", async () => {
  const { mutate, made, fields, tags, lists } = await furnishedContact();
  const { status, body } = await mutate({
    addTags: [{ _id: tags[0] }],
    removeTags: [{ _id: tags[1] }],
    addLists: [{ _id: lists[0] }, { _id: lists[1] }],
    updateFields: [{ _id: fields[0], value: "old" }],
  });
  expect(status).toBe(200);
  expect(body).toMatchObject({ tags: made.tags, fields: made.fields, lists: lists.map((_id) => ({ _id })) });
});

test("Mutate rule 5: a request that changes nothing is 400, and the contact stays as it is", async () => {
  const { made, mutate, stored, fields, tags, lists } = await furnishedContact();
  const nothing = [
    {},
    { __v: 0 },
    { addTags: [], updateFields: [] },
    { addTags: [{ _id: tags[0] }] },
    { removeTags: [{ _id: tags[1] }], addLists: [{ _id: lists[0] }], removeLists: [{ _id: lists[1] }] },
    { updateFields: [{ _id: fields[0], value: "old" }], __v: 0 },
  ];
  for (const body of nothing) {
    expect(onlyError(await mutate(body))).toEqual({
      status: 400,
      errorType: "ValidationError",
      message: "No changes to apply",
    });
  }
  expect(await stored()).toEqual(made);
});

test("Mutate rule 6: a stale __v is 400 ConcurrencyError", async () => {
  const { mutate, tags, lists } = await furnishedContact();
  expect((await mutate({ addTags: [{ _id: tags[1] }], __v: 0 })).body.__v).toBe(1);
  // Also where nothing would change, and where something else is wrong.
  const others = [{}, { addTags: [] }, { addTags: [{ _id: tags[1] }] }, { addTags: ["f".repeat(24)] }];
  for (const delta of [{ addLists: [{ _id: lists[1] }] }, ...others]) {
    for (const __v of [0, 2, 99]) {
      expect(onlyError(await mutate({ ...delta, __v }))).toMatchObject({
        status: 400,
        errorType: "ConcurrencyError",
      });
    }
  }
});

test("Mutate rule 7: without __v the last write wins", async () => {
  const { mutate, fields, stored } = await furnishedContact();
  await Promise.all(
    Array.from({ length: 20 }, (_, number) =>
      mutate({ updateFields: [{ _id: fields[0], value: `${number}` }] }),
    ),
  );
  expect(await stored()).toMatchObject({ fields: [{ value: "19" }], __v: 20 });
});

test.each([
  ["addTags", { addTags: [{ _id: "f".repeat(24) }] }],
  ["removeTags", { removeTags: [{ _id: "f".repeat(24) }] }],
  ["addLists", { addLists: ["f".repeat(24)] }],
  ["removeLists", { removeLists: [{ _id: "f".repeat(24) }] }],
  ["updateFields", { updateFields: [{ _id: "f".repeat(24), value: "x" }] }],
  ["addTags", { addTags: "x" }],
  ["addTags", { addTags: [5] }],
  ["updateFields", { updateFields: [{ _id: "x" }] }],
  ["updateFields", { updateFields: [{ _id: "x", value: 5 }] }],
  ["__v", { __v: "0" }],
  ["__v", { __v: 0.5 }],
])("Mutate: 400 ValidationError with field %s for %j", async (field, body) => {
  const { mutate } = await furnishedContact();
  expect(onlyError(await mutate(body))).toMatchObject(invalidAt(field));
});

test("Mutate: an _id that is both added and removed, or named twice, is 400 ValidationError", async () => {
  const { mutate, tags } = await furnishedContact();
  const one = { _id: tags[1] };
  for (const body of [{ addTags: [one], removeTags: [one] }, { addTags: [one, tags[1]] }]) {
    expect(onlyError(await mutate(body))).toMatchObject({ status: 400, errorType: "ValidationError" });
  }
});

test("Mutate: a contact that is not in the account is 404", async () => {
  const { call } = await openAccount();
  expect(onlyError(await call("PUT", `/api/contact/${"f".repeat(24)}/mutate`, {}))).toEqual({
    status: 404,
    errorType: "RecordNotFound",
    message: "Contact not found",
  });
});

async function totals({ call, structureId }: TestAccount): Promise<number[]> {
  const { records } = (await call("GET", `/api/contact-structure/${structureId}/lists`)).body;
  return records.map((list: { totalContacts: number }) => list.totalContacts);
}
