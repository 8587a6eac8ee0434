/** /__sandbox/: what a test does to the sandbox beside using it. */
import { expect, test } from "vitest";
import { invalidAt, onlyError, openAccount, type TestAccount } from "./account.ts";

/** Requests below /__sandbox/, without a key. */
function adminCalls({ call }: TestAccount) {
  return (method: string, path: string, body?: unknown) =>
    call(method, `/__sandbox/${path}`, body, { key: null });
}

async function opened(...options: Parameters<typeof openAccount>) {
  const account = await openAccount(...options);
  return { account, admin: adminCalls(account) };
}

const keysIn = async ({ search }: TestAccount) =>
  (await search([], { source: ["key"], pageSize: 1000 })).body.contacts.map(
    (contact: { key: string }) => contact.key,
  );

test("health tells the version and the service's time, without a key and without being counted", async () => {
  const { account, admin } = await opened();
  expect((await admin("GET", "health")).body).toEqual({
    status: "ok",
    version: expect.stringMatching(/^\d+\.\d+\.\d+/),
    clock: "2026-06-15T12:00:00.000Z",
  });
  expect((await account.call("GET", "/api/contact-structure")).headers["x-ratelimit-remaining"]).toBe(
    "999999",
  );
});

test("a path or a method that is not there is 404", async () => {
  const { admin } = await opened();
  for (const [method, path] of [
    ["GET", "nothing"],
    ["POST", "health"],
    ["GET", "reset"],
  ] as const) {
    expect(onlyError(await admin(method, path))).toMatchObject({ status: 404, errorType: "RecordNotFound" });
  }
});

test("the log holds each request with its answer, and no key", async () => {
  const { account, admin } = await opened();
  const key = account.sandbox.ownKey();
  await account.create("ada@example.com");
  await account.call("GET", `/api/contact-structure/${account.structureId}/lists?page=2&size=5&leak=${key}`);
  await account.call("GET", "/api/nothing", undefined, { key: "ecm_us_short" });
  // Where no header says what is secret.
  await account.call("GET", `/api/contact?leak=${key}`, undefined, { key: null });
  const { fields } = (await account.call("GET", "/api/contact-structure")).body[0];
  const leaky = { key: "leak@example.com", contactStructureId: account.structureId };
  const other = `ecm_us_${"x".repeat(43)}`;
  const answered = await account.call("POST", "/api/contact", {
    ...leaky,
    fields: [{ _id: fields[0]._id, value: `${key} ${other}` }],
  });
  expect(answered.body.fields[0].value).toContain(key);
  const log = (await admin("GET", "requests")).body;
  expect(log).toHaveLength(6);
  expect(log[0]).toEqual({
    n: 1,
    time: "2026-06-15T12:00:00.000Z",
    method: "POST",
    path: "/api/contact",
    query: {},
    headers: expect.objectContaining({ "x-api-key": `${key.slice(0, 7)}…${key.slice(-4)}` }),
    body: { key: "ada@example.com", contactStructureId: account.structureId },
    status: 200,
    answer: expect.objectContaining({ key: "ada@example.com", __v: 0 }),
    milliseconds: expect.any(Number),
    fault: null,
  });
  expect(log[1]).toMatchObject({ n: 2, query: { page: "2", size: "5" }, body: null, status: 200 });
  expect(log[2]).toMatchObject({ n: 3, status: 401, headers: { "x-api-key": "…" } });
  expect(JSON.stringify(log)).not.toContain(key);
  expect(JSON.stringify(log)).not.toContain(other);
});

test("the log is read by number, time, method, path and status, and numbers go on after it was cleared", async () => {
  const { account, admin } = await opened();
  await account.create("a@b.co");
  account.clock.pass(60);
  await account.call("GET", "/api/contact-structure");
  await account.call("POST", "/api/contact", { key: "a@b.co", contactStructureId: account.structureId });
  const numbers = async (query: string) =>
    (await admin("GET", `requests?${query}`)).body.map((each: { n: number }) => each.n);
  expect(await numbers("since=1")).toEqual([2, 3]);
  expect(await numbers("since=2026-06-15T12:00:30Z")).toEqual([2, 3]);
  expect(await numbers("since=2026-06-15T14:00:30%2B02:00")).toEqual([2, 3]);
  expect(await numbers("method=post")).toEqual([1, 3]);
  expect(await numbers("path=/api/contact")).toEqual([1, 3]);
  expect(await numbers("path=/api/contact*")).toEqual([1, 2, 3]);
  expect(await numbers("path=/api/[c]ontact")).toEqual([]);
  expect(await numbers("status=400")).toEqual([3]);
  expect(await numbers("status=2xx&method=POST")).toEqual([1]);
  expect(await numbers("limit=1")).toEqual([3]);
  for (const query of [
    "since=soon",
    "status=ok",
    "status=7xx",
    "limit=0",
    "until=1",
    "method=%20",
    "since=1&since=2",
  ]) {
    expect(onlyError(await admin("GET", `requests?${query}`)), query).toMatchObject(
      invalidAt(query.split("=")[0]),
    );
  }
  expect((await admin("DELETE", "requests")).status).toBe(204);
  expect(await numbers("")).toEqual([]);
  await account.call("GET", "/api/contact-structure");
  expect(await numbers("")).toEqual([4]);
});

test("a long body and a long answer are cut in the log, and whole for the caller", async () => {
  const { account, admin } = await opened();
  const label = "x".repeat(100_000);
  const { fields } = await account.update({ fields: [{ label }] });
  expect(fields[0]!.label).toBe(label);
  const [, put] = (await admin("GET", "requests")).body;
  expect([put.body.length, put.answer.length]).toEqual([64 * 1024 + 1, 1024 + 1]);
});

test("what goes wrong on purpose is in the log, and can be changed while the service runs", async () => {
  const { account, admin } = await opened({ faults: ["503:POST:/api/contact:n=1"] });
  const create = () =>
    account.call("POST", "/api/contact", { key: "a@b.co", contactStructureId: account.structureId });
  expect((await admin("GET", "faults")).body).toEqual({ faults: ["503:POST:/api/contact:n=1"] });
  expect((await create()).status).toBe(503);
  const specs = ["reset-before:POST:/api/contact:n=1", "truncate:POST:/api/contact:n=2"];
  expect((await admin("PUT", "faults", { faults: specs })).body).toEqual({ faults: specs });
  await expect(create()).rejects.toMatchObject({ code: "ECONNRESET" });
  await expect(create()).rejects.toMatchObject({ code: "ECONNRESET" });
  expect((await admin("DELETE", "faults")).status).toBe(204);
  expect(onlyError(await create()).errorType).toBe("DuplicateFieldError");
  const log = (await admin("GET", "requests")).body;
  expect(log.map((each: { fault: string; status: number }) => [each.fault, each.status])).toEqual([
    ["503", 503],
    ["reset-before", null],
    ["truncate", 200],
    [null, 400],
  ]);
  await admin("PUT", "faults", { faults: ["500:*:*"] });
  expect((await admin("GET", "health")).status).toBe(200);
  for (const [faults, field] of [
    [["503:GET", "bogus"], "faults[1]"],
    [[1], "faults[0]"],
    ["500", "faults"],
    [undefined, "faults"],
  ]) {
    expect(onlyError(await admin("PUT", "faults", { faults }))).toMatchObject(invalidAt(field));
  }
  expect((await admin("GET", "faults")).body).toEqual({ faults: ["500:*:*"] });
});

test("reset empties account and log; key, structure, default fields, clock, limits and faults stay", async () => {
  const { account, admin } = await opened();
  await account.furnished();
  await account.create("a@b.co");
  await admin("PUT", "clock", { advance: "1h" });
  await admin("PUT", "limits", { hourly: 50, monthly: 500 });
  await admin("PUT", "faults", { faults: ["500:PATCH"] });
  const [before] = (await account.call("GET", "/api/contact-structure")).body;
  expect((await admin("POST", "reset")).body).toEqual({ structureId: account.structureId });
  expect((await admin("GET", "requests")).body).toEqual([]);
  const answer = await account.call("GET", "/api/contact-structure");
  expect(answer.body).toEqual([{ ...before, fields: before.fields.slice(0, 2), tags: [], __v: 0 }]);
  expect(answer.headers).toMatchObject({ "x-ratelimit-limit": "50", "x-monthly-limit": "500" });
  expect((await account.search([])).body.totalRecords).toBe(0);
  expect((await account.call("GET", `/api/contact-structure/${account.structureId}/lists`)).body.total).toBe(
    0,
  );
  expect((await admin("GET", "clock")).body).toEqual({
    time: "2026-06-15T13:00:00.000Z",
    real: false,
  });
  expect((await admin("GET", "faults")).body).toEqual({ faults: ["500:PATCH"] });
});

test("a reset of everything puts clock, limits and faults back to the start", async () => {
  const { account, admin } = await opened({ hourlyLimit: 70, faults: ["503:PATCH"] });
  await admin("PUT", "clock", { time: "2030-01-01" });
  await admin("PUT", "limits", { hourly: 5, windowSeconds: 10, monthly: 9, used: 5 });
  await admin("PUT", "faults", { faults: ["500:*"] });
  await admin("PUT", "snapshots/kept");
  const body = { everything: true, seed: 3 };
  expect((await admin("POST", "reset", body)).body).toEqual({ structureId: account.structureId });
  const now = { time: "2026-06-15T12:00:00.000Z", real: true };
  expect((await admin("GET", "clock")).body).toEqual(now);
  expect((await admin("GET", "limits")).body).toEqual({
    hourly: 70,
    windowSeconds: 3600,
    monthly: 1_000_000,
    used: { hour: 0, month: 0 },
  });
  expect((await admin("GET", "faults")).body).toEqual({ faults: ["503:PATCH"] });
  expect((await admin("GET", "snapshots")).body).toMatchObject([{ name: "kept" }]);
  expect((await account.create("a@b.co")).createdAt).toBe(now.time);
  for (const everything of ["yes", 1, null]) {
    const refused = onlyError(await admin("POST", "reset", { everything }));
    expect(refused).toMatchObject(invalidAt("everything"));
  }
});

test("with a seed the same ids come after every reset, in any folder", async () => {
  const definedIds = async ({ account, admin }: Awaited<ReturnType<typeof opened>>) => {
    const { tags, lists, fields } = await account.furnished();
    const { _id } = await account.create("a@b.co");
    account.clock.pass(1);
    return { tags, lists, fields, _id, admin };
  };
  const one = await opened();
  await one.admin("POST", "reset", { seed: 7 });
  const { admin: _, ...first } = await definedIds(one);
  await one.admin("POST", "reset", { seed: 7 });
  expect(await definedIds(one)).toMatchObject(first);
  await one.admin("POST", "reset");
  expect(await definedIds(one)).toMatchObject(first);
  const two = await opened({ seed: 7 });
  await two.admin("POST", "reset");
  expect(await definedIds(two)).toMatchObject(first);
  const three = await opened({ seed: 7 });
  expect(three.account.structureId).toBe(two.account.structureId);
  await two.admin("POST", "reset", { seed: 8 });
  expect((await definedIds(two))._id).not.toBe(first._id);
  expect(onlyError(await two.admin("POST", "reset", { seed: "7" }))).toMatchObject(invalidAt("seed"));
});

test("a default field that was removed comes back, and no id is given twice", async () => {
  const { account, admin } = await opened();
  await admin("POST", "reset", { seed: 1 });
  for (let time = 0; time < 2; time++) {
    await account.update({ fields: [] });
    await admin("POST", "reset");
    const [{ fields }] = (await account.call("GET", "/api/contact-structure")).body;
    const { _id } = await account.create("a@b.co");
    expect(fields.map((field: { label: string }) => field.label)).toEqual(["First Name", "Last Name"]);
    expect(fields.map((field: { _id: string }) => field._id)).not.toContain(_id);
  }
});

test("the clock is set, advanced and let go; timestamps, windows, months and expiry follow it, and it ticks on", async () => {
  const { account, admin } = await opened({ hourlyLimit: 2, monthlyLimit: 4 });
  const direct = await account.openAdmin();
  const { key } = direct.keys.create({
    name: "old",
    scopes: ["contacts:read"],
    expiresAt: new Date("2026-06-20T00:00:00Z"),
  });
  const read = async (key?: string) =>
    (await account.call("GET", "/api/contact-structure", undefined, { key })).status;
  expect([await read(), await read(key), await read()]).toEqual([200, 200, 429]);
  expect((await admin("PUT", "clock", { advance: "1h30m" })).body).toEqual({
    time: "2026-06-15T13:30:00.000Z",
    real: false,
  });
  expect([await read(), await read(), await read()]).toEqual([200, 200, 429]);
  await admin("PUT", "clock", { time: "2026-06-30T23:59:59Z" });
  expect(onlyError(await account.call("GET", "/api/contact-structure")).message).toBe(
    "Monthly API quota exceeded.",
  );
  account.clock.pass(1);
  expect((await admin("GET", "clock")).body.time).toBe("2026-07-01T00:00:00.000Z");
  expect([await read(), await read(key)]).toEqual([200, 401]);
  expect(direct.keys.get("old").state).toBe("expired");
  await admin("PUT", "limits", { hourly: 100 });
  expect((await account.create("a@b.co")).createdAt).toBe("2026-07-01T00:00:00.000Z");
  await admin("PUT", "clock", { real: true });
  expect((await admin("GET", "clock")).body).toEqual({
    time: "2026-06-15T12:00:01.000Z",
    real: true,
  });
  expect((await account.create("b@b.co")).createdAt).toBe("2026-06-15T12:00:01.000Z");
});

test.each([
  [{}, undefined],
  [{ real: true, advance: "1h" }, undefined],
  [{ time: "2030-01-01", advance: "1h" }, undefined],
  [{ real: false }, "real"],
  [{ advance: "soon" }, "advance"],
  [{ advance: "1h " }, "advance"],
  [{ advance: "-1h" }, "advance"],
  [{ advance: "999999999w" }, "advance"],
  [{ time: "2026-02-30T00:00:00Z" }, "time"],
  [{ time: "tomorrow" }, "time"],
  [{ time: "2100-01-01" }, "time"],
  [{ time: "1969-12-31" }, "time"],
  [{ time: 5 }, "time"],
  [{ speed: 2 }, "speed"],
])("the clock refuses %j and stays", async (change, field) => {
  const { admin } = await opened();
  expect(onlyError(await admin("PUT", "clock", change))).toMatchObject({
    status: 400,
    errorType: "ValidationError",
    ...(field && { field }),
  });
  expect((await admin("GET", "clock")).body).toEqual({
    time: "2026-06-15T12:00:00.000Z",
    real: true,
  });
});

test("a block that was made before the clock was set back does not last until then", async () => {
  const { account, admin } = await opened({ blockAfter: 1 });
  await admin("PUT", "clock", { advance: "30d" });
  await account.call("GET", "/api/contact-structure", undefined, { key: null });
  expect((await account.call("GET", "/api/contact-structure")).status).toBe(429);
  await admin("PUT", "clock", { real: true });
  expect((await account.call("GET", "/api/contact-structure")).status).toBe(200);
});

test("limits are changed while the service runs, also what is spent of them", async () => {
  const { account, admin } = await opened();
  expect(
    (await admin("PUT", "limits", { hourly: 10, windowSeconds: 60, monthly: 100, used: 9 })).body,
  ).toEqual({
    hourly: 10,
    windowSeconds: 60,
    monthly: 100,
    used: { hour: 9, month: 9 },
  });
  const last = await account.call("GET", "/api/contact-structure");
  expect(last.headers).toMatchObject({ "x-ratelimit-remaining": "0", "x-monthly-remaining": "90" });
  expect((await account.call("GET", "/api/contact-structure")).headers["retry-after"]).toBe("60");
  await admin("PUT", "limits", { used: { month: 100 } });
  expect((await admin("GET", "limits")).body.used).toEqual({ hour: 10, month: 100 });
  expect(onlyError(await account.call("GET", "/api/contact-structure")).message).toBe(
    "Monthly API quota exceeded.",
  );
  for (const [change, field] of [
    [{ hourly: -1 }, "hourly"],
    [{ windowSeconds: 0 }, "windowSeconds"],
    [{ used: "all" }, "used"],
    [{ daily: 1 }, "daily"],
  ] as const) {
    expect(onlyError(await admin("PUT", "limits", change))).toMatchObject(invalidAt(field));
  }
});

test("a snapshot brings back contacts, lists, structure and keys; time, limits, faults and log stay", async () => {
  const { account, admin } = await opened();
  const { lists, tags } = await account.furnished();
  const made = await account.create("a@b.co", { lists: [{ _id: lists[0] }], tags: [{ _id: tags[1] }] });
  expect((await admin("PUT", "snapshots/first")).body).toMatchObject({
    name: "first",
    savedAt: "2026-06-15T12:00:00.000Z",
  });
  const direct = await account.openAdmin();
  const late = direct.keys.create({ name: "late", scopes: ["contacts:read"] }).key;
  await account.call("DELETE", `/api/contact/${made._id}`);
  const second = await account.create("b@b.co");
  await account.update({ fields: [], tags: [] });
  const { n } = (await admin("GET", "requests")).body.at(-1);
  expect((await admin("POST", "snapshots/first/load")).status).toBe(200);
  expect((await admin("GET", "requests")).body.at(-1).n).toBe(n);
  expect(await keysIn(account)).toEqual(["a@b.co"]);
  expect((await account.call("GET", `/api/contact/${made._id}`)).body).toEqual(made);
  expect(
    (await account.search([{ columnToFilter: "LIST_ID", operator: "EQ", values: [lists[0]] }])).body,
  ).toMatchObject({
    totalRecords: 1,
  });
  const remaining = (await account.call("GET", "/api/contact-structure")).headers["x-ratelimit-remaining"];
  expect(Number(remaining)).toBeLessThan(1_000_000 - n);
  expect((await account.call("GET", "/api/contact-structure", undefined, { key: late })).status).toBe(401);
  // Triggers are there again, and ids go on.
  const third = await account.create("c@b.co", { lists: [{ _id: lists[0] }] });
  expect(third._id > second._id).toBe(true);
  expect(
    (await account.search([{ columnToFilter: "LIST_ID", operator: "EQ", values: [lists[0]] }])).body
      .totalRecords,
  ).toBe(2);
  await account.call("DELETE", `/api/contact/${made._id}`);
  await admin("POST", "snapshots/first/load");
  expect(await keysIn(account)).toEqual(["a@b.co"]);
});

test("snapshots are listed, saved over, removed, and kept by a reset; their names are no paths", async () => {
  const { account, admin } = await opened();
  await admin("PUT", "snapshots/b");
  await admin("PUT", "snapshots/a.1");
  await admin("POST", "reset");
  await account.create("a@b.co");
  await admin("PUT", "snapshots/b");
  await admin("POST", "reset");
  await admin("POST", "snapshots/b/load");
  expect(await keysIn(account)).toEqual(["a@b.co"]);
  expect((await admin("GET", "snapshots")).body).toMatchObject([{ name: "a.1" }, { name: "b" }]);
  expect((await admin("DELETE", "snapshots/b")).status).toBe(204);
  expect((await admin("DELETE", "snapshots/b")).status).toBe(404);
  expect((await admin("POST", "snapshots/b/load")).status).toBe(404);
  for (const name of ["..%2Fx", "%00", ".hidden", "a%2Fb", "x".repeat(101), "%20"]) {
    expect(onlyError(await admin("PUT", `snapshots/${name}`)), name).toMatchObject(invalidAt("name"));
  }
  expect((await admin("GET", "snapshots")).body).toHaveLength(1);
});

test("a snapshot loads under the key that the sandbox has now", async () => {
  const { account, admin } = await opened();
  const direct = await account.openAdmin();
  await admin("PUT", "snapshots/before");
  direct.keys.regenerate("sandbox");
  expect((await account.call("GET", "/api/contact-structure")).status).toBe(401);
  await admin("POST", "snapshots/before/load");
  expect((await account.call("GET", "/api/contact-structure")).status).toBe(200);
});

test("an event stands in the feeds, and a bounce, a complaint and an unsubscription end the subscription", async () => {
  const { account, admin } = await opened();
  for (const [type, published, secondary] of [
    ["opened", "email-opened", undefined],
    ["email-clicked", "email-clicked", undefined],
    ["bounced", "email-bounced", "Bounce"],
    ["complained", "email-complaint", "Complaint-FBL"],
    ["unsubscribed", "contact-unsubscribed", "Unsubscribe"],
  ] as const) {
    const key = `${type}@example.com`;
    const { _id } = await account.create(key);
    const answer = await admin("POST", "events", { key: key.toUpperCase(), type, emailSubject: "Hello" });
    expect(answer.body).toMatchObject({ type: published, contact: { _id, key } });
    const { status } = (await account.call("GET", `/api/contact/${_id}`)).body;
    expect(status.secondary === "confirmed" ? undefined : status.secondary).toBe(secondary);
    const feed = (await account.call("GET", `/api/contact/${_id}/events`)).body;
    expect(feed.records).toContainEqual(
      expect.objectContaining({
        type: published,
        timestamp: "2026-06-15T12:00:00.000Z",
        emailSubject: "Hello",
      }),
    );
  }
  const before = (await account.call("GET", "/api/contact/events")).body.total;
  for (const [event, status, field] of [
    [{ key: "opened@example.com", type: "asleep" }, 400, "type"],
    [{ key: "opened@example.com", type: "opened", mood: "good" }, 400, "mood"],
    [{ key: "opened@example.com", type: "opened", timestamp: "soon" }, 400, "timestamp"],
    [{ type: "opened" }, 400, "key"],
    [{ key: "opened@example.com", type: "opened", emailSubject: 7 }, 400, "emailSubject"],
    [{ key: "opened@example.com", type: "opened", triggeredBy: "me" }, 400, "triggeredBy"],
    [{ key: "opened@example.com", type: "opened", triggeredBy: { type: 7 } }, 400, "triggeredBy.type"],
    [{ key: "nobody@example.com", type: "opened" }, 404, "key"],
  ] as const) {
    const refused = onlyError(await admin("POST", "events", event));
    expect(refused).toMatchObject({ status, field });
    expect(refused.message).not.toContain("Invalid");
  }
  expect((await account.call("GET", "/api/contact/events")).body.total).toBe(before);
});
