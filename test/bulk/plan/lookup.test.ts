/** Which contacts have these keys: rows in, contacts and requests out. */
import { expect, it } from "vitest";
import type { Item } from "../../../src/bulk/desired.ts";
import type { LookupOptions } from "../../../src/bulk/plan/lookup.ts";
import { call } from "../kit.ts";
import { type Ada, lastRequest, openSteps, requestsSince, row, startAdasAccount } from "../steps-kit.ts";

const ada = "ada@example.com";
const [search, read, mine] = ["POST /contact/search 200", "GET /contact/:id 200", "GET /contact/:id 404"];
const unknownId = "0123456789abcdef01234567";

/** As a cell has it, and as it is compared. */
function named(written: string, identity: string, ref = 2): Item {
  return { ...row(identity, {}, ref), key: { written, sent: identity, identity } };
}

type Items = (of: Ada) => Item[];
const adaTwice: Items = ({ id }) => [row(ada, {}), named(id, id, 3)];
const written: Items = () => [named("Ada <ada@example.com>", ada), named("o\u2019neill", "o'neill@x.org", 3)];

/** Of each item, the key that is found; `(nobody)`, or `(again)` for one that was named before. */
it.each<[string, Items, found: string[], requests: string[], looksUp?: Partial<LookupOptions>]>([
  ["a key", () => [row(ada, {})], [ada], [search]],
  ["a key in other letters, tried in forms", () => [named("ADA@Example.com", ada)], [ada], [search, search]],
  ["a key as the account has it, and as it should be", written, [ada, "(nobody)"], [search]],
  ["an id", ({ id }) => [named(id, id)], [ada], [read]],
  ["an id of nobody, where keys are addresses", () => [named(unknownId, unknownId)], ["(nobody)"], [mine]],
  ["keys and ids at once", adaTwice, [ada, ada], [read, search]],
  ["somebody once too often", adaTwice, [ada, "(again)"], [read, search], { marksRepeats: true }],
  ["a deleted one whom it still shows", ({ id }) => [row(ada, { who: { not: id } })], ["(nobody)"], [search]],
  ["nobody at all", () => [], [], []],
])("%s", async (_what, items, found, requests, looksUp) => {
  const account = await startAdasAccount();
  const { service } = account;
  const { session } = await openSteps(service, undefined, looksUp);
  const rows = items(account);
  const last = lastRequest(service);
  const results = await session.lookup.find(rows);
  const keys = rows.map(({ ref }) => {
    const { contact, isRepeated } = results.get(ref)!;
    return isRepeated ? "(again)" : (contact?.key ?? "(nobody)");
  });
  expect({ keys, requests: requestsSince(service, last) }).toEqual({ keys: found, requests });
  for (const { ref } of rows) expect(results.get(ref)!.at).toBeGreaterThanOrEqual(session.startedAt);
});

it("asks for a hundred keys in one search, and for the rest in another", async () => {
  const account = await startAdasAccount();
  const { service } = account;
  const { session } = await openSteps(service);
  await session.lookup.find([row(ada, {})]);
  const others = Array.from({ length: 100 }, (_, at) => row(`p${at}@example.com`, {}, at + 3));
  const last = lastRequest(service);
  const results = await session.lookup.find([...others, row(ada, {})]);
  expect(requestsSince(service, last)).toEqual([search, search]);
  const found = [...results.values()].flatMap(({ contact }) => contact ?? []);
  expect(found.map(({ key }) => key)).toEqual([ada]);
});

it("reads a contact of another structure as nobody", async () => {
  const { service, id } = await startAdasAccount();
  const { session } = await openSteps(service, undefined, { structureId: unknownId });
  expect(await call(service, "GET", `/api/contact/${id}`)).toMatchObject({ key: ada });
  expect((await session.lookup.find([named(id, id)])).get(2)!.contact).toBeUndefined();
});
