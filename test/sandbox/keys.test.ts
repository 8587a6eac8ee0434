/** API keys: format, scopes, states, the account's standing. */
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { forbidden, onlyError, openAccount, requestsOf } from "./account.ts";

const invalid = { status: 401, errorType: "UnauthorizedError", message: "Invalid API key" };
const expired = { ...invalid, message: "API key expired" };

/** An account, an admin of its folder, and a key named `ci` that reads. */
async function withKey() {
  const account = await openAccount();
  const admin = await account.openAdmin();
  const made = admin.keys.create({ name: "ci", scopes: ["contacts:read"] });
  return { ...account, keysOf: admin.keys, made, key: made.key };
}

test("Authentication 2: a key is unique by name, and shown whole only when it is made", async () => {
  const { openAdmin } = await openAccount();
  const { keys } = await openAdmin();
  const made = keys.create({ name: "ci", scopes: ["contacts:write", "contacts:read"] });
  expect(made).toMatchObject({ name: "ci", scopes: ["contacts:read", "contacts:write"], state: "active" });
  expect(() => keys.create({ name: "ci", scopes: ["contacts:read"] })).toThrow(
    expect.objectContaining({ exitCode: 6, type: "DuplicateFieldError" }),
  );
  const listed = keys.list().find((key) => key.name === "ci")!;
  expect(listed.key).not.toBe(made.key);
  expect(listed.key).toHaveLength("ecm_us_…".length + 4);
});

test("Authentication 2: a key is kept hashed, and only the folder's own key in a file of its owner", async () => {
  const { key, folder, sandbox, read } = await withKey();
  expect((await read(key)).status).toBe(200);
  for (const name of await readdir(folder)) {
    const content = await readFile(join(folder, name), "latin1");
    expect(content.includes(key), name).toBe(false);
    expect(content.includes(sandbox.ownKey()), name).toBe(name === "api-key");
    expect((await stat(join(folder, name))).mode & 0o777, name).toBe(0o600);
  }
  expect((await stat(folder)).mode & 0o777).toBe(0o700);
});

test("Authentication 3: a key has 50 characters: a prefix of four, the region at the time, and 43 at random", async () => {
  const { folder, sandbox } = await openAccount();
  const first = sandbox.ownKey();
  expect(first).toMatch(/^ecm_us_[A-Za-z0-9]{43}$/);
  const moved = await openAccount({ folder, region: "eu" });
  const own = moved.sandbox.ownKey();
  expect(own).toMatch(/^ecm_eu_[A-Za-z0-9]{43}$/);
  expect(await moved.keyWith("contacts:read")).toMatch(/^ecm_eu_/);
  // Earlier keys stay valid, and the folder's own is the same at every start, until it no longer works.
  const again = await openAccount({ folder });
  expect(again.sandbox.ownKey()).toBe(own);
  expect((await again.read(first)).status).toBe(200);
  const { keys } = await again.openAdmin();
  keys.deactivate(keys.list().find(({ key }) => key.endsWith(own.slice(-4)))!.name);
  const renewed = await openAccount({ folder });
  expect(renewed.sandbox.ownKey()).not.toBe(own);
  expect((await renewed.read()).status).toBe(200);
});

test.each([
  ["contacts:read", 200, 403],
  ["contacts:write", 200, 200],
  ["campaigns:write", 403, 403],
  ["reports:read", 403, 403],
  ["domains:read", 403, 403],
])("Authentication 4 and 5: %s reads %d and writes %d", async (scope, reading, writing) => {
  const { keyWith, call, read, listsPath } = await openAccount();
  const key = await keyWith(scope);
  expect((await read(key)).status).toBe(reading);
  expect((await call("POST", listsPath, { name: "News" }, { key })).status).toBe(writing);
});

const scopesOfRequests = {
  "contacts:read": `GET /api/contact-structure, GET /api/contact-structure/x/lists, GET /api/contact/x,
    POST /api/contact/search`,
  "contacts:write": `PUT /api/contact-structure/x, POST /api/contact-structure/x/lists, POST /api/contact,
    PUT /api/contact/x/mutate, PATCH /api/contact/x, PUT /api/contact/x, DELETE /api/contact/x`,
  "campaigns:read": "GET /api/email/campaign, GET /api/email/template",
  "domains:read": "GET /api/email/domain",
  "reports:read": `GET /api/reports/dashboard?pastDays=1, GET /api/reports/email/overall?pastDays=1,
    GET /api/reports/email/overall/histogram?pastDays=1&eventType=email-sent`,
};

test.each(Object.entries(scopesOfRequests))(
  "Authentication 7: what needs %s is 403 'API key missing required scope' with all other scopes, and not with it",
  async (scope, requests) => {
    const { keyWith, call } = await openAccount();
    const others = ["contacts:read", "campaigns:read", "domains:read", "reports:read"];
    const [weak, enough] = [await keyWith(...others.filter((each) => each !== scope)), await keyWith(scope)];
    const refusal = forbidden(`API key missing required scope: ${scope}`);
    for (const [request, method, path] of requestsOf(requests)) {
      expect(onlyError(await call(method, path, {}, { key: weak })), request).toEqual(refusal);
      expect((await call(method, path, {}, { key: enough })).status, request).not.toBe(403);
    }
  },
);

test("Authentication 1 and 6: no key, malformed and unknown keys get the same 401 'Invalid API key'", async () => {
  const { read } = await openAccount();
  const unknown = [43, 4000].map((length) => `ecm_us_${"a".repeat(length)}`);
  for (const key of [null, "x", "", ...unknown, "' OR 1=1 --"]) {
    expect(onlyError(await read(key))).toEqual(invalid);
  }
});

test("API key state: deactivated is 401 'Invalid API key', reactivated works again, deleted is 401 for good", async () => {
  const { read, key, keysOf } = await withKey();
  expect(keysOf.deactivate("ci").state).toBe("inactive");
  expect(onlyError(await read(key))).toEqual(invalid);
  expect(keysOf.activate("ci").state).toBe("active");
  expect((await read(key)).status).toBe(200);
  keysOf.delete("ci");
  expect(onlyError(await read(key))).toEqual(invalid);
  expect(() => keysOf.get("ci")).toThrow(expect.objectContaining({ exitCode: 5 }));
});

test("API key state: expired is 401 'API key expired', and an expired key cannot be activated", async () => {
  const { read, keysOf, clock } = await withKey();
  const expiresAt = new Date(clock.now() + 60_000);
  const { key } = keysOf.create({ name: "short", scopes: ["contacts:read"], expiresAt });
  expect((await read(key)).status).toBe(200);
  clock.pass(60);
  expect(onlyError(await read(key))).toEqual(expired);
  expect(keysOf.get("short").state).toBe("expired");
  keysOf.deactivate("short");
  expect(onlyError(await read(key))).toEqual(invalid);
  expect(() => keysOf.activate("short")).toThrow(expect.objectContaining({ exitCode: 1 }));
});

test("API key state: regenerating gives a new value and keeps name, scopes, expiry and state", async () => {
  const { read, keysOf, clock } = await withKey();
  const expiresAt = new Date(clock.now() + 3_600_000);
  const before = keysOf.create({ name: "short", scopes: ["contacts:read"], expiresAt });
  const after = keysOf.regenerate("short");
  expect(after).toEqual({ ...before, key: after.key });
  expect(after.key).not.toBe(before.key);
  expect(onlyError(await read(before.key))).toEqual(invalid);
  expect((await read(after.key)).status).toBe(200);
  clock.pass(3600);
  const late = keysOf.regenerate("short");
  expect([late.state, onlyError(await read(late.key))]).toEqual(["expired", expired]);
  keysOf.deactivate("short");
  const inactive = keysOf.regenerate("short");
  expect([inactive.state, onlyError(await read(inactive.key))]).toEqual(["inactive", invalid]);
});

const standings = { open: 200, pending_cancel: 200, suspended: 403, past_due: 403, terminated: 403 };
test.each(Object.entries(standings))(
  "Account standing: %s is %i, a 403 also for a key without the scope",
  async (standing, status) => {
    const { read, openAdmin, keyWith } = await openAccount();
    (await openAdmin()).account({ status: standing });
    expect((await read()).status).toBe(status);
    if (status !== 403) return;
    const refusal = forbidden("Account does not have API access");
    for (const key of [undefined, await keyWith("reports:read")])
      expect(onlyError(await read(key))).toEqual(refusal);
  },
);
