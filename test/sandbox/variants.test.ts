/** What --variant changes about the service, each alone. */
import { expect, test } from "vitest";
import type { SandboxOptions } from "../../src/sandbox/index.ts";
import { endpoints } from "../../src/sandbox/rules/index.ts";
import {
  defaultVariants,
  describeVariant,
  splitVariant,
  variantNames,
  variantsFrom,
} from "../../src/sandbox/variants.ts";
import { anyOf, eq, invalidAt, notAccessible, onlyError, openAccount, refs } from "./account.ts";

const playing = (name: string, value: string, more?: Partial<SandboxOptions>) =>
  openAccount({ variants: { [name]: value }, ...more });

/** A criteria as a filter of its own: separate filters are alternatives. */
const alternatives = (...criterias: object[]) => anyOf(...criterias.map((criteria) => [criteria]));

test.each(["refused", "first"])(
  "keys=%s: several values of KEY are refused, or the first alone counts; alternatives work",
  async (value) => {
    const { create, search, keys } = await playing("keys", value);
    for (const name of ["a", "b"]) await create(`${name}@b.co`);
    const both = await search([eq("KEY", "a@b.co", "b@b.co")]);
    if (value === "refused") expect(onlyError(both)).toMatchObject({ field: "contactSpecification" });
    else expect(both.body.totalRecords).toBe(1);
    const separate = alternatives(eq("KEY", "a@b.co"), eq("KEY", "b@b.co"));
    expect(await keys([], separate)).toEqual(["a@b.co", "b@b.co"]);
  },
);

test("max-keys: more values or filters are refused", async () => {
  const { search } = await playing("max-keys", "2");
  const keys = ["a@b.co", "b@b.co", "c@b.co"];
  expect((await search([eq("KEY", ...keys.slice(1))])).status).toBe(200);
  expect((await search([eq("KEY", ...keys)])).status).toBe(400);
  expect((await search([], alternatives(...keys.map((key) => eq("KEY", key))))).status).toBe(400);
});

test.each([
  ["cap:2", 200],
  ["refuse:2", 400],
])("page=%s: larger pages of contacts, lists and events are answered with %i", async (value, status) => {
  const { call, create, search, keys, listsPath } = await playing("page", value);
  const all = ["a@b.co", "b@b.co", "c@b.co"];
  for (const key of all) await create(key);
  const large = { pageSize: 1000 };
  const found = await search([], large);
  expect(found.status).toBe(status);
  if (status === 200) {
    expect(found.body.totalRecords).toBe(3);
    expect(await keys([], large)).toEqual(all.slice(0, 2));
    expect(await keys([], { ...large, page: 2 })).toEqual(all.slice(2));
  }
  expect((await call("GET", `${listsPath}?size=3`)).status).toBe(status);
  expect((await call("GET", "/api/contact/events?size=3")).status).toBe(status);
});

test("lists: an array, and an object for all", async () => {
  const { get, createList, listsPath } = await playing("lists", "array");
  await createList("News");
  expect(await get(listsPath)).toMatchObject([{ name: "News", totalContacts: 0 }]);
  expect(await get(`${listsPath}/all`)).toMatchObject({ records: [{ name: "News" }] });
});

test.each(["object", "id"])("mutate-elements=%s: such elements alone", async (value) => {
  const { call, create, furnished } = await playing("mutate-elements", value);
  const [_id] = (await furnished()).tags;
  const contact = await create("a@b.co");
  const add = (element: unknown) => call("PUT", `/api/contact/${contact._id}/mutate`, { addTags: [element] });
  expect(onlyError(await add(value === "id" ? { _id } : _id))).toMatchObject(invalidAt("addTags"));
  expect((await add(value === "id" ? _id : { _id })).body.tags).toEqual([{ _id }]);
});

test.each([
  ["empty", ""],
  ["other", '{"message":"Contact updated"}'],
])("mutate-answer=%s and noop: another body and another error; the write is applied", async (value, text) => {
  const variants = { "mutate-answer": value, noop: "NoChangesError" };
  const { call, get, create, furnished } = await openAccount({ variants });
  const tags = refs((await furnished()).tags[0]!);
  const path = `/api/contact/${(await create("a@b.co"))._id}`;
  const add = () => call("PUT", `${path}/mutate`, { addTags: tags });
  expect(await add()).toMatchObject({ status: 200, text });
  expect((await get(path)).tags).toEqual(tags);
  expect(onlyError(await add())).toMatchObject({ status: 400, errorType: "NoChangesError" });
});

test("search-lag: a search sees contacts as they were, and reading one sees them as they are", async () => {
  const { call, get, create, furnished, keys, clock } = await playing("search-lag", "2000");
  const lists = refs((await furnished()).lists[0]!);
  const inNews = [eq("LIST_ID", lists[0]!._id)];
  const ada = `/api/contact/${(await create("ada@b.co", { lists }))._id}`;
  expect(await keys()).toEqual([]);
  clock.pass(2);
  expect(await keys()).toEqual(["ada@b.co"]);
  await create("bob@b.co");
  await call("PUT", `${ada}/mutate`, { removeLists: lists });
  expect((await get(ada)).lists).toEqual([]);
  expect(await keys(inNews)).toEqual(["ada@b.co"]);
  clock.pass(1);
  await call("DELETE", ada);
  clock.pass(1);
  expect(await keys(inNews)).toEqual([]);
  expect(await keys()).toEqual(["ada@b.co", "bob@b.co"]);
  clock.pass(1);
  expect(await keys()).toEqual(["bob@b.co"]);
});

test("search-lag: nobody from before a reset, or before a snapshot was loaded, is found, and nobody is hidden", async () => {
  const { call, get, create, keys, sandbox } = await playing("search-lag", "2000", { seed: 1 });
  const { admin } = sandbox;
  admin.reset();
  admin.snapshots.save("empty");
  const contents = { contacts: [{ key: "ada@b.co" }] };
  for (const clear of [() => admin.reset(), () => admin.snapshots.load("empty")]) {
    admin.seed(contents);
    const [{ _id }] = await get("/api/contact");
    await call("DELETE", `/api/contact/${_id}`);
    expect(await keys()).toEqual(["ada@b.co"]);
    clear();
    expect(await keys()).toEqual([]);
    await create("bob@b.co");
    clear();
    // With the seed, under the id that the other contact had.
    admin.seed(contents);
    expect(await keys()).toEqual(["ada@b.co"]);
    clear();
  }
});

test("hourly-headers: missing, those of the month stay", async () => {
  const { headers } = await (await playing("hourly-headers", "missing")).read();
  const sent = Object.keys(headers).filter((name) => name.startsWith("x-"));
  expect(sent).toEqual(["x-monthly-limit", "x-monthly-remaining"]);
});

test("source: the names of the specification", async () => {
  const source = "_id key contactStructureId fields lists tags status createdAt __v".split(" ");
  const { create, search } = await playing("source", "specified");
  const { updatedAt: _updatedAt, ...made } = await create("a@b.co");
  expect((await search([], { source })).body.contacts).toEqual([made]);
  for (const name of ["contactStatus", "contactSubStatus", "updatedAt"]) {
    const answer = await search([], { source: ["_id", name] });
    expect(onlyError(answer)).toMatchObject(invalidAt("source"));
  }
  // Nothing comes along that was not asked for.
  expect((await search([], { source: ["key"] })).body.contacts).toEqual([{ key: "a@b.co" }]);
});

test("literal: every answer has the members that the specification shows, and no others", async () => {
  const account = await playing("literal", "yes");
  const { call, get, create, structure, structureId, structurePath, listsPath } = account;
  const list = (await call("POST", listsPath, { name: "News" })).body;
  expect(list).toEqual({ _id: expect.any(String), name: "News" });
  const listed = await structure();
  const field = (label: string) => ({ _id: expect.any(String), label, dataType: "text" });
  const [names, fields] = [{ label: "Default", keyName: "Email" }, [field("First Name"), field("Last Name")]];
  expect(listed).toEqual({ _id: structureId, ...names, keyType: "email", fields });
  const change = { ...names, fields: listed.fields, tags: [{ label: "vip" }], __v: 0 };
  const updated = (await call("PUT", structurePath, change)).body;
  const vip = { _id: expect.any(String), label: "vip" };
  expect(updated).toEqual({ ...listed, fields: updated.fields, tags: [vip], __v: 1 });
  const tags = refs(updated.tags[0]._id);
  const lists = refs(list._id);
  const made = await create("a@b.co", { lists, tags });
  const known = { key: "a@b.co", contactStructureId: structureId, fields: [] };
  const confirmed = { primary: "active", secondary: "confirmed" };
  const [_id, createdAt] = [expect.any(String), expect.any(String)];
  expect(made).toEqual({ ...known, _id, createdAt, status: confirmed });
  const whole = { ...made, lists, tags, __v: 0 };
  const contact = `/api/contact/${made._id}`;
  expect(await get(contact)).toEqual(whole);
  const records = [{ _id: list._id, name: "News", totalContacts: 1 }];
  expect(await get(listsPath)).toEqual({ total: 1, records });
  const found = await account.search([], { source: Object.keys(whole) });
  expect(found.body).toEqual({ totalRecords: 1, contacts: [whole] });
  const mutated = (await call("PUT", `${contact}/mutate`, { removeTags: tags })).body;
  expect(mutated).toEqual({ ...whole, tags: [], __v: 1 });
  const status = { primary: "Inactive", secondary: "Unsubscribe" };
  expect((await call("PATCH", contact, { status })).body).toEqual({ ...whole, tags: [], status, __v: 2 });
});

/** What the specification shows. */
const specified = `get /api/contact-structure, put /api/contact-structure/:contactStructureId,
  post /api/contact-structure/:contactStructureId/lists, get /api/contact-structure/:contactStructureId/lists,
  post /api/contact, get /api/contact/:contactId, post /api/contact/search, put /api/contact/:contactId/mutate,
  patch /api/contact/:contactId`.split(/,\s+/);

test("literal: what the specification does not show is 403, and a search by LIST_ID is refused", async () => {
  const { call, create, furnished, search, structureId } = await playing("literal", "yes");
  const [listId] = (await furnished()).lists;
  const { _id } = await create("a@b.co");
  const ids = { contactStructureId: structureId, listId, contactId: _id };
  const others = endpoints.filter(({ method, path }) => !specified.includes(`${method} ${path}`));
  expect([others.length, specified.length]).toEqual([23, endpoints.length - 23]);
  for (const { method, path: template } of others) {
    const path = template.replace(/:(\w+)/g, (_, name: keyof typeof ids) => ids[name] ?? _id);
    expect(onlyError(await call(method.toUpperCase(), path, {})), `${method} ${path}`).toEqual(notAccessible);
  }
  const byList = await search([eq("LIST_ID", "x")], { source: ["key"] });
  expect(onlyError(byList)).toMatchObject(invalidAt("contactSpecification"));
});

test("literal: implies source, unless it is given", () => {
  const implied = { literal: "yes", source: "specified" };
  expect(variantsFrom({ literal: "yes" })).toEqual({ ...defaultVariants, ...implied });
  const given = { literal: "yes", source: "published" };
  expect(variantsFrom(given)).toMatchObject(given);
  expect(splitVariant("literal")).toEqual(["literal", "yes"]);
});

test("every value that is listed is taken, the first is the default, and any other is refused by name", () => {
  for (const name of variantNames) {
    for (const [index, { value }] of describeVariant(name).entries()) {
      const decided = variantsFrom({ [name]: value.replace(/\bN$/, "7") });
      if (index === 0) expect(decided).toEqual(defaultVariants);
    }
    expect(() => variantsFrom({ [name]: "no such value" })).toThrow(name);
  }
  expect(() => variantsFrom({ toString: "x" })).toThrow("there is no variant");
  expect(() => variantsFrom({ page: "cap:0" })).toThrow("page");
});
