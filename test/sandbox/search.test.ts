/** POST /api/contact/search. */
import { expect, test } from "vitest";
import { openStore } from "../../src/sandbox/store/index.ts";
import { eq, invalidAt, onlyError, openAccount, type TestAccount } from "./account.ts";

const foundKeys = (answer: { body: { contacts: { key: string }[] } }) =>
  answer.body.contacts.map((contact) => contact.key);

test("Search: without a filter every contact of the structure, page by page", async () => {
  const { create, search } = await openAccount();
  for (let number = 0; number < 12; number++) await create(`p${number}@b.co`);
  const first = await search([]);
  expect(first.body.totalRecords).toBe(12);
  expect(foundKeys(first)).toEqual(Array.from({ length: 10 }, (_, number) => `p${number}@b.co`));
  expect(foundKeys(await search([], { page: 2 }))).toEqual(["p10@b.co", "p11@b.co"]);
  expect((await search([], { page: 3 })).body).toEqual({ totalRecords: 12, contacts: [] });
});

test("Search: only what source names is answered, and ids along with it", async () => {
  const { create, search, structureId } = await openAccount();
  const made = await create("a@b.co");
  const ids = { _id: made._id, contactStructureId: structureId };
  expect((await search([], { source: ["key", "tags", "key"] })).body.contacts).toEqual([
    { ...ids, key: "a@b.co", tags: [] },
  ]);
  const { status: _status, __v, ...expected } = made;
  const source = ["_id", "key", "fields", "tags", "lists", "createdAt", "updatedAt"];
  expect((await search([], { source })).body.contacts).toEqual([expected]);
});

test("Search: the status comes in two parts, each under the name that source gives it", async () => {
  const { call, create, search } = await openAccount();
  const { _id } = await create("a@b.co");
  const source = ["contactStatus", "contactSubStatus"];
  expect((await search([], { source })).body.contacts).toMatchObject([
    { contactStatus: "active", contactSubStatus: "confirmed" },
  ]);
  await call("PATCH", `/api/contact/${_id}`, { status: { primary: "Inactive", secondary: "Unsubscribe" } });
  expect((await search([], { source })).body.contacts).toMatchObject([
    { contactStatus: "Inactive", contactSubStatus: "Unsubscribe" },
  ]);
});

test("Search: several values of one criteria are any of them, keys without case", async () => {
  const { create, search } = await openAccount();
  for (const name of ["Ada", "Bob", "Eve"]) await create(`${name}@b.co`);
  const found = await search([eq("KEY", "EVE@b.co", "ada@B.co", "nobody@b.co", "ada@b.co")]);
  expect(found.body.totalRecords).toBe(2);
  expect(foundKeys(found)).toEqual(["Ada@b.co", "Eve@b.co"]);
});

test("Search: the criterias of a filter must all hold, and separate filters are alternatives", async () => {
  const account = await openAccount();
  const { lists } = await account.furnished();
  const [news, offers] = lists.map((_id) => ({ _id }));
  await account.create("none@b.co");
  await account.create("news@b.co", { lists: [news] });
  await account.create("both@b.co", { lists: [news, offers] });
  await account.create("offers@b.co", { lists: [offers] });
  const found = async (...filters: object[][]) => {
    const specification = { filters: filters.map((criterias) => ({ criterias })) };
    const { body } = await account.search([], { contactSpecification: specification });
    expect(body.totalRecords).toBe(body.contacts.length);
    return foundKeys({ body });
  };
  const inNews = eq("LIST_ID", lists[0]!);
  const inOffers = eq("LIST_ID", lists[1]!);
  expect(await found([inNews])).toEqual(["news@b.co", "both@b.co"]);
  expect(await found([eq("LIST_ID", ...lists)])).toEqual(["news@b.co", "both@b.co", "offers@b.co"]);
  expect(await found([inNews, inOffers])).toEqual(["both@b.co"]);
  expect(await found([inOffers, eq("CONTACT_STATUS", "Active")])).toEqual(["both@b.co", "offers@b.co"]);
  expect(await found([eq("KEY", "news@b.co", "offers@b.co"), inOffers])).toEqual(["offers@b.co"]);
  expect(await found([eq("KEY", "news@b.co"), eq("KEY", "offers@b.co")])).toEqual([]);
  expect(await found([eq("LIST_ID", "unknown")])).toEqual([]);
  expect(await found([eq("LIST_ID", lists[0]!, "unknown")])).toEqual(["news@b.co", "both@b.co"]);
  expect(await found([eq("CONTACT_STATUS", "inactive")])).toEqual([]);

  expect(await found([inNews], [inOffers])).toEqual(["news@b.co", "both@b.co", "offers@b.co"]);
  expect(await found([eq("KEY", "none@b.co")], [inNews, inOffers])).toEqual(["none@b.co", "both@b.co"]);
  expect(await found([eq("KEY", "news@b.co")], [eq("KEY", "Offers@b.co", "x@b.co")])).toEqual([
    "news@b.co",
    "offers@b.co",
  ]);
  expect(await found([eq("KEY", "news@b.co"), inOffers], [eq("KEY", "both@b.co"), inOffers])).toEqual([
    "both@b.co",
  ]);
  expect(await found([eq("LIST_ID", "unknown")], [inOffers])).toEqual(["both@b.co", "offers@b.co"]);
  expect(await found([inNews], [])).toHaveLength(4);
});

test.each([
  ["source", { source: undefined }],
  ["source", { source: [] }],
  ["source", { source: [1] }],
  ["source", { source: ["key", "status"] }],
  ["source", { source: ["__v"] }],
  ["source", { source: ["Key"] }],
  ["source", { source: ["__proto__"] }],
  ["sort", { sort: "key" }],
  ["contactSpecification", { contactSpecification: undefined }],
  ["contactStructureId", { contactStructureId: undefined }],
  ["contactStructureId", { contactStructureId: "x" }],
  ["page", { page: undefined }],
  ["pageSize", { pageSize: undefined }],
  ["page", { page: 0 }],
  ["page", { page: "1" }],
  ["page", { page: 1.5 }],
  ["page", { page: 1e300 }],
  ["pageSize", { pageSize: 0 }],
  ["pageSize", { pageSize: 1001 }],
  ["contactSpecification", { contactSpecification: [] }],
  ["contactSpecification", { contactSpecification: { filters: {} } }],
  ["contactSpecification", { contactSpecification: { filters: [{}] } }],
  ["contactSpecification", { contactSpecification: { filters: [{ criterias: [eq("FIELD_ID", "x")] }] } }],
  ["contactSpecification", { contactSpecification: { filters: [{ criterias: [eq("TAG_ID", "x")] }] } }],
  ["contactSpecification", { contactSpecification: { filters: [{ criterias: [eq("KEY")] }] } }],
  [
    "contactSpecification",
    {
      contactSpecification: {
        filters: [{ criterias: [{ columnToFilter: "KEY", operator: "LIKE", values: ["%"] }] }],
      },
    },
  ],
])("Search: 400 ValidationError with field %s for %j", async (field, change) => {
  const { search } = await openAccount();
  expect(onlyError(await search([], change))).toMatchObject(invalidAt(field));
});

test("Search: the largest searches that 1 MiB can ask for are answered, or refused, at once", async () => {
  const { create, search } = await openAccount();
  await create("p7@b.co");
  const values = Array.from({ length: 30_000 }, (_, number) => `p${number}@b.co`);
  const start = performance.now();
  const alternatives = (each: object[]) => ({
    contactSpecification: { filters: each.map((criteria) => ({ criterias: [criteria] })) },
  });
  expect((await search([eq("KEY", ...values), eq("KEY", ...values.toReversed())])).body.totalRecords).toBe(1);
  const oneByOne = values.slice(0, 9000).map((value) => eq("KEY", value));
  expect((await search([], alternatives(oneByOne))).body.totalRecords).toBe(1);
  for (const column of ["LIST_ID", "CONTACT_STATUS"]) {
    const some = values.map((value) => value.slice(0, 12));
    expect((await search([eq(column, ...some), eq("KEY", "p7@b.co")])).body.totalRecords).toBe(0);
  }
  const many = Array.from({ length: 21 }, (_, number) => eq("CONTACT_STATUS", "active", `s${number}`));
  expect((await search(many.slice(1))).body.totalRecords).toBe(1);
  expect((await search([], alternatives(many.slice(1)))).body.totalRecords).toBe(1);
  for (const answer of [await search(many), await search([], alternatives(many))]) {
    expect(onlyError(answer)).toMatchObject(invalidAt("contactSpecification"));
  }
  // Seconds, where a loop within a loop would take minutes.
  expect(performance.now() - start).toBeLessThan(10_000);
});

test("Search: pages are in the order of _id, and stay so while contacts come and change", async () => {
  const account = await openAccount();
  const { lists } = await account.furnished();
  const member = { lists: [{ _id: lists[0] }] };
  const ids: string[] = [];
  for (let number = 0; number < 30; number++) ids.push((await account.create(`p${number}@b.co`, member))._id);
  const seen: string[] = [];
  for (let page = 1; page <= 3; page++) {
    const { body } = await account.search([eq("LIST_ID", lists[0]!)], { page });
    seen.push(...body.contacts.map((contact: { _id: string }) => contact._id));
    await account.create(`later${page}@b.co`, member);
    await account.call("PUT", `/api/contact/${ids[0]}/mutate`, { addLists: [lists[1]] });
  }
  expect(seen).toEqual(ids);
});

test("Search: every page of every filter is what counting from the first contact gives", async () => {
  const account = await openAccount();
  const { lists, tags } = await account.furnished();
  const crowd = await filled(account, 5300, lists, tags);
  const filters: [criterias: object[], isMember: (number: number) => boolean][] = [
    [[], () => true],
    [[eq("LIST_ID", lists[0]!)], (number) => number % 2 === 0],
    [[eq("LIST_ID", ...lists)], (number) => number % 2 === 0 || number % 3 === 0],
    [[eq("LIST_ID", lists[0]!), eq("LIST_ID", lists[1]!)], (number) => number % 6 === 0],
  ];
  const expectPages = async (pages: number[]) => {
    for (const [criterias, isMember] of filters) {
      const all = crowd.filter(({ number }) => isMember(number)).map(({ id }) => id);
      for (const page of pages) {
        const { body } = await account.search(criterias, { page, pageSize: 700, source: ["_id"] });
        expect(body.totalRecords).toBe(all.length);
        expect(body.contacts.map((contact: { _id: string }) => contact._id)).toEqual(
          all.slice((page - 1) * 700, page * 700),
        );
      }
    }
  };
  await expectPages([8, 1, 2, 3, 4, 5, 6, 7]);
  // One from the middle leaves: everyone behind moves up, on pages that were seen before.
  const [gone] = crowd.splice(1800, 1);
  expect((await account.call("DELETE", `/api/contact/${gone!.id}`)).status).toBe(200);
  await expectPages([5, 2, 3, 8]);
  // And one joins a list in its middle.
  const joiner = crowd.find(({ number }) => number === 2101)!;
  await account.call("PUT", `/api/contact/${joiner.id}/mutate`, { addLists: [lists[0]] });
  joiner.number = 2;
  await expectPages([4, 3, 2]);
});

/** Contacts straight into the store: thousands of requests would only take longer. */
async function filled(account: TestAccount, count: number, lists: string[], tags: string[]) {
  const store = await openStore(account.folder, account.clock.now());
  const ids = store.database.transaction(() => {
    const taken = store.newIds(account.clock.now(), count);
    for (const [number, id] of taken.entries()) {
      store.contacts.add({
        id,
        structureId: account.structureId,
        key: `p${number}@b.co`,
        fields: [],
        lists: lists.filter((_list, index) => number % (index + 2) === 0),
        tags: number % 5 === 0 ? tags.slice(0, 1) : [],
        status: { primary: "active" },
        createdAt: 0,
        updatedAt: 0,
        version: 0,
      });
    }
    return taken;
  });
  store.database.close();
  return ids.map((id, number) => ({ id, number }));
}
