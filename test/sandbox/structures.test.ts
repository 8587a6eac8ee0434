/** Contact structures. */
import { expect, test } from "vitest";
import { invalidAt, onlyError, openAccount } from "./account.ts";

test("Contact structure: a new account has one default structure with a first and a last name", async () => {
  const { call, structureId } = await openAccount();
  const { status, body } = await call("GET", "/api/contact-structure");
  expect(status).toBe(200);
  expect(body).toEqual([
    {
      _id: structureId,
      label: "Default",
      keyName: "Email",
      keyType: "email",
      fields: [
        expect.objectContaining({ label: "First Name", dataType: "text", predefinedField: "firstName" }),
        expect.objectContaining({ label: "Last Name", dataType: "text", predefinedField: "lastName" }),
      ],
      tags: [],
      __v: 0,
    },
  ]);
  expect(body[0]._id).toMatch(/^[0-9a-f]{24}$/);
});

test("Contact structure: predefinedField is kept where it is given, and no two fields have one", async () => {
  const { call, definition, structureId } = await openAccount();
  const path = `/api/contact-structure/${structureId}`;
  const { fields, ...rest } = await definition();
  const second = { label: "Nickname", predefinedField: "firstName" };
  const refused = await call("PUT", path, { ...rest, fields: [...fields, second] });
  expect(onlyError(refused)).toMatchObject(invalidAt("fields"));
  const { body } = await call("PUT", path, { ...rest, fields: [{ label: "Given name" }] });
  const known = { ...body.fields[0], predefinedField: "firstName" };
  const updated = await call("PUT", path, { ...rest, __v: body.__v, fields: [known] });
  expect(updated.body.fields).toEqual([known]);
  const odd = { ...known, predefinedField: "shoeSize" };
  const again = await call("PUT", path, { ...rest, __v: updated.body.__v, fields: [odd] });
  expect(onlyError(again)).toMatchObject(invalidAt("fields"));
});

test("Contact structure: one structure is read by its id, and an unknown id is 404", async () => {
  const { call, structureId } = await openAccount();
  const [listed] = (await call("GET", "/api/contact-structure")).body;
  expect((await call("GET", `/api/contact-structure/${structureId}`)).body).toEqual(listed);
  for (const [method, body] of [["GET"], ["PUT", { label: "L", keyName: "K", fields: [] }]] as const) {
    const answer = await call(method, "/api/contact-structure/ffffffffffffffffffffffff", body);
    expect(onlyError(answer)).toEqual({
      status: 404,
      errorType: "RecordNotFound",
      message: "Contact structure not found",
    });
  }
});

test("PUT contact-structure: new fields and tags get an _id, existing ones keep theirs, and __v grows", async () => {
  const { call, structureId } = await openAccount();
  const [before] = (await call("GET", "/api/contact-structure")).body;
  const { status, body } = await call("PUT", `/api/contact-structure/${structureId}`, {
    label: "People",
    keyName: "Address",
    fields: [
      { ...before.fields[1], label: "Surname" },
      { label: "City", dataType: "text", required: true },
      before.fields[0],
    ],
    tags: [{ label: "vip" }],
    __v: before.__v,
  });
  expect(status).toBe(200);
  expect(body).toMatchObject({ label: "People", keyName: "Address", keyType: "email", __v: 1 });
  expect(body.fields.map((field: { label: string }) => field.label)).toEqual([
    "Surname",
    "City",
    "First Name",
  ]);
  expect(body.fields[0]._id).toBe(before.fields[1]._id);
  expect(body.fields[0].predefinedField).toBe("lastName");
  expect(body.fields[1]).toEqual({
    _id: expect.stringMatching(/^[0-9a-f]{24}$/),
    label: "City",
    dataType: "text",
    required: true,
  });
  expect(body.tags).toEqual([{ _id: expect.stringMatching(/^[0-9a-f]{24}$/), label: "vip" }]);
  expect((await call("GET", "/api/contact-structure")).body).toEqual([body]);
});

test("PUT contact-structure: tags that are left out stay, an empty array removes them", async () => {
  const account = await openAccount();
  const { tags } = await account.furnished();
  const before = await account.definition();
  const { tags: _, ...rest } = before;
  const path = `/api/contact-structure/${account.structureId}`;
  expect((await account.call("PUT", path, rest)).body.tags).toEqual(before.tags);
  expect(tags).toHaveLength(2);
  expect((await account.call("PUT", path, { ...rest, __v: undefined, tags: [] })).body.tags).toEqual([]);
});

test("PUT contact-structure: a removed field, and a removed tag, are gone from every contact", async () => {
  const account = await openAccount();
  const { fields, tags } = await account.furnished();
  const values = fields.map((_id) => ({ _id, value: `"_id":"${fields[0]}"` }));
  const both = tags.map((_id) => ({ _id }));
  const made = await account.create("a@b.co", { fields: values, tags: both });
  const other = await account.create("c@d.co", { fields: [values[1]], tags: [both[1]] });
  const [structure] = (await account.call("GET", "/api/contact-structure")).body;
  await account.update({
    fields: structure.fields.filter((field: { _id: string }) => field._id !== fields[0]),
    tags: structure.tags.filter((tag: { _id: string }) => tag._id !== tags[0]),
  });
  const after = (await account.call("GET", `/api/contact/${made._id}`)).body;
  expect(after).toMatchObject({ fields: [values[1]], tags: [both[1]] });
  expect((await account.call("GET", `/api/contact/${other._id}`)).body).toEqual(other);
});

test("PUT contact-structure: a stale __v is 400 ConcurrencyError, and without __v the last write wins", async () => {
  const { call, structureId, definition } = await openAccount();
  const path = `/api/contact-structure/${structureId}`;
  const before = await definition();
  expect((await call("PUT", path, { ...before, label: "First" })).status).toBe(200);
  expect(onlyError(await call("PUT", path, { ...before, label: "Second" }))).toMatchObject({
    status: 400,
    errorType: "ConcurrencyError",
    field: "__v",
  });
  expect((await call("PUT", path, { ...before, label: "Third", __v: undefined })).body).toMatchObject({
    label: "Third",
    __v: 2,
  });
});

test.each([
  ["a missing label", { label: undefined }, { field: "label", message: "label is required" }],
  ["an empty label", { label: " " }, { field: "label", message: "label must not be empty" }],
  ["fields that are no array", { fields: {} }, { field: "fields", message: "fields must be an array" }],
  [
    "a field without a label",
    { fields: [{ dataType: "text" }] },
    { field: "fields", message: "fields[0].label is required" },
  ],
  ["an unknown field id", { fields: [{ _id: "f".repeat(24), label: "x" }] }, { fieldId: "f".repeat(24) }],
  ["an unknown type", { fields: [{ label: "x", dataType: "image" }] }, { field: "fields" }],
  [
    "an unknown predefined field",
    { fields: [{ label: "x", predefinedField: "shoeSize" }] },
    { field: "fields" },
  ],
  ["required that is no boolean", { fields: [{ label: "x", required: "yes" }] }, { field: "fields" }],
  ["an unknown tag id", { tags: [{ _id: "f".repeat(24), label: "x" }] }, { field: "tags" }],
  ["keyType", { keyType: "email" }, { field: "keyType", message: "keyType is not accepted here" }],
  [
    "an unknown member of a field",
    { fields: [{ label: "x", colour: "red" }] },
    { field: "colour", message: "fields[0].colour is not accepted here" },
  ],
  ["an unknown member of a tag", { tags: [{ label: "x", colour: "red" }] }, { field: "colour" }],
  ["__v that is text", { __v: "0" }, { field: "__v", message: "__v must be an integer" }],
])(
  "PUT contact-structure: %s is 400 ValidationError, and nothing changes",
  async (_what, change, expected) => {
    const { call, structureId } = await openAccount();
    const [before] = (await call("GET", "/api/contact-structure")).body;
    const { _id, keyType, ...definition } = before;
    const answer = await call("PUT", `/api/contact-structure/${structureId}`, { ...definition, ...change });
    expect(onlyError(answer)).toMatchObject({ status: 400, errorType: "ValidationError", ...expected });
    expect((await call("GET", "/api/contact-structure")).body).toEqual([before]);
  },
);

test("PUT contact-structure: one _id given twice is 400 ValidationError", async () => {
  const { call, structureId, definition } = await openAccount();
  const before = await definition();
  const fields = [before.fields[0], before.fields[0]];
  const answer = await call("PUT", `/api/contact-structure/${structureId}`, { ...before, fields });
  expect(onlyError(answer)).toMatchObject(invalidAt("fields"));
});
