/**
 * Hostile input: refused in the documented form, never a failure of the service, and nothing of it is kept.
 */
import { connect } from "node:net";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { openDatabase } from "../../src/sandbox/database.ts";
import { startSandbox } from "../support/sandbox.ts";
import { callPort, eq, onlyError, openAccount, refs, type TestAccount } from "./account.ts";

test.each([
  ["bytes that are no UTF-8", Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d])],
  ["an overlong form", Buffer.from([0x22, 0xc0, 0x80, 0x22])],
  ["10 MB", Buffer.alloc(10_000_000, 0x20)],
  ["a million brackets", Buffer.alloc(1_000_000, 0x5b)],
])("Behind a port, a body of %s is 400 ValidationError", async (_what, bytes) => {
  const { baseUrl, apiKey } = await startSandbox();
  for (const body of [bytes, new Blob([bytes]).stream()]) {
    const answer = await fetch(`${baseUrl}/api/contact`, {
      method: "POST",
      headers: { "x-api-key": apiKey, "content-type": "application/json" },
      body,
      duplex: "half",
    } as RequestInit);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ errors: [{ errorType: "ValidationError" }] });
  }
});

test.each([
  ["no HTTP at all", "what is this\r\n\r\n"],
  ["a broken host", "GET /api/contact HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n"],
  ["no host", "GET /api/contact-structure HTTP/1.1\r\n\r\n"],
  [
    "a broken chunk",
    "POST /api/contact HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n",
  ],
  ["two lengths", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n"],
  ["a broken path", "GET //[ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"],
  ["another scheme", "GET ftp://x/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"],
  ["a header that is too long", `GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${"x".repeat(100_000)}\r\n\r\n`],
])("Behind a port, %s is refused, and the service goes on", async (_what, text) => {
  const { baseUrl, apiKey } = await startSandbox();
  // A sender that is still sending when the connection closes may learn nothing but that.
  expect(await sendRaw(new URL(baseUrl), text)).toMatch(/^(HTTP\/1\.1 4\d\d |reset$)/);
  const answer = await fetch(`${baseUrl}/api/contact-structure`, { headers: { "x-api-key": apiKey } });
  expect(answer.status).toBe(200);
});

test("Behind a port, a caller who leaves in the middle of a body leaves nothing", async () => {
  const { baseUrl, apiKey, sandbox } = await startSandbox();
  const body = JSON.stringify({ key: "a@b.co", contactStructureId: sandbox.structureId });
  const head = `POST /api/contact HTTP/1.1\r\nHost: x\r\nX-API-Key: ${apiKey}\r\nContent-Type: application/json\r\n`;
  await new Promise<void>((resolve) => {
    const { hostname, port } = new URL(baseUrl);
    const socket = connect(Number(port), hostname, () => {
      socket.write(`${head}Content-Length: ${body.length + 100}\r\n\r\n${body}`, () => socket.destroy());
    });
    socket.on("close", () => resolve());
  });
  expect((await callPort({ baseUrl, apiKey }, "GET", "/api/contact")).body).toEqual([]);
});

function sendRaw({ hostname, port }: URL, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = "";
    const socket = connect(Number(port), hostname, () => socket.write(text));
    socket.setEncoding("utf8").on("data", (chunk: string) => {
      answer += chunk;
    });
    socket.on("error", ({ code }: NodeJS.ErrnoException) =>
      code === "ECONNRESET" ? resolve("reset") : reject(),
    );
    socket.on("close", () => resolve(answer));
  });
}

test("5,000 hostile requests: each is answered or refused in the documented form, and refusals keep nothing", async () => {
  const account = await openAccount();
  const ids = await account.furnished();
  const { _id } = await account.create("a@b.co");
  const database = await openDatabase(`${account.folder}/sandbox.db`);
  onTestFinished(() => database.close());
  const readStored = () => database.get<{ kept: string }>(storedData)?.kept;
  let before = readStored();
  await expectRefusals(5000, account, places(account, _id, ids), [400, 401, 403, 404], (isRefused) => {
    const after = readStored();
    if (isRefused) expect(after).toBe(before);
    before = after;
  });
});

test("2,500 hostile requests to /__sandbox/: each is answered or refused in the documented form, and none is a failure", async () => {
  const account = await openAccount();
  await account.create("a@b.co");
  await expectRefusals(2500, account, adminPlaces, [400, 404]);
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
    { method: "GET", path: listsPath },
    { method: "GET", path: "/api/contact/" },
    { method: "PUT", path: structurePath, body: structure },
    { method: "POST", path: listsPath, body: { name: "n" } },
    {
      method: "POST",
      path: "/api/contact",
      body: { key: "x@b.co", contactStructureId, fields: values, lists, tags },
    },
    { method: "POST", path: "/api/contact/search", body: { contactStructureId, ...search } },
    {
      method: "PUT",
      path: `${contact}/mutate`,
      body: { addTags: tags, removeLists: lists, updateFields: values, __v: 0 },
    },
    { method: "PATCH", path: contact, body: { status: { primary: "Inactive", secondary: "Bounce" } } },
    { method: "PUT", path: contact, body: { key: "y@b.co", __v: 0, fields: values } },
  ];
}

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
      spoil(1, "raw", fc.string({ unit: "binary" })),
      spoil(1, "path", badText),
      spoil(1, "query", badText),
    ),
  });
}

/**
 * Sends so many requests that are wrong in one way or another; expects each to be answered, or refused in the
 * documented form.
 * @param statuses of refusals
 * @param look is called after each request
 */
async function expectRefusals(
  count: number,
  { call }: TestAccount,
  from: Place[],
  statuses: number[],
  look: (isRefused: boolean) => void = () => {},
): Promise<void> {
  let refused = 0;
  await fc.assert(
    fc.asyncProperty(requests(from), async ({ place, spoil }) => {
      const { path, raw } = spoiled(place, spoil);
      const answer = await call(place.method, path, undefined, { raw: place.body ? raw : undefined });
      const isRefused = answer.status >= 300;
      if (isRefused) {
        expect(statuses, answer.text).toContain(answer.status);
        const inWords = { errorType: expect.any(String), message: expect.any(String) };
        expect(onlyError(answer)).toMatchObject(inWords);
        refused += 1;
      }
      look(isRefused);
    }),
    { numRuns: count },
  );
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

const storedData = `SELECT json_array(
  (SELECT json_group_array(content) FROM documents),
  (SELECT json_group_array(contact) FROM contacts),
  (SELECT count(*) FROM members)) AS kept`;

type Spoil = { kind: string; at: number; value: unknown };

function spoiled({ path, body = {} }: Place, { kind, at, value }: Spoil): { path: string; raw: string } {
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
