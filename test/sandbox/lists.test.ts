/** Lists. */
import { expect, test } from "vitest";
import { eq, invalidAt, onlyError, openAccount, refs, unknownId } from "./account.ts";

const listNames = (lists: { name: string }[]) => lists.map(({ name }) => name);

test("POST lists: a list is created, and answered with its _id", async () => {
  const { call, listsPath } = await openAccount();
  const { status, body } = await call("POST", listsPath, { name: "News" });
  expect(status).toBe(200);
  const [_id, now] = [expect.stringMatching(/^[0-9a-f]{24}$/), "2026-06-15T12:00:00.000Z"];
  expect(body).toEqual({ _id, name: "News", type: "static", createdAt: now, updatedAt: now, __v: 0 });
});

test("POST lists: a name that is wrong is 400 ValidationError with field name", async () => {
  const { call, get, listsPath } = await openAccount();
  for (const [message, body] of [
    ["is required", {}],
    ["must not be empty", { name: "" }],
    ["must be a string", { name: 1 }],
    ["must not be longer than 1000 characters", { name: "n".repeat(1001) }],
  ] as const) {
    const refusal = { ...invalidAt("name"), message: `name ${message}` };
    expect(onlyError(await call("POST", listsPath, body))).toEqual(refusal);
  }
  expect((await get(listsPath)).total).toBe(0);
});

test("GET lists: a page at a time, from page 1, 25 when size is left out, each with totalContacts", async () => {
  const { get, create, createList, listsPath } = await openAccount();
  const ids: string[] = [];
  for (let number = 0; number < 30; number++) ids.push(await createList(`List ${number}`));
  await create("a@b.co", { lists: refs(ids[3]!) });
  const listed = (from: number, to?: number) => ({
    total: 30,
    records: ids.slice(from, to).map((_id) => ({ _id, totalContacts: _id === ids[3] ? 1 : 0 })),
  });
  expect(await get(listsPath)).toMatchObject(listed(0, 25));
  expect(await get(`${listsPath}?page=3&size=13`)).toMatchObject(listed(26));
  expect(await get(`${listsPath}?page=9`)).toEqual({ total: 30, records: [] });
});

test("GET lists: a wrong page, size or sort is 400 ValidationError with field", async () => {
  const { call, listsPath } = await openAccount();
  const pages = "page=0 page=-1 page=x page=1.5 page= page=1&page=2 page=99999999999999999999";
  for (const query of `${pages} size=0 size=1001 size=1e2 sort=totalContacts`.split(" ")) {
    const answer = await call("GET", `${listsPath}?${query}`);
    expect(onlyError(answer), query).toMatchObject(invalidAt(query.split("=")[0]));
  }
});

test("GET lists: sort and criteria order and pick, without regard to case or wildcards", async () => {
  const { get, createList, listsPath } = await openAccount();
  for (const name of ["beta", "Alpha", "50%", "alpha 2"]) await createList(name);
  const names = async (query: string) => listNames((await get(`${listsPath}?${query}`)).records);
  expect(await names("sort=name:asc")).toEqual(["50%", "Alpha", "alpha 2", "beta"]);
  expect(await names("sort=createdAt:desc")).toHaveLength(4);
  expect(await names("criteria=ALPHA")).toEqual(["Alpha", "alpha 2"]);
  expect(await names("criteria=%25")).toEqual(["50%"]);
  await createList("Über uns");
  expect(await names("criteria=%C3%9CBER")).toEqual(["Über uns"]);
});

test("Lists beyond the specification: all, one, rename and delete", async () => {
  const { call, get, create, furnished, listsPath } = await openAccount();
  const { lists } = await furnished();
  const contact = await create("a@b.co", { lists: refs(...lists) });
  const one = `${listsPath}/${lists[0]}`;
  const all = await get(`${listsPath}/all`);
  expect(listNames(all)).toEqual(["News", "Offers"]);
  expect(all[0]).toEqual({ _id: lists[0], name: "News", type: "static" });
  const renamed = await call("PATCH", one, { name: "Newsletter" });
  expect(renamed.body).toMatchObject({ name: "Newsletter", totalContacts: 1, __v: 1 });
  expect(await call("DELETE", one)).toMatchObject({ status: 204, text: "" });
  expect(onlyError(await call("GET", one))).toMatchObject({ status: 404, message: "List not found" });
  expect((await get(`/api/contact/${contact._id}`)).lists).toEqual(refs(lists[1]!));
});

test("Lists beyond the specification: merge and duplicate make a new list, and many are deleted at once", async () => {
  const { call, get, create, furnished, keys, listsPath } = await openAccount();
  const lists = refs(...(await furnished()).lists);
  const both = await create("both@b.co", { lists });
  await create("news@b.co", { lists: lists.slice(0, 1) });

  const merged = await call("POST", `${listsPath}/merge`, { name: "All", lists });
  expect(merged).toMatchObject({ status: 200, body: { name: "All", type: "static", __v: 0 } });
  expect(await keys([eq("LIST_ID", merged.body._id)])).toEqual(["both@b.co", "news@b.co"]);
  const copy = await call("POST", `${listsPath}/${lists[1]!._id}/duplicate`, { name: "Offers 2" });
  expect(copy).toMatchObject({ status: 201, body: { name: "Offers 2" } });
  expect(await keys([eq("LIST_ID", copy.body._id)])).toEqual(["both@b.co"]);
  expect((await get(`${listsPath}/${merged.body._id}`)).totalContacts).toBe(2);

  const unknown = await call("DELETE", listsPath, { lists: [...lists, ...refs(unknownId)] });
  expect(onlyError(unknown)).toMatchObject(invalidAt("lists"));
  expect(await call("DELETE", listsPath, { lists })).toMatchObject({ status: 204, text: "" });
  expect(listNames(await get(`${listsPath}/all`))).toEqual(["All", "Offers 2"]);
  expect((await get(`/api/contact/${both._id}`)).lists).toEqual(refs(merged.body._id, copy.body._id));
});

test.each(["GET", "POST"])("Lists: an unknown structure is 404 RecordNotFound: %s", async (method) => {
  const { call } = await openAccount();
  const answer = await call(method, `/api/contact-structure/${unknownId}/lists`, { name: "News" });
  expect(onlyError(answer)).toMatchObject({ status: 404, errorType: "RecordNotFound" });
});
