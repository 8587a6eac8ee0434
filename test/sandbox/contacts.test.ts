/** Contacts: create, read, change of status, replace, delete. */
import { expect, test } from "vitest";
import { eq, invalidAt, missing, onlyError, openAccount, refs, unknownId } from "./account.ts";

const unsubscribed = { primary: "Inactive", secondary: "Unsubscribe" };

/** An account with one contact, and requests for it. */
async function withContact() {
  const account = await openAccount();
  const made = await account.create("a@b.co");
  const path = `/api/contact/${made._id}`;
  const setStatus = (status: unknown) => account.call("PATCH", path, { status });
  return { ...account, made, path, setStatus };
}

test("POST contact: the contact is answered with _id, status, createdAt and __v, and reads the same", async () => {
  const { call, get, furnished, structureId } = await openAccount();
  const { fields, tags, lists } = await furnished();
  const sent = {
    key: "Ada@Example.com",
    contactStructureId: structureId,
    fields: [{ _id: fields[0]!, value: "Zürich\n“old town” 🏔" }],
    lists: refs(lists[1]!),
    tags: refs(tags[0]!),
  };
  const { status, body } = await call("POST", "/api/contact", sent);
  expect(status).toBe(200);
  const now = "2026-06-15T12:00:00.000Z";
  const _id = expect.stringMatching(/^[0-9a-f]{24}$/);
  const confirmed = { primary: "active", secondary: "confirmed" };
  expect(body).toEqual({ ...sent, _id, status: confirmed, createdAt: now, updatedAt: now, __v: 0 });
  expect(await get(`/api/contact/${body._id}`)).toEqual(body);
});

test("POST contact: ids grow with every contact, although the clock goes back", async () => {
  const { create, clock } = await openAccount();
  const ids: string[] = [];
  for (let number = 0; number < 5; number++) {
    ids.push((await create(`p${number}@b.co`))._id);
    clock.pass(number % 2 === 0 ? -3600 : 1);
  }
  expect([...new Set(ids)].toSorted()).toEqual(ids);
});

const noStructure = "contactStructureId is not a contact structure of this account";

const wrongContacts: [field: string, message: string, ...changes: object[]][] = [
  ["key", "key is required", { key: undefined }],
  ["key", "key must not be empty", { key: "" }],
  ["key", "key must be a string", { key: 5 }],
  ["key", "key must be an email address", ...["x", "a@b", `${"a".repeat(250)}@b.co`].map((key) => ({ key }))],
  ["contactStructureId", "contactStructureId is required", { contactStructureId: undefined }],
  ["contactStructureId", noStructure, { contactStructureId: "x" }],
  ["fields", "fields must be an array", { fields: "x" }],
  ["fields", "fields[0].value must be a string", { fields: [{ _id: "x", value: null }] }],
  ["lists", "lists[0]._id is required", { lists: [{}] }],
  ["lists", "lists[0] must be an object", { lists: ["x"] }],
  ["lists", "lists names an unknown list id", { lists: refs(unknownId) }],
  ["action", "lists[0].action is not accepted here", { lists: [{ _id: "x", action: "add" }] }],
  ["listIds", "listIds is not accepted here", { listIds: ["x"] }],
  ["status", "status is not accepted here", { status: { primary: "Active" } }],
  ["tags", "tags names an unknown tag id", { tags: refs(unknownId) }],
  ["tags", "tags names one _id twice", { tags: refs("x", "x") }],
];

test("POST contact: what is wrong is 400 ValidationError with its field, an unknown field id with fieldId", async () => {
  const { call, structureId: contactStructureId, keys } = await openAccount();
  const refusal = async (change: object) =>
    onlyError(await call("POST", "/api/contact", { key: "a@b.co", contactStructureId, ...change }));
  for (const [field, message, ...changes] of wrongContacts) {
    for (const change of changes) expect(await refusal(change)).toEqual({ ...invalidAt(field), message });
  }
  const unknown = { status: 400, errorType: "ValidationError", fieldId: unknownId };
  expect(await refusal({ fields: [{ _id: unknownId, value: "x" }] })).toMatchObject(unknown);
  expect(await keys()).toEqual([]);
});

test("POST contact: a key that exists is 400 DuplicateFieldError, compared without case", async () => {
  const { call, create, structureId, keys } = await openAccount();
  await create("Ada@Example.com");
  for (const key of ["Ada@Example.com", "ADA@example.COM"]) {
    const answer = await call("POST", "/api/contact", { key, contactStructureId: structureId });
    const message = "A contact with this key already exists";
    const refusal = { status: 400, errorType: "DuplicateFieldError", message, field: "key" };
    expect(onlyError(answer)).toEqual(refusal);
  }
  expect(await keys()).toEqual(["Ada@Example.com"]);
});

test("GET contact: an id that does not exist is 404 RecordNotFound, 'Contact not found'", async () => {
  const { call, create } = await openAccount();
  const { _id } = await create("a@b.co");
  const near = [`${_id}%00`, `${_id}%00x`, _id.toUpperCase(), `%20${_id}`];
  for (const id of [...near, unknownId, "x", "%00", "%E0%A4%A", "' OR 1=1 --", "%25"]) {
    expect(onlyError(await call("GET", `/api/contact/${id}`)), id).toEqual(missing("Contact"));
  }
});

test("PATCH contact: the status changes as it was sent, and a search finds it without case", async () => {
  const { setStatus, keys } = await withContact();
  expect((await setStatus(unsubscribed)).body).toMatchObject({ status: unsubscribed, __v: 1 });
  const find = async (value: string) => (await keys([eq("CONTACT_STATUS", value)])).length;
  expect([await find("inactive"), await find("INACTIVE"), await find("active")]).toEqual([1, 1, 0]);
});

test("PATCH contact: with the status that it has, as GET answers it or plain, changes nothing", async () => {
  const { setStatus, made, path, get, sandbox } = await withContact();
  expect(await setStatus({ primary: "Active" })).toMatchObject({ status: 200, body: made });
  for (const type of [undefined, "bounced"]) {
    if (type) sandbox.admin.events({ key: "a@b.co", type });
    const before = await get(path);
    expect(await setStatus(before.status)).toMatchObject({ status: 200, body: before });
  }
  const complaint = await setStatus({ primary: "Inactive", secondary: "Complaint-FBL" });
  expect(onlyError(complaint)).toMatchObject(invalidAt("status"));
});

test("PATCH contact: an inactive contact cannot be made active again, nor by a replacement", async () => {
  const { setStatus, call, path } = await withContact();
  await setStatus(unsubscribed);
  const message = "An inactive contact cannot be made active";
  expect(onlyError(await setStatus({ primary: "Active" }))).toEqual({ ...invalidAt("status"), message });
  // To unsubscribe once more changes nothing.
  const again = await setStatus(unsubscribed);
  expect(again).toMatchObject({ status: 200, body: { status: unsubscribed, __v: 1 } });
  const replacement = { key: "a@b.co", status: { primary: "Active" }, __v: 1 };
  expect(onlyError(await call("PUT", path, replacement))).toMatchObject({ field: "status" });
  expect((await call("PUT", path, again.body)).body).toMatchObject({ status: unsubscribed });
});

test("PATCH contact: what is no change of status is 400 ValidationError, and what is beside it is named", async () => {
  const { call, get, made, path, setStatus } = await withContact();
  for (const status of [
    ...[undefined, "Inactive", { primary: "Inactive" }, { primary: "active" }],
    { primary: "inactive", secondary: "Unsubscribe" },
    { primary: "Inactive", secondary: "unsubscribe" },
    { primary: "Inactive", secondary: "Bounce" },
    { primary: "Active", secondary: "confirmed" },
  ])
    expect(onlyError(await setStatus(status))).toMatchObject(invalidAt("status"));
  const beside = { status: { primary: "Active" }, key: "c@d.co" };
  expect(onlyError(await call("PATCH", path, beside))).toMatchObject(invalidAt("key"));
  expect(await get(path)).toEqual(made);
});

test("GET contacts: every contact of the account, as each is read alone", async () => {
  const { get, create } = await openAccount();
  const made = [await create("a@b.co"), await create("c@d.co")];
  expect(await get("/api/contact")).toEqual(made);
});

test("PUT contact: replaces the whole contact under its current __v, and what is left out is lost", async () => {
  const { call, get, create, furnished, listsPath } = await openAccount();
  const { fields, lists } = await furnished();
  const old = { fields: [{ _id: fields[0], value: "x" }], lists: refs(lists[0]!) };
  const path = `/api/contact/${(await create("a@b.co", old))._id}`;
  await create("taken@b.co");
  const refusal = async (body: object) => onlyError(await call("PUT", path, body));
  expect(await refusal({ key: "new@b.co" })).toMatchObject({ field: "__v" });
  expect(await refusal({ key: "new@b.co", __v: 5 })).toMatchObject({ errorType: "ConcurrencyError" });
  expect(await refusal({ key: "Taken@b.co", __v: 0 })).toMatchObject({ errorType: "DuplicateFieldError" });
  const { body } = await call("PUT", path, { key: "New@b.co", __v: 0, lists: refs(lists[1]!) });
  expect(body).toMatchObject({ key: "New@b.co", fields: [], lists: refs(lists[1]!), __v: 1 });
  expect((await get(listsPath)).records).toMatchObject([{ totalContacts: 0 }, { totalContacts: 1 }]);
});

test("DELETE contact: answers the contact, and it is gone", async () => {
  const { call, create, search, made, path } = await withContact();
  expect(await call("DELETE", path)).toMatchObject({ status: 200, body: made });
  expect((await call("GET", path)).status).toBe(404);
  expect((await search()).body).toEqual({ totalRecords: 0, contacts: [] });
  expect((await create("a@b.co"))._id > made._id).toBe(true);
});
