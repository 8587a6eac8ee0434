/** /__sandbox/: what a test does to the sandbox beside using it. */
import { expect, test } from "vitest";
import { eraseFromSandbox } from "../../src/sandbox/erase.ts";
import { eq, invalidAt, onlyError, openAccount, refs, type TestAccount } from "./account.ts";

test("health tells the version and the service's time, without a key and without being counted", async () => {
  const { read, admin } = await openAccount();
  const version = expect.stringMatching(/^\d+\.\d+\.\d+/);
  const health = { status: "ok", version, clock: "2026-06-15T12:00:00.000Z" };
  expect((await admin("GET", "health")).body).toEqual(health);
  expect((await read()).headers["x-ratelimit-remaining"]).toBe("999999");
});

test("a path or a method that is not there is 404", async () => {
  const { admin } = await openAccount();
  const missing = { status: 404, errorType: "RecordNotFound" };
  for (const answer of [admin("GET", "nothing"), admin("POST", "health"), admin("GET", "reset")])
    expect(onlyError(await answer)).toMatchObject(missing);
});

test("the log holds each request with its answer, and no key", async () => {
  const { admin, call, create, definition, sandbox, listsPath, structureId } = await openAccount();
  const key = sandbox.ownKey();
  const other = `ecm_us_${"x".repeat(43)}`;
  const made = { key: "ada@example.com", contactStructureId: structureId };
  await create(made.key);
  await call("GET", `${listsPath}?page=2&size=5&leak=${key}`);
  await call("GET", "/api/nothing", undefined, { key: "ecm_us_short" });
  // Where no header says what is secret.
  await call("GET", `/api/contact?leak=${key}`, undefined, { key: null });
  const { _id } = (await definition()).fields[0]!;
  const leaky = { ...made, key: "leak@example.com", fields: [{ _id, value: `${key} ${other}` }] };
  expect((await call("POST", "/api/contact", leaky)).body.fields[0].value).toContain(key);
  const log = (await admin("GET", "requests")).body;
  expect(log).toHaveLength(6);
  expect(log[0]).toEqual({
    n: 1,
    method: "POST",
    path: "/api/contact",
    query: {},
    body: made,
    status: 200,
    fault: null,
    time: "2026-06-15T12:00:00.000Z",
    milliseconds: expect.any(Number),
    headers: expect.objectContaining({ "x-api-key": `${key.slice(0, 7)}…${key.slice(-4)}` }),
    answer: expect.objectContaining({ key: made.key, __v: 0 }),
  });
  expect(log[1]).toMatchObject({ n: 2, query: { page: "2", size: "5" }, body: null, status: 200 });
  expect(log[2]).toMatchObject({ n: 3, status: 401, headers: { "x-api-key": "…" } });
  expect(JSON.stringify(log)).not.toContain(key);
  expect(JSON.stringify(log)).not.toContain(other);
});

test("the log is read by number, time, method, path and status, and numbers go on after it was cleared", async () => {
  const { admin, create, clock, read, call, structureId } = await openAccount();
  await create("a@b.co");
  clock.pass(60);
  await read();
  await call("POST", "/api/contact", { key: "a@b.co", contactStructureId: structureId });
  const numbers = async (query: string) =>
    (await admin("GET", `requests?${query}`)).body.map((each: { n: number }) => each.n);
  const rows: [query: string, found: number[]][] = [
    ["since=1", [2, 3]],
    ["since=2026-06-15T12:00:30Z", [2, 3]],
    ["since=2026-06-15T14:00:30%2B02:00", [2, 3]],
    ["method=post", [1, 3]],
    ["path=/api/contact", [1, 3]],
    ["path=/api/contact*", [1, 2, 3]],
    ["path=*-structure", [2]],
    ["path=/*/*/*", []],
    ["path=/api/con?act", []],
    ["path=/api/[c]ontact", []],
    ["status=400", [3]],
    ["status=2xx&method=POST", [1]],
    ["limit=1", [3]],
  ];
  for (const [query, found] of rows) expect(await numbers(query), query).toEqual(found);
  expect((await admin("DELETE", "requests")).status).toBe(204);
  expect(await numbers("")).toEqual([]);
  await read();
  expect(await numbers("")).toEqual([4]);
});

test("the log refuses a query that it does not understand", async () => {
  const { admin } = await openAccount();
  const queries = "since=soon status=ok status=7xx limit=0 until=1 method=%20 since=1&since=2";
  for (const query of queries.split(" ")) {
    const refusal = onlyError(await admin("GET", `requests?${query}`));
    expect(refusal, query).toMatchObject(invalidAt(query.split("=")[0]));
  }
});

test("a long body and a long answer are cut in the log, and whole for the caller", async () => {
  const { update, admin } = await openAccount();
  const label = "x".repeat(100_000);
  const { fields } = await update({ fields: [{ label }] });
  expect(fields[0]!.label).toBe(label);
  const [, put] = (await admin("GET", "requests")).body;
  expect([put.body.length, put.answer.length]).toEqual([64 * 1024 + 1, 1024 + 1]);
});

test("what goes wrong on purpose is in the log, and can be changed while the service runs", async () => {
  const { call, structureId, admin } = await openAccount({ faults: ["503:POST:/api/contact:n=1"] });
  const create = () => call("POST", "/api/contact", { key: "a@b.co", contactStructureId: structureId });
  expect((await admin("GET", "faults")).body).toEqual({ faults: ["503:POST:/api/contact:n=1"] });
  expect((await create()).status).toBe(503);
  const specs = ["reset-before:POST:/api/contact:n=1", "truncate:POST:/api/contact:n=2"];
  expect((await admin("PUT", "faults", { faults: specs })).body).toEqual({ faults: specs });
  for (let time = 0; time < 2; time++) await expect(create()).rejects.toMatchObject({ code: "ECONNRESET" });
  expect((await admin("DELETE", "faults")).status).toBe(204);
  expect(onlyError(await create()).errorType).toBe("DuplicateFieldError");
  const log = (await admin("GET", "requests")).body;
  const told = log.map((each: { fault: string; status: number }) => `${each.fault} ${each.status}`);
  expect(told).toEqual(["503 503", "reset-before null", "truncate 200", "null 400"]);
  await admin("PUT", "faults", { faults: ["500:*:*"] });
  expect((await admin("GET", "health")).status).toBe(200);
});

test("reset empties account and log; own key, structure, default fields, clock, limits and faults stay", async () => {
  const account = await openAccount();
  const { furnished, create, read, structureId, keys, get, listsPath, admin, keyWith } = account;
  await furnished();
  const made = await create("a@b.co");
  const other = await keyWith("contacts:write");
  await admin("PUT", "clock", { advance: "1h" });
  await admin("PUT", "limits", { hourly: 50, monthly: 500 });
  await admin("PUT", "faults", { faults: ["500:PATCH"] });
  const [before] = (await read()).body;
  const owner = await account.openAdmin();
  owner.account({ status: "suspended" });
  expect((await admin("POST", "reset")).body).toEqual({ structureId: structureId });
  expect((await admin("GET", "requests")).body).toEqual([]);
  const answer = await read();
  expect(answer.body).toEqual([{ ...before, fields: before.fields.slice(0, 2), tags: [], __v: 0 }]);
  expect(answer.headers).toMatchObject({ "x-ratelimit-remaining": "49", "x-monthly-remaining": "499" });
  expect((await read(other)).status).toBe(401);
  expect(owner.keys.list().map(({ name }) => name)).toEqual(["sandbox"]);
  expect(await keys()).toEqual([]);
  expect((await get(listsPath)).total).toBe(0);
  expect((await create("a@b.co"))._id > made._id).toBe(true);
  expect((await admin("GET", "clock")).body).toEqual({ time: "2026-06-15T13:00:00.000Z", real: false });
  expect((await admin("GET", "faults")).body).toEqual({ faults: ["500:PATCH"] });
});

test("a reset of everything puts clock, limits and faults back to the start", async () => {
  const { structureId, create, admin } = await openAccount({ hourlyLimit: 70, faults: ["503:PATCH"] });
  await admin("PUT", "clock", { time: "2030-01-01" });
  await admin("PUT", "limits", { hourly: 5, windowSeconds: 10, monthly: 9, used: 5 });
  await admin("PUT", "faults", { faults: ["500:*"] });
  await admin("PUT", "snapshots/kept");
  const body = { everything: true, seed: 3 };
  expect((await admin("POST", "reset", body)).body).toEqual({ structureId: structureId });
  const now = { time: "2026-06-15T12:00:00.000Z", real: true };
  expect((await admin("GET", "clock")).body).toEqual(now);
  const limits = { hourly: 70, windowSeconds: 3600, monthly: 1_000_000, used: { hour: 0, month: 0 } };
  expect((await admin("GET", "limits")).body).toEqual(limits);
  expect((await admin("GET", "faults")).body).toEqual({ faults: ["503:PATCH"] });
  expect((await admin("GET", "snapshots")).body).toMatchObject([{ name: "kept" }]);
  expect((await create("a@b.co")).createdAt).toBe(now.time);
  for (const everything of ["yes", 1, null]) {
    const refused = onlyError(await admin("POST", "reset", { everything }));
    expect(refused).toMatchObject(invalidAt("everything"));
  }
});

test("with a seed the same ids come after every reset, in any folder", async () => {
  const definedIds = async ({ furnished, create, clock }: TestAccount) => {
    const ids = { ...(await furnished()), _id: (await create("a@b.co"))._id };
    clock.pass(1);
    return ids;
  };
  const one = await openAccount();
  await one.admin("POST", "reset", { seed: 7 });
  const first = await definedIds(one);
  for (const body of [{ seed: 7 }, undefined]) {
    await one.admin("POST", "reset", body);
    expect(await definedIds(one)).toEqual(first);
  }
  const two = await openAccount({ seed: 7 });
  await two.admin("POST", "reset");
  expect(await definedIds(two)).toEqual(first);
  expect((await openAccount({ seed: 7 })).structureId).toBe(two.structureId);
  await two.admin("POST", "reset", { seed: 8 });
  expect((await definedIds(two))._id).not.toBe(first._id);
  expect(onlyError(await two.admin("POST", "reset", { seed: "7" }))).toMatchObject(invalidAt("seed"));
});

test("a default field that was removed comes back, and no id is given twice", async () => {
  const { admin, update, structure, create } = await openAccount();
  await admin("POST", "reset", { seed: 1 });
  for (let time = 0; time < 2; time++) {
    await update({ fields: [] });
    await admin("POST", "reset");
    const { fields } = await structure();
    const { _id } = await create("a@b.co");
    expect(fields).toMatchObject([{ label: "First Name" }, { label: "Last Name" }]);
    expect(fields.map((field) => field._id)).not.toContain(_id);
  }
});

test("the clock is set, advanced and let go; timestamps, windows, months and expiry follow it, and it ticks on", async () => {
  const { admin, read, openAdmin, clock, create } = await openAccount({ hourlyLimit: 2, monthlyLimit: 4 });
  const direct = await openAdmin();
  const expiresAt = new Date("2026-06-20T00:00:00Z");
  const { key } = direct.keys.create({ name: "old", scopes: ["contacts:read"], expiresAt });
  const status = async (key?: string) => (await read(key)).status;
  const set = async (change: object) => (await admin("PUT", "clock", change)).body;
  expect([await status(), await status(key), await status()]).toEqual([200, 200, 429]);
  expect(await set({ advance: "1h30m" })).toEqual({ time: "2026-06-15T13:30:00.000Z", real: false });
  expect([await status(), await status(), await status()]).toEqual([200, 200, 429]);
  await set({ time: "2026-06-30T23:59:59Z" });
  expect(onlyError(await read()).message).toBe("Monthly API quota exceeded.");
  clock.pass(1);
  expect((await admin("GET", "clock")).body.time).toBe("2026-07-01T00:00:00.000Z");
  expect([await status(), await status(key)]).toEqual([200, 401]);
  expect(direct.keys.get("old").state).toBe("expired");
  await admin("PUT", "limits", { hourly: 100 });
  expect((await create("a@b.co")).createdAt).toBe("2026-07-01T00:00:00.000Z");
  const real = { time: "2026-06-15T12:00:01.000Z", real: true };
  await set({ real: true });
  expect((await admin("GET", "clock")).body).toEqual(real);
  expect((await create("b@b.co")).createdAt).toBe(real.time);
});

test.each<[path: string, field: string | undefined, changes: object[]]>([
  ["clock", undefined, [{}, { real: true, advance: "1h" }, { time: "2030-01-01", advance: "1h" }]],
  ["clock", "real", [{ real: false }]],
  ["clock", "advance", ["soon", "1h ", "-1h", "999999999w"].map((advance) => ({ advance }))],
  ["clock", "time", ["2026-02-30", "tomorrow", "2100-01-01", "1969-12-31", 5].map((time) => ({ time }))],
  ["clock", "speed", [{ speed: 2 }]],
  ["limits", "hourly", [{ hourly: -1 }]],
  ["limits", "windowSeconds", [{ windowSeconds: 0 }]],
  ["limits", "used", [{ used: "all" }]],
  ["limits", "daily", [{ daily: 1 }]],
  ["faults", "faults[0]", [{ faults: [1] }]],
  ["faults", "faults[1]", [{ faults: ["503:GET", "bogus"] }]],
  ["faults", "faults", [{ faults: "500" }, {}]],
])("%s: what is wrong at %s is refused, and changes nothing: %j", async (path, field, changes) => {
  const { admin } = await openAccount({ faults: ["500:PATCH"] });
  const { body } = await admin("GET", path);
  for (const change of changes) {
    const refusal = onlyError(await admin("PUT", path, change));
    expect(refusal).toMatchObject({ status: 400, errorType: "ValidationError", ...(field && { field }) });
  }
  expect((await admin("GET", path)).body).toEqual(body);
});

test("a block that was made before the clock was set back does not last until then", async () => {
  const { read, admin } = await openAccount({ blockAfter: 1 });
  await admin("PUT", "clock", { advance: "30d" });
  await read(null);
  expect((await read()).status).toBe(429);
  await admin("PUT", "clock", { real: true });
  expect((await read()).status).toBe(200);
});

test("limits are changed while the service runs, also what is spent of them", async () => {
  const { admin, read } = await openAccount();
  const limits = { hourly: 10, windowSeconds: 60, monthly: 100 };
  const set = await admin("PUT", "limits", { ...limits, used: 9 });
  expect(set.body).toEqual({ ...limits, used: { hour: 9, month: 9 } });
  expect((await read()).headers).toMatchObject({ "x-ratelimit-remaining": "0", "x-monthly-remaining": "90" });
  expect((await read()).headers["retry-after"]).toBe("60");
  await admin("PUT", "limits", { used: { month: 100 } });
  expect((await admin("GET", "limits")).body.used).toEqual({ hour: 10, month: 100 });
  expect(onlyError(await read()).message).toBe("Monthly API quota exceeded.");
});

test("a snapshot brings back contacts, lists, structure and keys; time, limits, faults and log stay", async () => {
  const { furnished, create, openAdmin, call, update, keys, get, read, admin } = await openAccount();
  const { lists, tags } = await furnished();
  const made = await create("a@b.co", { lists: refs(lists[0]!), tags: refs(tags[1]!) });
  const saved = { name: "first", savedAt: "2026-06-15T12:00:00.000Z" };
  expect((await admin("PUT", "snapshots/first")).body).toMatchObject(saved);
  const direct = await openAdmin();
  const late = direct.keys.create({ name: "late", scopes: ["contacts:read"] }).key;
  await call("DELETE", `/api/contact/${made._id}`);
  const second = await create("b@b.co");
  await update({ fields: [], tags: [] });
  const { n } = (await admin("GET", "requests")).body.at(-1);
  expect((await admin("POST", "snapshots/first/load")).status).toBe(200);
  expect((await admin("GET", "requests")).body.at(-1).n).toBe(n);
  expect(await keys()).toEqual(["a@b.co"]);
  expect(await get(`/api/contact/${made._id}`)).toEqual(made);
  expect(await keys([eq("LIST_ID", lists[0]!)])).toEqual(["a@b.co"]);
  const remaining = (await read()).headers["x-ratelimit-remaining"];
  expect(Number(remaining)).toBeLessThan(1_000_000 - n);
  expect((await read(late)).status).toBe(401);
  // Triggers are there again, and ids go on.
  const third = await create("c@b.co", { lists: refs(lists[0]!) });
  expect(third._id > second._id).toBe(true);
  expect(await keys([eq("LIST_ID", lists[0]!)])).toEqual(["a@b.co", "c@b.co"]);
  await call("DELETE", `/api/contact/${made._id}`);
  await admin("POST", "snapshots/first/load");
  expect(await keys()).toEqual(["a@b.co"]);
});

test("snapshots are listed, saved over, removed, and kept by a reset; their names are no paths", async () => {
  const { create, keys, admin } = await openAccount();
  await admin("PUT", "snapshots/b");
  await admin("PUT", "snapshots/a.1");
  await admin("POST", "reset");
  await create("a@b.co");
  await admin("PUT", "snapshots/b");
  await admin("POST", "reset");
  await admin("POST", "snapshots/b/load");
  expect(await keys()).toEqual(["a@b.co"]);
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
  const { openAdmin, read, admin } = await openAccount();
  await admin("PUT", "snapshots/before");
  (await openAdmin()).keys.regenerate("sandbox");
  expect((await read()).status).toBe(401);
  await admin("POST", "snapshots/before/load");
  expect((await read()).status).toBe(200);
});

test("an erasure takes a person from the account, from each snapshot and from the log, while the sandbox is open", async () => {
  const { sandbox, folder, create, furnished, get, search, call, listsPath, keys } = await openAccount();
  const list = { lists: refs((await furnished()).lists[0]!) };
  for (const name of ["ada", "bob"]) await create(`${name}@example.com`, list);
  for (const name of ["one", "two"]) sandbox.admin.snapshots.save(name);
  const erase = (key: string) =>
    eraseFromSandbox(folder, [key], (text) => (text.includes("ada@example.com") ? "(erased)" : undefined));
  const { n } = sandbox.admin.requests().at(-1)!;
  expect([await erase("Ada@example.com"), sandbox.admin.requests()]).toEqual([1, []]);
  await call("GET", "/api/contact/1");
  expect([await erase("ada@example.com"), sandbox.admin.requests()]).toMatchObject([0, [{ n: n + 1 }]]);
  for (const name of [undefined, "one", "two"]) {
    if (name) sandbox.admin.snapshots.load(name);
    expect(await keys([eq("LIST_ID", list.lists[0]!._id)])).toEqual(["bob@example.com"]);
    expect((await search([eq("CONTACT_STATUS", "active")])).body.totalRecords).toBe(1);
    expect((await get(listsPath)).records[0]).toMatchObject({ name: "News", totalContacts: 1 });
    const contacts = [{ key: "ada@example.com" }, { key: "bob@example.com" }];
    expect(sandbox.admin.seed({ contacts }).contacts).toEqual({ created: 1, updated: 1 });
  }
});

test("an event that is wrong is refused at its member, and stands in no feed", async () => {
  const { admin, create, get } = await openAccount();
  await create("ada@example.com");
  for (const [wrong, status, field] of [
    [{ type: "asleep" }, 400, "type"],
    [{ mood: "good" }, 400, "mood"],
    [{ timestamp: "soon" }, 400, "timestamp"],
    [{ key: undefined }, 400, "key"],
    [{ emailSubject: 7 }, 400, "emailSubject"],
    [{ triggeredBy: "me" }, 400, "triggeredBy"],
    [{ triggeredBy: { type: 7 } }, 400, "triggeredBy.type"],
    [{ key: "nobody@example.com" }, 404, "key"],
  ] as const) {
    const event = { key: "ada@example.com", type: "opened", ...wrong };
    const refused = onlyError(await admin("POST", "events", event));
    expect(refused).toMatchObject({ status, field, message: expect.not.stringContaining("Invalid") });
  }
  expect((await get("/api/contact/events")).total).toBe(1);
});
