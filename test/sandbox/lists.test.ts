/** Lists. */
import { expect, test } from "vitest";
import { eq, invalidAt, onlyError, openAccount } from "./account.ts";

test("POST lists: a list is created, and answered with its _id", async () => {
  const { call, structureId } = await openAccount();
  const { status, body } = await call("POST", `/api/contact-structure/${structureId}/lists`, {
    name: "News",
  });
  expect(status).toBe(200);
  expect(body).toEqual({
    _id: expect.stringMatching(/^[0-9a-f]{24}$/),
    name: "News",
    type: "static",
    createdAt: "2026-06-15T12:00:00.000Z",
    updatedAt: "2026-06-15T12:00:00.000Z",
    __v: 0,
  });
});

test.each([
  ["no name", {}, "name is required"],
  ["an empty name", { name: "" }, "name must not be empty"],
  ["a number for a name", { name: 1 }, "name must be a string"],
  ["a name of 1,001 characters", { name: "n".repeat(1001) }, "name must not be longer than 1000 characters"],
])("POST lists: %s is 400 ValidationError with field name", async (_what, body, message) => {
  const { call, structureId } = await openAccount();
  const path = `/api/contact-structure/${structureId}/lists`;
  expect(onlyError(await call("POST", path, body))).toEqual({
    status: 400,
    errorType: "ValidationError",
    message,
    field: "name",
  });
  expect((await call("GET", path)).body.total).toBe(0);
});

test("GET lists: a page at a time, from page 1, 25 when size is left out, each with totalContacts", async () => {
  const { call, create, structureId } = await openAccount();
  const path = `/api/contact-structure/${structureId}/lists`;
  const ids: string[] = [];
  for (let number = 0; number < 30; number++)
    ids.push((await call("POST", path, { name: `List ${number}` })).body._id);
  await create("a@b.co", { lists: [{ _id: ids[3] }] });
  const first = (await call("GET", path)).body;
  expect(first.total).toBe(30);
  expect(first.records.map((list: { _id: string }) => list._id)).toEqual(ids.slice(0, 25));
  expect(first.records.map((list: { totalContacts: number }) => list.totalContacts)).toEqual(
    ids.slice(0, 25).map((_id, index) => (index === 3 ? 1 : 0)),
  );
  const third = (await call("GET", `${path}?page=3&size=13`)).body;
  expect(third.records.map((list: { _id: string }) => list._id)).toEqual(ids.slice(26));
  expect((await call("GET", `${path}?page=9`)).body).toEqual({ total: 30, records: [] });
});

test.each([
  "page=0",
  "page=-1",
  "page=x",
  "page=1.5",
  "page=",
  "page=1&page=2",
  "page=99999999999999999999",
  "size=0",
  "size=1001",
  "size=1e2",
  "sort=totalContacts",
])("GET lists: %s is 400 ValidationError with field", async (query) => {
  const { call, structureId } = await openAccount();
  const answer = await call("GET", `/api/contact-structure/${structureId}/lists?${query}`);
  expect(onlyError(answer)).toMatchObject(invalidAt(query.split("=")[0]));
});

test("GET lists: sort and criteria order and pick, without regard to case or wildcards", async () => {
  const { call, structureId } = await openAccount();
  const path = `/api/contact-structure/${structureId}/lists`;
  for (const name of ["beta", "Alpha", "50%", "alpha 2"]) await call("POST", path, { name });
  const names = async (query: string) =>
    (await call("GET", `${path}?${query}`)).body.records.map((list: { name: string }) => list.name);
  expect(await names("sort=name:asc")).toEqual(["50%", "Alpha", "alpha 2", "beta"]);
  expect(await names("sort=createdAt:desc")).toHaveLength(4);
  expect(await names("criteria=ALPHA")).toEqual(["Alpha", "alpha 2"]);
  expect(await names("criteria=%25")).toEqual(["50%"]);
  await call("POST", path, { name: "Über uns" });
  expect(await names("criteria=%C3%9CBER")).toEqual(["Über uns"]);
});

test("Lists beyond the specification: all, one, rename and delete", async () => {
  const account = await openAccount();
  const { lists } = await account.furnished();
  const path = `/api/contact-structure/${account.structureId}/lists`;
  const contact = await account.create("a@b.co", { lists: lists.map((_id) => ({ _id })) });
  const all = (await account.call("GET", `${path}/all`)).body;
  expect(all.map((list: { name: string }) => list.name)).toEqual(["News", "Offers"]);
  expect(all[0]).toEqual({ _id: lists[0], name: "News", type: "static" });
  expect((await account.call("PATCH", `${path}/${lists[0]}`, { name: "Newsletter" })).body).toMatchObject({
    name: "Newsletter",
    totalContacts: 1,
    __v: 1,
  });
  const removed = await account.call("DELETE", `${path}/${lists[0]}`);
  expect(removed).toMatchObject({ status: 204, text: "" });
  expect(onlyError(await account.call("GET", `${path}/${lists[0]}`))).toMatchObject({
    status: 404,
    message: "List not found",
  });
  expect((await account.call("GET", `/api/contact/${contact._id}`)).body.lists).toEqual([{ _id: lists[1] }]);
});

test("Lists beyond the specification: merge and duplicate make a new list, and many are deleted at once", async () => {
  const account = await openAccount();
  const { lists } = await account.furnished();
  const path = `/api/contact-structure/${account.structureId}/lists`;
  const refs = lists.map((_id) => ({ _id }));
  const both = await account.create("both@b.co", { lists: refs });
  await account.create("news@b.co", { lists: refs.slice(0, 1) });
  const members = async (listId: string) =>
    (await account.search([eq("LIST_ID", listId)])).body.contacts.map((each: { key: string }) => each.key);

  const merged = await account.call("POST", `${path}/merge`, { name: "All", lists: refs });
  expect(merged).toMatchObject({ status: 200, body: { name: "All", type: "static", __v: 0 } });
  expect(await members(merged.body._id)).toEqual(["both@b.co", "news@b.co"]);
  const copy = await account.call("POST", `${path}/${lists[1]}/duplicate`, { name: "Offers 2" });
  expect(copy).toMatchObject({ status: 201, body: { name: "Offers 2" } });
  expect(await members(copy.body._id)).toEqual(["both@b.co"]);
  expect((await account.call("GET", `${path}/${merged.body._id}`)).body.totalContacts).toBe(2);

  const unknown = await account.call("DELETE", path, { lists: [...refs, { _id: "f".repeat(24) }] });
  expect(onlyError(unknown)).toMatchObject(invalidAt("lists"));
  expect(await account.call("DELETE", path, { lists: refs })).toMatchObject({ status: 204, text: "" });
  expect((await account.call("GET", `${path}/all`)).body.map((list: { name: string }) => list.name)).toEqual([
    "All",
    "Offers 2",
  ]);
  expect((await account.call("GET", `/api/contact/${both._id}`)).body.lists).toEqual([
    { _id: merged.body._id },
    { _id: copy.body._id },
  ]);
});

test("Lists: an unknown structure is 404 RecordNotFound", async () => {
  const { call } = await openAccount();
  for (const [method, body] of [["GET"], ["POST", { name: "News" }]] as const) {
    const answer = await call(method, `/api/contact-structure/${"f".repeat(24)}/lists`, body);
    expect(onlyError(answer)).toMatchObject({ status: 404, errorType: "RecordNotFound" });
  }
});
