/** Contacts: create, read, change of status, replace, delete. */
import { expect, test } from "vitest";
import { invalidAt, onlyError, openAccount } from "./account.ts";

test("POST contact: the contact is answered with _id, status, createdAt and __v, and reads the same", async () => {
  const account = await openAccount();
  const { fields, tags, lists } = await account.furnished();
  const values = [{ _id: fields[0]!, value: "Zürich\n“old town” 🏔" }];
  const { status, body } = await account.call("POST", "/api/contact", {
    key: "Ada@Example.com",
    contactStructureId: account.structureId,
    fields: values,
    lists: [{ _id: lists[1] }],
    tags: [{ _id: tags[0] }],
  });
  expect(status).toBe(200);
  expect(body).toEqual({
    _id: expect.stringMatching(/^[0-9a-f]{24}$/),
    key: "Ada@Example.com",
    contactStructureId: account.structureId,
    fields: values,
    lists: [{ _id: lists[1] }],
    tags: [{ _id: tags[0] }],
    status: { primary: "active", secondary: "confirmed" },
    createdAt: "2026-06-15T12:00:00.000Z",
    updatedAt: "2026-06-15T12:00:00.000Z",
    __v: 0,
  });
  expect((await account.call("GET", `/api/contact/${body._id}`)).body).toEqual(body);
});

test("POST contact: ids grow with every contact, although the clock goes back", async () => {
  const { create, clock } = await openAccount();
  const ids: string[] = [];
  for (let number = 0; number < 5; number++) {
    ids.push((await create(`p${number}@b.co`))._id);
    clock.pass(number % 2 === 0 ? -3600 : 1);
  }
  expect(ids).toEqual(ids.toSorted());
  expect(new Set(ids).size).toBe(5);
});

test.each([
  ["key", { key: undefined }, "key is required"],
  ["key", { key: "" }, "key must not be empty"],
  ["key", { key: "no address" }, "key must be an email address"],
  ["key", { key: "a@b" }, "key must be an email address"],
  ["key", { key: `${"a".repeat(250)}@b.co` }, "key must be an email address"],
  ["key", { key: 5 }, "key must be a string"],
  ["contactStructureId", { contactStructureId: undefined }, "contactStructureId is required"],
  [
    "contactStructureId",
    { contactStructureId: "x" },
    "contactStructureId is not a contact structure of this account",
  ],
  ["fields", { fields: "x" }, "fields must be an array"],
  ["fields", { fields: [{ _id: "x", value: null }] }, "fields[0].value must be a string"],
  ["lists", { lists: [{}] }, "lists[0]._id is required"],
  ["lists", { lists: ["x"] }, "lists[0] must be an object"],
  ["lists", { lists: [{ _id: "f".repeat(24) }] }, "lists names an unknown list id"],
  ["listIds", { listIds: ["x"] }, "listIds is not accepted here"],
  ["status", { status: { primary: "Active" } }, "status is not accepted here"],
  ["action", { lists: [{ _id: "x", action: "add" }] }, "lists[0].action is not accepted here"],
  ["tags", { tags: [{ _id: "f".repeat(24) }] }, "tags names an unknown tag id"],
  ["tags", { tags: [{ _id: "x" }, { _id: "x" }] }, "tags names one _id twice"],
])("POST contact: 400 ValidationError with field %s for %j", async (field, change, message) => {
  const { call, structureId, search } = await openAccount();
  const answer = await call("POST", "/api/contact", {
    key: "a@b.co",
    contactStructureId: structureId,
    ...change,
  });
  expect(onlyError(answer)).toEqual({ status: 400, errorType: "ValidationError", message, field });
  expect((await search([])).body.totalRecords).toBe(0);
});

test("POST contact: an unknown field id is 400 ValidationError with fieldId", async () => {
  const { call, structureId } = await openAccount();
  const fields = [{ _id: "f".repeat(24), value: "x" }];
  const answer = await call("POST", "/api/contact", {
    key: "a@b.co",
    contactStructureId: structureId,
    fields,
  });
  expect(onlyError(answer)).toMatchObject({
    status: 400,
    errorType: "ValidationError",
    fieldId: "f".repeat(24),
  });
});

test("POST contact: a key that exists is 400 DuplicateFieldError, compared without case", async () => {
  const { call, create, structureId, search } = await openAccount();
  await create("Ada@Example.com");
  for (const key of ["Ada@Example.com", "ADA@example.COM"]) {
    const answer = await call("POST", "/api/contact", { key, contactStructureId: structureId });
    expect(onlyError(answer)).toEqual({
      status: 400,
      errorType: "DuplicateFieldError",
      message: "A contact with this key already exists",
      field: "key",
    });
  }
  expect((await search([])).body.totalRecords).toBe(1);
});

test("GET contact: an id that does not exist is 404 RecordNotFound, 'Contact not found'", async () => {
  const { call, create } = await openAccount();
  const { _id } = await create("a@b.co");
  for (const id of [
    `${_id}%00`,
    `${_id}%00x`,
    _id.toUpperCase(),
    `%20${_id}`,
    "f".repeat(24),
    "x",
    "%00",
    "%E0%A4%A",
    "' OR 1=1 --",
    "%25",
  ]) {
    expect(onlyError(await call("GET", `/api/contact/${id}`))).toEqual({
      status: 404,
      errorType: "RecordNotFound",
      message: "Contact not found",
    });
  }
});

test("PATCH contact: the status changes as it was sent, and a search finds it without case", async () => {
  const { call, create, search } = await openAccount();
  const made = await create("a@b.co");
  const status = { primary: "Inactive", secondary: "Unsubscribe" };
  const { body } = await call("PATCH", `/api/contact/${made._id}`, { status });
  expect(body).toMatchObject({ status, __v: 1 });
  const find = async (value: string) =>
    (await search([{ columnToFilter: "CONTACT_STATUS", operator: "EQ", values: [value] }])).body.totalRecords;
  expect([await find("inactive"), await find("INACTIVE"), await find("active")]).toEqual([1, 1, 0]);
});

test("PATCH contact: to the status that a contact has already changes nothing", async () => {
  const { call, create } = await openAccount();
  const made = await create("a@b.co");
  const answer = await call("PATCH", `/api/contact/${made._id}`, { status: { primary: "Active" } });
  expect(answer).toMatchObject({ status: 200, body: made });
});

test("PATCH contact: with the status that GET answers, whatever it is, changes nothing", async () => {
  const { call, create, sandbox } = await openAccount();
  const made = await create("a@b.co");
  for (const type of [undefined, "bounced"]) {
    if (type) sandbox.admin.events({ key: "a@b.co", type });
    const { body: before } = await call("GET", `/api/contact/${made._id}`);
    const answer = await call("PATCH", `/api/contact/${made._id}`, { status: before.status });
    expect([answer.status, answer.body]).toEqual([200, before]);
  }
  const complaint = { primary: "Inactive", secondary: "Complaint-FBL" };
  const refused = await call("PATCH", `/api/contact/${made._id}`, { status: complaint });
  expect(onlyError(refused)).toMatchObject(invalidAt("status"));
});

test("PATCH contact: an inactive contact cannot be made active again", async () => {
  const { call, create } = await openAccount();
  const { _id } = await create("a@b.co");
  const unsubscribed = { primary: "Inactive", secondary: "Unsubscribe" };
  await call("PATCH", `/api/contact/${_id}`, { status: unsubscribed });
  const answer = await call("PATCH", `/api/contact/${_id}`, { status: { primary: "Active" } });
  expect(onlyError(answer)).toEqual({
    status: 400,
    errorType: "ValidationError",
    message: "An inactive contact cannot be made active",
    field: "status",
  });
  // Nor by a replacement; and to unsubscribe once more changes nothing.
  const again = await call("PATCH", `/api/contact/${_id}`, { status: unsubscribed });
  expect(again).toMatchObject({ status: 200, body: { status: unsubscribed, __v: 1 } });
  const replacement = { key: "a@b.co", status: { primary: "Active" }, __v: 1 };
  expect(onlyError(await call("PUT", `/api/contact/${_id}`, replacement))).toMatchObject({ field: "status" });
  expect((await call("PUT", `/api/contact/${_id}`, again.body)).body).toMatchObject({ status: unsubscribed });
});

test.each([
  ["status", {}],
  ["status", { status: "Inactive" }],
  ["status", { status: { primary: "Inactive" } }],
  ["status", { status: { primary: "inactive", secondary: "Unsubscribe" } }],
  ["status", { status: { primary: "Inactive", secondary: "unsubscribe" } }],
  ["status", { status: { primary: "Inactive", secondary: "Bounce" } }],
  ["status", { status: { primary: "Active", secondary: "confirmed" } }],
  ["status", { status: { primary: "active" } }],
  ["key", { status: { primary: "Active" }, key: "c@d.co" }],
])("PATCH contact: 400 ValidationError with field %s for %j", async (field, body) => {
  const { call, create } = await openAccount();
  const made = await create("a@b.co");
  const answer = await call("PATCH", `/api/contact/${made._id}`, body);
  expect(onlyError(answer)).toMatchObject(invalidAt(field));
  expect((await call("GET", `/api/contact/${made._id}`)).body).toEqual(made);
});

test("GET contacts: every contact of the account, as each is read alone", async () => {
  const { call, create } = await openAccount();
  const made = [await create("a@b.co"), await create("c@d.co")];
  expect((await call("GET", "/api/contact")).body).toEqual(made);
});

test("PUT contact: replaces the whole contact under its current __v, and what is left out is lost", async () => {
  const account = await openAccount();
  const { fields, lists } = await account.furnished();
  const made = await account.create("a@b.co", {
    fields: [{ _id: fields[0], value: "x" }],
    lists: [{ _id: lists[0] }],
  });
  await account.create("taken@b.co");
  const path = `/api/contact/${made._id}`;
  expect(onlyError(await account.call("PUT", path, { key: "new@b.co" }))).toMatchObject({ field: "__v" });
  expect(onlyError(await account.call("PUT", path, { key: "new@b.co", __v: 5 }))).toMatchObject({
    errorType: "ConcurrencyError",
  });
  expect(onlyError(await account.call("PUT", path, { key: "Taken@b.co", __v: 0 }))).toMatchObject({
    errorType: "DuplicateFieldError",
  });
  const { body } = await account.call("PUT", path, { key: "New@b.co", __v: 0, lists: [{ _id: lists[1] }] });
  expect(body).toMatchObject({ key: "New@b.co", fields: [], lists: [{ _id: lists[1] }], __v: 1 });
  const listed = (await account.call("GET", `/api/contact-structure/${account.structureId}/lists`)).body
    .records;
  expect(listed.map((list: { totalContacts: number }) => list.totalContacts)).toEqual([0, 1]);
});

test("DELETE contact: answers the contact, and it is gone", async () => {
  const { call, create, search } = await openAccount();
  const made = await create("a@b.co");
  expect(await call("DELETE", `/api/contact/${made._id}`)).toMatchObject({ status: 200, body: made });
  expect((await call("GET", `/api/contact/${made._id}`)).status).toBe(404);
  expect((await search([])).body).toEqual({ totalRecords: 0, contacts: [] });
  expect((await create("a@b.co"))._id > made._id).toBe(true);
});
