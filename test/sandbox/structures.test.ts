/** Contact structures. */
import { expect, test } from "vitest";
import { invalidAt, missing, onlyError, openAccount, refs, unknownId } from "./account.ts";

/** An account, and updates of its structure on top of what it was. */
async function withStructure() {
  const account = await openAccount();
  const before = await account.structure();
  const { _id, keyType, ...definition } = before;
  const put = (change: object) => account.call("PUT", account.structurePath, { ...definition, ...change });
  return { ...account, before, put };
}

test("Contact structure: a new account has one default structure with a first and a last name", async () => {
  const { read, structureId } = await openAccount();
  const { status, body } = await read();
  expect(status).toBe(200);
  expect(structureId).toMatch(/^[0-9a-f]{24}$/);
  const field = (label: string, predefinedField: string) =>
    expect.objectContaining({ label, dataType: "text", predefinedField });
  const fields = [field("First Name", "firstName"), field("Last Name", "lastName")];
  const names = { label: "Default", keyName: "Email", keyType: "email" };
  expect(body).toEqual([{ _id: structureId, ...names, fields, tags: [], __v: 0 }]);
});

test("Contact structure: predefinedField is kept where it is given, and no two fields have one", async () => {
  const { put, before } = await withStructure();
  const second = { label: "Nickname", predefinedField: "firstName" };
  expect(onlyError(await put({ fields: [...before.fields, second] }))).toMatchObject(invalidAt("fields"));
  const { body } = await put({ fields: [{ label: "Given name" }] });
  const known = { ...body.fields[0], predefinedField: "firstName" };
  const updated = await put({ __v: body.__v, fields: [known] });
  expect(updated.body.fields).toEqual([known]);
  const odd = { ...known, predefinedField: "shoeSize" };
  const again = await put({ __v: updated.body.__v, fields: [odd] });
  expect(onlyError(again)).toMatchObject(invalidAt("fields"));
});

test("Contact structure: one structure is read by its id, and an unknown id is 404", async () => {
  const { call, get, structurePath, before } = await withStructure();
  expect(await get(structurePath)).toEqual(before);
  for (const [method, body] of [["GET"], ["PUT", { label: "L", keyName: "K", fields: [] }]] as const) {
    const refusal = onlyError(await call(method, `/api/contact-structure/${unknownId}`, body));
    expect(refusal).toEqual(missing("Contact structure"));
  }
});

test("PUT contact-structure: new fields and tags get an _id, existing ones keep theirs, and __v grows", async () => {
  const { read, put, before } = await withStructure();
  const [first, last] = before.fields;
  const surname = { ...last, label: "Surname" };
  const city = { label: "City", dataType: "text", required: true };
  const names = { label: "People", keyName: "Address" };
  const { status, body } = await put({ ...names, fields: [surname, city, first], tags: [{ label: "vip" }] });
  const _id = expect.stringMatching(/^[0-9a-f]{24}$/);
  expect(status).toBe(200);
  const fields = [surname, { ...city, _id }, first];
  expect(body).toEqual({ ...before, ...names, fields, tags: [{ _id, label: "vip" }], __v: 1 });
  expect(last!.predefinedField).toBe("lastName");
  expect((await read()).body).toEqual([body]);
});

test("PUT contact-structure: tags that are left out stay, an empty array removes them", async () => {
  const { call, definition, furnished, structurePath } = await openAccount();
  expect((await furnished()).tags).toHaveLength(2);
  const { tags, ...rest } = await definition();
  expect((await call("PUT", structurePath, rest)).body.tags).toEqual(tags);
  expect((await call("PUT", structurePath, { ...rest, __v: undefined, tags: [] })).body.tags).toEqual([]);
});

test("PUT contact-structure: a removed field, and a removed tag, are gone from every contact", async () => {
  const { get, create, furnished, structure, update } = await openAccount();
  const { fields, tags } = await furnished();
  const values = fields.map((_id) => ({ _id, value: `"_id":"${fields[0]}"` }));
  const made = await create("a@b.co", { fields: values, tags: refs(...tags) });
  const other = await create("c@d.co", { fields: [values[1]], tags: refs(tags[1]!) });
  const before = await structure();
  await update({
    fields: before.fields.filter(({ _id }) => _id !== fields[0]),
    tags: before.tags.filter(({ _id }) => _id !== tags[0]),
  });
  const after = await get(`/api/contact/${made._id}`);
  expect(after).toMatchObject({ fields: [values[1]], tags: refs(tags[1]!) });
  expect(await get(`/api/contact/${other._id}`)).toEqual(other);
});

test("PUT contact-structure: a stale __v is 400 ConcurrencyError, and without __v the last write wins", async () => {
  const { put } = await withStructure();
  expect((await put({ label: "First" })).status).toBe(200);
  const refusal = { status: 400, errorType: "ConcurrencyError", field: "__v" };
  expect(onlyError(await put({ label: "Second" }))).toMatchObject(refusal);
  const last = await put({ label: "Third", __v: undefined });
  expect(last.body).toMatchObject({ label: "Third", __v: 2 });
});

const wrongChanges: [change: object, field: string, message?: string][] = [
  [{ label: undefined }, "label", "label is required"],
  [{ label: " " }, "label", "label must not be empty"],
  [{ fields: {} }, "fields", "fields must be an array"],
  [{ fields: [{ dataType: "text" }] }, "fields", "fields[0].label is required"],
  [{ fields: [{ label: "x", dataType: "image" }] }, "fields"],
  [{ fields: [{ label: "x", predefinedField: "shoeSize" }] }, "fields"],
  [{ fields: [{ label: "x", required: "yes" }] }, "fields"],
  [{ tags: [{ _id: unknownId, label: "x" }] }, "tags"],
  [{ keyType: "email" }, "keyType", "keyType is not accepted here"],
  [{ fields: [{ label: "x", colour: "red" }] }, "colour", "fields[0].colour is not accepted here"],
  [{ tags: [{ label: "x", colour: "red" }] }, "colour"],
  [{ __v: "0" }, "__v", "__v must be an integer"],
];

test("PUT contact-structure: what is wrong is 400 ValidationError with its field, an unknown field id with fieldId", async () => {
  const { put, before, structure } = await withStructure();
  for (const [change, field, message] of wrongChanges) {
    const refusal = onlyError(await put(change));
    expect(refusal).toMatchObject({ ...invalidAt(field), ...(message && { message }) });
  }
  const unknown = onlyError(await put({ fields: [{ _id: unknownId, label: "x" }] }));
  expect(unknown).toMatchObject({ status: 400, errorType: "ValidationError", fieldId: unknownId });
  const twice = [before.fields[0], before.fields[0]];
  expect(onlyError(await put({ fields: twice }))).toMatchObject(invalidAt("fields"));
  expect(await structure()).toEqual(before);
});
