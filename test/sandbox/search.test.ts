/** POST /api/contact/search. */
import { expect, test } from "vitest";
import { openStore } from "../../src/sandbox/store/index.ts";
import { anyOf, eq, invalidAt, onlyError, openAccount, refs, type TestAccount } from "./account.ts";

const having = (criteria: object) => ({ filters: [{ criterias: [criteria] }] });

test("Search: without a filter every contact of the structure, page by page", async () => {
  const { create, search, keys } = await openAccount();
  const all = Array.from({ length: 12 }, (_, number) => `p${number}@b.co`);
  for (const key of all) await create(key);
  expect((await search()).body.totalRecords).toBe(12);
  expect(await keys()).toEqual(all.slice(0, 10));
  expect(await keys([], { page: 2 })).toEqual(all.slice(10));
  expect((await search([], { page: 3 })).body).toEqual({ totalRecords: 12, contacts: [] });
});

test("Search: only what source names is answered, and ids along with it", async () => {
  const { create, search, structureId } = await openAccount();
  const made = await create("a@b.co");
  const ids = { _id: made._id, contactStructureId: structureId };
  const found = async (...source: string[]) => (await search([], { source })).body.contacts;
  expect(await found("key", "tags", "key")).toEqual([{ ...ids, key: "a@b.co", tags: [] }]);
  const { status: _status, __v, ...expected } = made;
  expect(await found("_id", "key", "fields", "tags", "lists", "createdAt", "updatedAt")).toEqual([expected]);
});

test("Search: the status comes in two parts, each under the name that source gives it", async () => {
  const { call, create, search } = await openAccount();
  const { _id } = await create("a@b.co");
  const found = async () =>
    (await search([], { source: ["contactStatus", "contactSubStatus"] })).body.contacts;
  expect(await found()).toMatchObject([{ contactStatus: "active", contactSubStatus: "confirmed" }]);
  await call("PATCH", `/api/contact/${_id}`, { status: { primary: "Inactive", secondary: "Unsubscribe" } });
  expect(await found()).toMatchObject([{ contactStatus: "Inactive", contactSubStatus: "Unsubscribe" }]);
});

test("Search: several values of one criteria are any of them, keys without case", async () => {
  const { create, search, keys } = await openAccount();
  for (const name of ["Ada", "Bob", "Eve"]) await create(`${name}@b.co`);
  const some = [eq("KEY", "EVE@b.co", "ada@B.co", "nobody@b.co", "ada@b.co")];
  expect((await search(some)).body.totalRecords).toBe(2);
  expect(await keys(some)).toEqual(["Ada@b.co", "Eve@b.co"]);
});

test("Search: the criterias of a filter must all hold, and separate filters are alternatives", async () => {
  const { create, furnished, search } = await openAccount();
  const [news, offers] = (await furnished()).lists as [string, string];
  for (const [name, ...lists] of [["none"], ["news", news], ["both", news, offers], ["offers", offers]]) {
    await create(`${name}@b.co`, { lists: refs(...lists) });
  }
  const inNews = eq("LIST_ID", news);
  const inOffers = eq("LIST_ID", offers);
  const key = (...names: string[]) => eq("KEY", ...names.map((name) => `${name}@b.co`));
  const rows: [filters: object[][], found: string][] = [
    [[[inNews]], "news both"],
    [[[eq("LIST_ID", news, offers)]], "news both offers"],
    [[[inNews, inOffers]], "both"],
    [[[inOffers, eq("CONTACT_STATUS", "Active")]], "both offers"],
    [[[key("news", "offers"), inOffers]], "offers"],
    [[[key("news"), key("offers")]], ""],
    [[[eq("LIST_ID", "unknown")]], ""],
    [[[eq("LIST_ID", news, "unknown")]], "news both"],
    [[[eq("CONTACT_STATUS", "inactive")]], ""],
    [[[inNews], [inOffers]], "news both offers"],
    [[[key("none")], [inNews, inOffers]], "none both"],
    [[[key("news")], [key("Offers", "x")]], "news offers"],
    [["news", "both"].map((name) => [key(name), inOffers]), "both"],
    [[[eq("LIST_ID", "unknown")], [inOffers]], "both offers"],
    [[[inNews], []], "none news both offers"],
  ];
  for (const [filters, found] of rows) {
    const { body } = await search([], anyOf(...filters));
    const names = body.contacts.map((each: { key: string }) => each.key.replace("@b.co", ""));
    expect([names.join(" "), body.totalRecords], JSON.stringify(filters)).toEqual([found, names.length]);
  }
});

test("Search: what is wrong is 400 ValidationError with its field", async () => {
  const { search } = await openAccount();
  const rows: [field: string, values: unknown[]][] = [
    ["source", [undefined, [], [1], ["key", "status"], ["__v"], ["Key"], ["__proto__"]]],
    ["sort", ["key"]],
    ["contactStructureId", [undefined, "x"]],
    ["page", [undefined, 0, "1", 1.5, 1e300]],
    ["pageSize", [undefined, 0, 1001]],
    ["contactSpecification", [undefined, [], { filters: {} }, { filters: [{}] }]],
    ["contactSpecification", [eq("FIELD_ID", "x"), eq("TAG_ID", "x"), eq("KEY")].map(having)],
    ["contactSpecification", [having({ columnToFilter: "KEY", operator: "LIKE", values: ["%"] })]],
  ];
  for (const [field, values] of rows) {
    for (const value of values)
      expect(onlyError(await search([], { [field]: value })), `${value}`).toMatchObject(invalidAt(field));
  }
});

test("Search: the largest searches that 1 MiB can ask for are answered, or refused", async () => {
  const { create, search } = await openAccount();
  await create("p7@b.co");
  const values = Array.from({ length: 30_000 }, (_, number) => `p${number}@b.co`);
  const alternatives = (criterias: object[]) => anyOf(...criterias.map((criteria) => [criteria]));
  const total = async (...given: Parameters<typeof search>) => (await search(...given)).body.totalRecords;
  expect(await total([eq("KEY", ...values), eq("KEY", ...values.toReversed())])).toBe(1);
  expect(await total([], alternatives(values.slice(0, 9000).map((value) => eq("KEY", value))))).toBe(1);
  for (const column of ["LIST_ID", "CONTACT_STATUS"]) {
    const some = values.map((value) => value.slice(0, 12));
    expect(await total([eq(column, ...some), eq("KEY", "p7@b.co")])).toBe(0);
  }
  const many = Array.from({ length: 21 }, (_, number) => eq("CONTACT_STATUS", "active", `s${number}`));
  expect(await total(many.slice(1))).toBe(1);
  expect(await total([], alternatives(many.slice(1)))).toBe(1);
  for (const answer of [await search(many), await search([], alternatives(many))]) {
    expect(onlyError(answer)).toMatchObject(invalidAt("contactSpecification"));
  }
});

test("Search: pages are in the order of _id, and stay so while contacts come and change", async () => {
  const { call, create, furnished, search } = await openAccount();
  const { lists } = await furnished();
  const member = { lists: refs(lists[0]!) };
  const ids: string[] = [];
  for (let number = 0; number < 30; number++) ids.push((await create(`p${number}@b.co`, member))._id);
  const seen: string[] = [];
  for (let page = 1; page <= 3; page++) {
    const { body } = await search([eq("LIST_ID", lists[0]!)], { page });
    seen.push(...body.contacts.map((contact: { _id: string }) => contact._id));
    await create(`later${page}@b.co`, member);
    await call("PUT", `/api/contact/${ids[0]}/mutate`, { addLists: [lists[1]] });
  }
  expect(seen).toEqual(ids);
});

test("Search: every page of every filter is what counting from the first contact gives", async () => {
  const account = await openAccount();
  const { lists } = await account.furnished();
  const crowd = await filled(account, 530, lists);
  const filters: [criterias: object[], isMember: (number: number) => boolean][] = [
    [[], () => true],
    [[eq("LIST_ID", lists[0]!)], (number) => number % 2 === 0],
    [[eq("LIST_ID", ...lists)], (number) => number % 2 === 0 || number % 3 === 0],
    [[eq("LIST_ID", lists[0]!), eq("LIST_ID", lists[1]!)], (number) => number % 6 === 0],
  ];
  const expectPages = async (...pages: number[]) => {
    for (const [criterias, isMember] of filters) {
      const all = crowd.filter(({ number }) => isMember(number)).map(({ id }) => id);
      for (const page of pages) {
        const { body } = await account.search(criterias, { page, pageSize: 70, source: ["_id"] });
        expect(body.totalRecords).toBe(all.length);
        const ids = body.contacts.map((contact: { _id: string }) => contact._id);
        expect(ids).toEqual(all.slice((page - 1) * 70, page * 70));
      }
    }
  };
  await expectPages(8, 1, 2, 3, 4, 5, 6, 7);
  // One from the middle leaves: everyone behind moves up, on pages that were seen before.
  const [gone] = crowd.splice(180, 1);
  expect((await account.call("DELETE", `/api/contact/${gone!.id}`)).status).toBe(200);
  await expectPages(5, 2, 3, 8);
  // And one joins a list in its middle.
  const joiner = crowd.find(({ number }) => number === 211)!;
  await account.call("PUT", `/api/contact/${joiner.id}/mutate`, { addLists: [lists[0]] });
  joiner.number = 2;
  await expectPages(4, 3, 2);
});

const ordinary = {
  fields: [],
  tags: [],
  status: { primary: "active" },
  createdAt: 0,
  updatedAt: 0,
  version: 0,
};

/** Contacts straight into the store: hundreds of requests would only take longer. */
async function filled({ folder, clock, structureId }: TestAccount, count: number, lists: string[]) {
  const store = await openStore(folder, clock.now());
  const ids = store.database.transaction(() => store.newIds(clock.now(), count));
  store.database.transaction(() => {
    for (const [number, id] of ids.entries()) {
      const own = { id, key: `p${number}@b.co`, lists: lists.filter((_, at) => number % (at + 2) === 0) };
      store.contacts.add({ ...ordinary, structureId, ...own });
    }
  });
  store.database.close();
  return ids.map((id, number) => ({ id, number }));
}
