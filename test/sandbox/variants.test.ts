/** What --variant changes about the service, each alone. */
import { expect, test } from "vitest";
import type { SandboxOptions } from "../../src/sandbox/index.ts";
import {
  defaultVariants,
  describeVariant,
  splitVariant,
  variantNames,
  variantsFrom,
} from "../../src/sandbox/variants.ts";
import { eq, invalidAt, onlyError, openAccount, type TestAccount } from "./account.ts";

const playing = (name: string, value: string, more?: Partial<SandboxOptions>) =>
  openAccount({ variants: { [name]: value }, ...more });

async function keysFound(account: TestAccount, criterias: object[], more?: object): Promise<string[]> {
  const { body } = await account.search(criterias, more);
  return body.contacts.map((contact: { key: string }) => contact.key);
}

/** A criteria as a filter of its own: separate filters are alternatives. */
const alternatives = (...criterias: object[]) => ({
  contactSpecification: { filters: criterias.map((criteria) => ({ criterias: [criteria] })) },
});

test("keys: several values of KEY are refused, or the first alone counts; alternatives work", async () => {
  for (const value of ["refused", "first"]) {
    const account = await playing("keys", value);
    for (const name of ["a", "b"]) await account.create(`${name}@b.co`);
    const both = await account.search([eq("KEY", "a@b.co", "b@b.co")]);
    if (value === "refused") expect(onlyError(both)).toMatchObject({ field: "contactSpecification" });
    else expect(both.body.totalRecords).toBe(1);
    const separate = alternatives(eq("KEY", "a@b.co"), eq("KEY", "b@b.co"));
    expect(await keysFound(account, [], separate)).toEqual(["a@b.co", "b@b.co"]);
  }
});

test("max-keys: more values or filters are refused", async () => {
  const account = await playing("max-keys", "2");
  const keys = ["a@b.co", "b@b.co", "c@b.co"];
  expect((await account.search([eq("KEY", ...keys.slice(1))])).status).toBe(200);
  expect((await account.search([eq("KEY", ...keys)])).status).toBe(400);
  expect((await account.search([], alternatives(...keys.map((key) => eq("KEY", key))))).status).toBe(400);
});

test("page: larger pages are cut in silence, or refused; of contacts, lists and events", async () => {
  for (const [value, status] of [
    ["cap:2", 200],
    ["refuse:2", 400],
  ] as const) {
    const account = await playing("page", value);
    for (const name of ["a", "b", "c"]) await account.create(`${name}@b.co`);
    const search = await account.search([], { pageSize: 1000 });
    expect(search.status).toBe(status);
    if (status === 200) {
      expect(search.body).toMatchObject({
        totalRecords: 3,
        contacts: [{ key: "a@b.co" }, { key: "b@b.co" }],
      });
      expect(await keysFound(account, [], { page: 2, pageSize: 1000 })).toEqual(["c@b.co"]);
    }
    const lists = `/api/contact-structure/${account.structureId}/lists?size=3`;
    expect((await account.call("GET", lists)).status).toBe(status);
    expect((await account.call("GET", "/api/contact/events?size=3")).status).toBe(status);
  }
});

test("lists: an array, and an object for all", async () => {
  const account = await openAccount({ variants: { lists: "array" } });
  const path = `/api/contact-structure/${account.structureId}/lists`;
  await account.call("POST", path, { name: "News" });
  expect((await account.call("GET", path)).body).toMatchObject([{ name: "News", totalContacts: 0 }]);
  expect((await account.call("GET", `${path}/all`)).body).toMatchObject({ records: [{ name: "News" }] });
});

test("mutate-elements: objects alone, or ids alone", async () => {
  for (const value of ["object", "id"]) {
    const account = await playing("mutate-elements", value);
    const { tags } = await account.furnished();
    const { _id } = await account.create("a@b.co");
    const add = (element: unknown) =>
      account.call("PUT", `/api/contact/${_id}/mutate`, { addTags: [element] });
    const [right, wrong] = value === "id" ? [tags[0], { _id: tags[0] }] : [{ _id: tags[0] }, tags[0]];
    expect(onlyError(await add(wrong))).toMatchObject(invalidAt("addTags"));
    expect((await add(right)).body.tags).toEqual([{ _id: tags[0] }]);
  }
});

test("mutate-answer and noop: no body, another body, another type of error; the write is applied", async () => {
  for (const [value, text] of [
    ["empty", ""],
    ["other", '{"message":"Contact updated"}'],
  ]) {
    const account = await openAccount({ variants: { "mutate-answer": value, noop: "NoChangesError" } });
    const { tags } = await account.furnished();
    const { _id } = await account.create("a@b.co");
    const add = () => account.call("PUT", `/api/contact/${_id}/mutate`, { addTags: [{ _id: tags[0] }] });
    expect(await add()).toMatchObject({ status: 200, text });
    expect((await account.call("GET", `/api/contact/${_id}`)).body.tags).toEqual([{ _id: tags[0] }]);
    expect(onlyError(await add())).toMatchObject({ status: 400, errorType: "NoChangesError" });
  }
});

test("search-lag: a search sees contacts as they were, and reading one sees them as they are", async () => {
  const account = await playing("search-lag", "2000");
  const { lists } = await account.furnished();
  const inNews = [eq("LIST_ID", lists[0]!)];
  const ada = await account.create("ada@b.co", { lists: [{ _id: lists[0] }] });
  expect(await keysFound(account, [])).toEqual([]);
  account.clock.pass(2);
  expect(await keysFound(account, [])).toEqual(["ada@b.co"]);
  await account.create("bob@b.co");
  await account.call("PUT", `/api/contact/${ada._id}/mutate`, { removeLists: [{ _id: lists[0] }] });
  expect((await account.call("GET", `/api/contact/${ada._id}`)).body.lists).toEqual([]);
  expect(await keysFound(account, inNews)).toEqual(["ada@b.co"]);
  account.clock.pass(1);
  await account.call("DELETE", `/api/contact/${ada._id}`);
  account.clock.pass(1);
  expect(await keysFound(account, inNews)).toEqual([]);
  expect(await keysFound(account, [])).toEqual(["ada@b.co", "bob@b.co"]);
  account.clock.pass(1);
  expect(await keysFound(account, [])).toEqual(["bob@b.co"]);
});

test("search-lag: nobody from before a reset, or before a snapshot was loaded, is found, and nobody is hidden", async () => {
  const account = await playing("search-lag", "2000", { seed: 1 });
  const { admin } = account.sandbox;
  admin.reset();
  admin.snapshots.save("empty");
  const ada = { key: "ada@b.co" };
  const startOver = [() => admin.reset(), () => admin.snapshots.load("empty")];
  for (const clear of startOver) {
    admin.seed({ contacts: [ada] });
    const [{ _id }] = (await account.call("GET", "/api/contact")).body;
    await account.call("DELETE", `/api/contact/${_id}`);
    expect(await keysFound(account, [])).toEqual(["ada@b.co"]);
    clear();
    expect(await keysFound(account, [])).toEqual([]);
    await account.create("bob@b.co");
    clear();
    // With the seed, under the id that the other contact had.
    admin.seed({ contacts: [ada] });
    expect(await keysFound(account, [])).toEqual(["ada@b.co"]);
    clear();
  }
});

test("hourly-headers: missing, those of the month stay", async () => {
  const account = await playing("hourly-headers", "missing");
  const { headers } = await account.call("GET", "/api/contact-structure");
  expect(Object.keys(headers).filter((name) => name.startsWith("x-"))).toEqual([
    "x-monthly-limit",
    "x-monthly-remaining",
  ]);
});

test("source: the names of the specification", async () => {
  const names = ["_id", "key", "contactStructureId", "fields", "lists", "tags", "status", "createdAt", "__v"];
  const account = await playing("source", "specified");
  const made = await account.create("a@b.co");
  const { body } = await account.search([], { source: names });
  for (const name of names) expect(body.contacts[0][name], name).toEqual(made[name]);
  for (const name of ["contactStatus", "contactSubStatus", "updatedAt"]) {
    const answer = await account.search([], { source: ["_id", name] });
    expect(onlyError(answer)).toMatchObject(invalidAt("source"));
  }
  // Nothing comes along that was not asked for.
  expect((await account.search([], { source: ["key"] })).body.contacts).toEqual([{ key: "a@b.co" }]);
});

test("literal: every answer has the members that the specification shows, and no others", async () => {
  const account = await playing("literal", "yes");
  const { call, structureId } = account;
  const structure = `/api/contact-structure/${structureId}`;
  const list = (await call("POST", `${structure}/lists`, { name: "News" })).body;
  expect(list).toEqual({ _id: expect.any(String), name: "News" });
  const [listed] = (await call("GET", "/api/contact-structure")).body;
  const listedFields = listed.fields.map(({ label }: { label: string }) => ({
    _id: expect.any(String),
    label,
    dataType: "text",
  }));
  expect(listed).toEqual({
    _id: structureId,
    label: "Default",
    keyName: "Email",
    keyType: "email",
    fields: listedFields,
  });
  const { label, keyName, fields } = listed;
  const updated = await call("PUT", structure, { label, keyName, fields, tags: [{ label: "vip" }], __v: 0 });
  expect(updated.body).toEqual({
    ...listed,
    fields: updated.body.fields,
    tags: [{ _id: expect.any(String), label: "vip" }],
    __v: 1,
  });
  const tags = updated.body.tags.map(({ _id }: { _id: string }) => ({ _id }));
  const lists = [{ _id: list._id }];
  const made = (
    await call("POST", "/api/contact", { key: "a@b.co", contactStructureId: structureId, lists, tags })
  ).body;
  expect(made).toEqual({
    _id: expect.any(String),
    key: "a@b.co",
    contactStructureId: structureId,
    fields: [],
    status: { primary: "active", secondary: "confirmed" },
    createdAt: expect.any(String),
  });
  const whole = { ...made, lists, tags, __v: 0 };
  const contact = `/api/contact/${made._id}`;
  expect((await call("GET", contact)).body).toEqual(whole);
  expect((await call("GET", `${structure}/lists`)).body).toEqual({
    total: 1,
    records: [{ _id: list._id, name: "News", totalContacts: 1 }],
  });
  const source = Object.keys(whole);
  expect((await account.search([], { source })).body).toEqual({ totalRecords: 1, contacts: [whole] });
  const mutated = (await call("PUT", `${contact}/mutate`, { removeTags: tags })).body;
  expect(mutated).toEqual({ ...whole, tags: [], __v: 1 });
  const status = { primary: "Inactive", secondary: "Unsubscribe" };
  expect((await call("PATCH", contact, { status })).body).toEqual({ ...whole, tags: [], status, __v: 2 });
});

test.each([
  ["GET", "/api/contact"],
  ["PUT", "/api/contact/ID"],
  ["DELETE", "/api/contact/ID"],
  ["POST", "/api/contact/export"],
  ["GET", "/api/contact/events"],
  ["GET", "/api/contact/ID/events"],
  ["GET", "/api/contact-structure/STRUCTURE"],
  ["DELETE", "/api/contact-structure/STRUCTURE/lists"],
  ["GET", "/api/contact-structure/STRUCTURE/lists/all"],
  ["POST", "/api/contact-structure/STRUCTURE/lists/merge"],
  ["GET", "/api/contact-structure/STRUCTURE/lists/LIST"],
  ["PATCH", "/api/contact-structure/STRUCTURE/lists/LIST"],
  ["DELETE", "/api/contact-structure/STRUCTURE/lists/LIST"],
  ["POST", "/api/contact-structure/STRUCTURE/lists/LIST/duplicate"],
  ["GET", "/api/email/campaign"],
  ["GET", "/api/email/campaign/ID"],
  ["GET", "/api/email/template"],
  ["GET", "/api/email/domain"],
  ["GET", "/api/email/domain/grey-label"],
  ["GET", "/api/reports/dashboard"],
  ["GET", "/api/reports/email/overall"],
  ["GET", "/api/reports/email/overall/histogram"],
  ["GET", "/api/reports/email/ID"],
  ["GET", "/api/reports/email/ID/engagement"],
])("literal: %s %s, which the specification does not show, is 403", async (method, template) => {
  const account = await playing("literal", "yes");
  const { call, structureId } = account;
  const { lists } = await account.furnished();
  const { _id } = await account.create("a@b.co");
  const path = template.replace("STRUCTURE", structureId).replace("LIST", lists[0]!).replace("ID", _id);
  expect(onlyError(await call(method, path, {}))).toEqual({
    status: 403,
    errorType: "ForbiddenError",
    message: "This endpoint is not accessible via API key",
  });
});

test("literal: a search by LIST_ID is refused", async () => {
  const account = await playing("literal", "yes");
  expect(onlyError(await account.search([eq("LIST_ID", "x")], { source: ["key"] }))).toMatchObject(
    invalidAt("contactSpecification"),
  );
});

test("literal: implies source, unless it is given", () => {
  const implied = { source: "specified" };
  expect(variantsFrom({ literal: "yes" })).toEqual({ ...defaultVariants, ...implied, literal: "yes" });
  expect(variantsFrom({ source: "published", literal: "yes" })).toMatchObject({
    literal: "yes",
    source: "published",
  });
  expect(splitVariant("literal")).toEqual(["literal", "yes"]);
});

test("every value that is listed is taken, the first is the default, and any other is refused by name", () => {
  for (const name of variantNames) {
    for (const [index, { value }] of describeVariant(name).entries()) {
      const typed = value.replace(/\bN$/, "7");
      const decided = variantsFrom({ [name]: typed });
      if (index === 0) expect(decided).toEqual(defaultVariants);
    }
    expect(() => variantsFrom({ [name]: "no such value" })).toThrow(name);
  }
  expect(() => variantsFrom({ toString: "x" })).toThrow("there is no variant");
  expect(() => variantsFrom({ page: "cap:0" })).toThrow("page");
});
