/** Hostile requests at random: right but for one thing, or wrong altogether. */
import fc from "fast-check";
import { expect } from "vitest";
import { openDatabase } from "../../src/sandbox/database.ts";
import { onlyError, openAccount, type TestAccount } from "./account.ts";

const refusals = new Set([400, 401, 403, 404]);
const badStrings = [
  "",
  "\0",
  "a\0b@c.co",
  "\ud800",
  "a\udfff@b.co",
  "' OR 1=1 --",
  '"; DROP TABLE contacts; --',
  "%",
  "_",
  "*",
  "\\",
  "../../etc/passwd",
  "__proto__",
  "constructor",
  "\u202e\u0000\u001b[31m",
  "x".repeat(100_000),
  "ﷺ".repeat(1000),
  "1e999",
];
const badNumbers = [-1, 0.5, 1e21, 2 ** 53, -0, 1e308, 2147483648];

const hostile: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom(...badStrings),
  fc.constantFrom(...badNumbers),
  fc.constantFrom(null, true, false, [], {}, [[]], [null], [{}]),
  fc.string({ unit: "binary" }),
  fc.jsonValue({ maxDepth: 3 }),
  fc.dictionary(
    fc.constantFrom("_id", "value", "key", "__proto__", "constructor", "toString", "fields"),
    fc.oneof(fc.constantFrom(...badStrings), fc.jsonValue({ maxDepth: 1 })),
  ),
  fc.nat({ max: 2000 }).map(nested),
);

function nested(depth: number): unknown {
  let value: unknown = [];
  for (let level = 0; level < depth; level++) value = [value];
  return value;
}

interface Place {
  method: string;
  path: string;
  body?: Record<string, unknown>;
}

function places(
  account: TestAccount,
  contactId: string,
  ids: Record<"fields" | "tags" | "lists", string[]>,
): Place[] {
  const { structureId } = account;
  const structure = `/api/contact-structure/${structureId}`;
  const refs = (each: string[]) => each.map((_id) => ({ _id }));
  const values = ids.fields.map((_id) => ({ _id, value: "x" }));
  return [
    { method: "GET", path: `${structure}/lists` },
    { method: "GET", path: "/api/contact/" },
    {
      method: "PUT",
      path: structure,
      body: { label: "L", keyName: "K", fields: [{ label: "F" }], tags: [{ label: "T" }], __v: 0 },
    },
    { method: "POST", path: `${structure}/lists`, body: { name: "n" } },
    {
      method: "POST",
      path: "/api/contact",
      body: {
        key: "x@b.co",
        contactStructureId: structureId,
        fields: values,
        lists: refs(ids.lists),
        tags: refs(ids.tags),
      },
    },
    {
      method: "POST",
      path: "/api/contact/search",
      body: {
        contactStructureId: structureId,
        page: 1,
        pageSize: 10,
        source: ["key"],
        contactSpecification: {
          filters: [{ criterias: [{ columnToFilter: "KEY", operator: "EQ", values: ["a@b.co"] }] }],
        },
      },
    },
    {
      method: "PUT",
      path: `/api/contact/${contactId}/mutate`,
      body: { addTags: refs(ids.tags), removeLists: refs(ids.lists), updateFields: values, __v: 0 },
    },
    {
      method: "PATCH",
      path: `/api/contact/${contactId}`,
      body: { status: { primary: "Inactive", secondary: "Bounce" } },
    },
    { method: "PUT", path: `/api/contact/${contactId}`, body: { key: "y@b.co", __v: 0, fields: values } },
  ];
}

/** A request that is right but for one thing, or wrong altogether. */
function requests(from: Place[]) {
  return fc.record({
    place: fc.constantFrom(...from),
    spoil: fc.oneof(
      {
        weight: 5,
        arbitrary: fc.record({ kind: fc.constant("member" as const), at: fc.nat(), value: hostile }),
      },
      {
        weight: 3,
        arbitrary: fc.record({ kind: fc.constant("inside" as const), at: fc.nat(), value: hostile }),
      },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant("body" as const), value: hostile }) },
      {
        weight: 1,
        arbitrary: fc.record({ kind: fc.constant("raw" as const), value: fc.string({ unit: "binary" }) }),
      },
      {
        weight: 1,
        arbitrary: fc.record({
          kind: fc.constant("path" as const),
          value: fc.constantFrom(...badStrings.slice(0, 15)),
        }),
      },
      {
        weight: 1,
        arbitrary: fc.record({
          kind: fc.constant("query" as const),
          value: fc.constantFrom(...badStrings.slice(0, 15)),
        }),
      },
    ),
  });
}

/**
 * Sends so many requests that are wrong in one way or another; expects
 * each to be refused or answered as documented.
 */
export async function expectRefusals(count: number): Promise<void> {
  const account = await openAccount();
  const ids = await account.furnished();
  const { _id } = await account.create("a@b.co");
  const database = await openDatabase(`${account.folder}/sandbox.db`);
  const countStored = () => database.get<{ kept: string }>(snapshot)?.kept;
  let refused = 0;
  try {
    await fc.assert(
      fc.asyncProperty(requests(places(account, _id, ids)), async ({ place, spoil }) => {
        const before = countStored();
        const { path, raw } = spoiled(place, spoil);
        const answer = await account.call(place.method, path, undefined, {
          raw: place.body ? raw : undefined,
        });
        if (answer.status === 200) return;
        expect(refusals, answer.text).toContain(answer.status);
        expect(onlyError(answer)).toMatchObject({
          errorType: expect.any(String),
          message: expect.any(String),
        });
        expect(countStored()).toBe(before);
        refused += 1;
      }),
      { numRuns: count },
    );
  } finally {
    database.close();
  }
  expect(refused).toBeGreaterThan(count / 2);
}

/**
 * The paths of /__sandbox/ that take input. Faults and a set clock are left out of what is kept: they would
 * spoil the next.
 */
const adminPlaces: Place[] = [
  { method: "GET", path: "/__sandbox/requests" },
  { method: "GET", path: "/__sandbox/requests/" },
  { method: "DELETE", path: "/__sandbox/requests" },
  { method: "POST", path: "/__sandbox/reset", body: { seed: 1 } },
  {
    method: "POST",
    path: "/__sandbox/seed",
    body: {
      fields: ["City"],
      tags: ["VIP"],
      lists: ["News"],
      contacts: [
        { key: "a@b.co", fields: { City: "Oslo" }, lists: ["News"], tags: ["VIP"], status: "Active" },
      ],
    },
  },
  { method: "PUT", path: "/__sandbox/snapshots" },
  { method: "POST", path: "/__sandbox/snapshots/x/load" },
  { method: "DELETE", path: "/__sandbox/snapshots" },
  { method: "PUT", path: "/__sandbox/clock", body: { advance: "1h" } },
  { method: "PUT", path: "/__sandbox/clock", body: { time: "2030-01-01T00:00:00Z" } },
  { method: "PUT", path: "/__sandbox/faults", body: { faults: ["503:GET:/nothing:n=1"] } },
  {
    method: "PUT",
    path: "/__sandbox/limits",
    body: { hourly: 9, windowSeconds: 9, monthly: 9, used: { hour: 1 } },
  },
  {
    method: "POST",
    path: "/__sandbox/events",
    body: { key: "a@b.co", type: "opened", emailSubject: "x", triggeredBy: { type: "user" } },
  },
];

/**
 * The same for /__sandbox/: what is refused is 400 or 404, nothing
 * is a failure, and the service works afterwards.
 */
export async function expectAdminRefusals(count: number): Promise<void> {
  const account = await openAccount();
  await account.create("a@b.co");
  let refused = 0;
  await fc.assert(
    fc.asyncProperty(requests(adminPlaces), async ({ place, spoil }) => {
      const { path, raw } = spoiled(place, spoil);
      const answer = await account.call(place.method, path, undefined, {
        key: null,
        raw: place.body ? raw : undefined,
      });
      if (answer.status < 300) return;
      expect([400, 404], answer.text).toContain(answer.status);
      expect(onlyError(answer)).toMatchObject({ errorType: expect.any(String), message: expect.any(String) });
      refused += 1;
    }),
    { numRuns: count },
  );
  expect(refused).toBeGreaterThan(count / 2);
  const admin = (method: string, path: string, body?: object) =>
    account.call(method, `/__sandbox/${path}`, body, { key: null });
  await admin("POST", "reset");
  await admin("PUT", "clock", { real: true });
  await admin("PUT", "limits", { hourly: 100, monthly: 100, used: 0 });
  await admin("DELETE", "faults");
  expect((await account.call("GET", "/api/contact-structure")).status).toBe(200);
}

const snapshot = `SELECT json_array(
  (SELECT json_group_array(content) FROM documents),
  (SELECT json_group_array(contact) FROM contacts),
  (SELECT count(*) FROM members)) AS kept`;

type Spoil = { kind: string; at?: number; value: unknown };

function spoiled({ path, body = {} }: Place, { kind, at = 0, value }: Spoil): { path: string; raw: string } {
  if (kind === "path") return { path: `${path}/${encodeURIComponent(wellFormed(value))}`, raw: "{}" };
  if (kind === "query")
    return { path: `${path}?page=${encodeURIComponent(wellFormed(value))}`, raw: JSON.stringify(body) };
  if (kind === "raw") return { path, raw: value as string };
  if (kind === "body") return { path, raw: JSON.stringify(value) };
  const copy = structuredClone(body);
  const holders = kind === "member" ? [copy] : objectsIn(copy);
  const holder = holders[at % holders.length]!;
  const names = [...Object.keys(holder), "__proto__"];
  Object.defineProperty(holder, names[at % names.length]!, { value, enumerable: true });
  return { path, raw: JSON.stringify(copy) };
}

function objectsIn(value: unknown): object[] {
  if (typeof value !== "object" || value === null) return [];
  return [value, ...Object.values(value).flatMap(objectsIn)];
}

function wellFormed(value: unknown): string {
  return Buffer.from(String(value)).toString("utf8");
}
