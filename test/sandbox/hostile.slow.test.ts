/**
 * Hostile input: refused in the documented form, never a failure of the service, and nothing of it is kept.
 */
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { openDatabase } from "../../src/sandbox/database.ts";
import { anyText, runs } from "../support/runs.ts";
import { eq, onlyError, openAccount, refs, type TestAccount } from "./account.ts";

test("hostile requests: each is answered or refused in the documented form, and refusals keep nothing", async () => {
  const account = await openAccount();
  const ids = await account.furnished();
  const { _id } = await account.create("a@b.co");
  const database = await openDatabase(`${account.folder}/sandbox.db`);
  onTestFinished(() => database.close());
  const readStored = () => database.get<{ kept: string }>(storedData)?.kept;
  let before = readStored();
  await expectRefusals(account, places(account, _id, ids), [400, 401, 403, 404], (isRefused) => {
    const after = readStored();
    if (isRefused) expect(after).toBe(before);
    before = after;
  });
});

test("hostile requests to /__sandbox/: each is answered or refused in the documented form, and none is a failure", async () => {
  const account = await openAccount();
  await account.create("a@b.co");
  await expectRefusals(account, adminPlaces, [400, 404]);
  await account.admin("POST", "reset");
  await account.admin("PUT", "clock", { real: true });
  await account.admin("PUT", "limits", { hourly: 100, monthly: 100, used: 0 });
  await account.admin("DELETE", "faults");
  expect((await account.read()).status).toBe(200);
});

const badStrings = [
  ...["", "\0", "a\0b@c.co", "\ud800", "a\udfff@b.co", "' OR 1=1 --", '"; DROP TABLE contacts; --', "%", "_"],
  ...["*", "\\", "../../etc/passwd", "__proto__", "constructor", "\u202e\u0000\u001b[31m"],
  ...["x".repeat(100_000), "ﷺ".repeat(1000), "1e999"],
];
const badNumbers = [-1, 0.5, 1e21, 2 ** 53, -0, 1e308, 2147483648];

const hostile: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom(...badStrings),
  fc.constantFrom(...badNumbers),
  fc.constantFrom(null, true, false, [], {}, [[]], [null], [{}]),
  anyText(),
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

type Place = [method: string, path: string, body?: Record<string, unknown>];

function places(
  { structureId: contactStructureId, structurePath, listsPath }: TestAccount,
  contactId: string,
  { fields, ...ids }: Record<"fields" | "tags" | "lists", string[]>,
): Place[] {
  const [tags, lists] = [refs(...ids.tags), refs(...ids.lists)];
  const values = fields.map((_id) => ({ _id, value: "x" }));
  const contact = `/api/contact/${contactId}`;
  const structure = { label: "L", keyName: "K", fields: [{ label: "F" }], tags: [{ label: "T" }], __v: 0 };
  const filters = [{ criterias: [eq("KEY", "a@b.co")] }];
  const search = { page: 1, pageSize: 10, source: ["key"], contactSpecification: { filters } };
  return [
    ["GET", listsPath],
    ["GET", "/api/contact/"],
    ["PUT", structurePath, structure],
    ["POST", listsPath, { name: "n" }],
    ["POST", "/api/contact", { key: "x@b.co", contactStructureId, fields: values, lists, tags }],
    ["POST", "/api/contact/search", { contactStructureId, ...search }],
    ["PUT", `${contact}/mutate`, { addTags: tags, removeLists: lists, updateFields: values, __v: 0 }],
    ["PATCH", contact, { status: { primary: "Inactive", secondary: "Bounce" } }],
    ["PUT", contact, { key: "y@b.co", __v: 0, fields: values }],
  ];
}

const seeded = { key: "a@b.co", fields: { City: "Oslo" }, lists: ["News"], tags: ["VIP"], status: "Active" };
const event = { key: "a@b.co", type: "opened", emailSubject: "x", triggeredBy: { type: "user" } };

/**
 * The paths of /__sandbox/ that take input. Faults and a set clock are left out of what is kept: they would
 * spoil the next.
 */
const adminPlaces: Place[] = [
  ["GET", "/__sandbox/requests"],
  ["GET", "/__sandbox/requests/"],
  ["DELETE", "/__sandbox/requests"],
  ["POST", "/__sandbox/reset", { seed: 1 }],
  ["POST", "/__sandbox/seed", { fields: ["City"], tags: ["VIP"], lists: ["News"], contacts: [seeded] }],
  ["PUT", "/__sandbox/snapshots"],
  ["POST", "/__sandbox/snapshots/x/load"],
  ["DELETE", "/__sandbox/snapshots"],
  ["PUT", "/__sandbox/clock", { advance: "1h" }],
  ["PUT", "/__sandbox/clock", { time: "2030-01-01T00:00:00Z" }],
  ["PUT", "/__sandbox/faults", { faults: ["503:GET:/nothing:n=1"] }],
  ["PUT", "/__sandbox/limits", { hourly: 9, windowSeconds: 9, monthly: 9, used: { hour: 1 } }],
  ["POST", "/__sandbox/events", event],
];

/** A request that is right but for one thing, or wrong altogether. */
function requests(from: Place[]) {
  const badText = fc.constantFrom(...badStrings.slice(0, 15));
  const spoil = (weight: number, kind: string, value: fc.Arbitrary<unknown>) => ({
    weight,
    arbitrary: fc.record({ kind: fc.constant(kind), at: fc.nat(), value }),
  });
  return fc.record({
    place: fc.constantFrom(...from),
    spoil: fc.oneof(
      spoil(5, "member", hostile),
      spoil(3, "inside", hostile),
      spoil(1, "body", hostile),
      spoil(1, "raw", anyText()),
      spoil(1, "path", badText),
      spoil(1, "query", badText),
    ),
  });
}

/**
 * Sends requests that are wrong in one way or another; expects each to be answered, or refused in the
 * documented form.
 * @param statuses of refusals
 * @param look is called after each request
 */
async function expectRefusals(
  { call }: TestAccount,
  from: Place[],
  statuses: number[],
  look: (isRefused: boolean) => void = () => {},
): Promise<void> {
  const numRuns = runs(200);
  let refused = 0;
  await fc.assert(
    fc.asyncProperty(requests(from), async ({ place, spoil }) => {
      const { path, raw } = spoiled(place, spoil);
      const [method, , body] = place;
      const answer = await call(method, path, undefined, { raw: body ? raw : undefined });
      const isRefused = answer.status >= 300;
      if (isRefused) {
        expect(statuses, answer.text).toContain(answer.status);
        const inWords = { errorType: expect.any(String), message: expect.any(String) };
        expect(onlyError(answer)).toMatchObject(inWords);
        refused += 1;
      }
      look(isRefused);
    }),
    { numRuns },
  );
  expect(refused).toBeGreaterThan(numRuns / 2);
}

const storedData = `SELECT json_array(
  (SELECT json_group_array(content) FROM documents),
  (SELECT json_group_array(contact) FROM contacts),
  (SELECT count(*) FROM members)) AS kept`;

type Spoil = { kind: string; at: number; value: unknown };

function spoiled([, path, body = {}]: Place, { kind, at, value }: Spoil): { path: string; raw: string } {
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
