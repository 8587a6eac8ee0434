/** API keys: format, scopes, states, the account's standing. */
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { onlyError, openAccount } from "./account.ts";

const invalid = { status: 401, errorType: "UnauthorizedError", message: "Invalid API key" };
const expired = { status: 401, errorType: "UnauthorizedError", message: "API key expired" };
const read = ["GET", "/api/contact-structure"] as const;

test("Authentication 1: without X-API-Key the answer is 401 'Invalid API key'", async () => {
  const { call } = await openAccount();
  expect(onlyError(await call(...read, undefined, { key: null }))).toEqual(invalid);
});

test("Authentication 2: a key is unique by name, and shown whole only when it is made", async () => {
  const { openAdmin } = await openAccount();
  const admin = await openAdmin();
  const made = admin.keys.create({ name: "ci", scopes: ["contacts:write", "contacts:read"] });
  expect(made).toMatchObject({ name: "ci", scopes: ["contacts:read", "contacts:write"], state: "active" });
  expect(() => admin.keys.create({ name: "ci", scopes: ["contacts:read"] })).toThrow(
    expect.objectContaining({ exitCode: 6, type: "DuplicateFieldError" }),
  );
  const listed = admin.keys.list().find((key) => key.name === "ci")!;
  expect(listed.key).not.toBe(made.key);
  expect(listed.key).toHaveLength("ecm_us_…".length + 4);
});

test("Authentication 2: a key is kept hashed, and only the folder's own key in a file of its owner", async () => {
  const { openAdmin, folder, sandbox, call } = await openAccount();
  const { key } = (await openAdmin()).keys.create({ name: "ci", scopes: ["contacts:read"] });
  expect((await call(...read, undefined, { key })).status).toBe(200);
  for (const name of await readdir(folder)) {
    const content = await readFile(join(folder, name), "latin1");
    expect(content.includes(key), name).toBe(false);
    expect(content.includes(sandbox.ownKey()), name).toBe(name === "api-key");
    expect((await stat(join(folder, name))).mode & 0o777, name).toBe(0o600);
  }
  expect((await stat(folder)).mode & 0o777).toBe(0o700);
});

test("Authentication 3: a key has 50 characters: a prefix of four, the region, and 43 at random", async () => {
  const { sandbox } = await openAccount({ region: "jp" });
  expect(sandbox.ownKey()).toMatch(/^ecm_jp_[A-Za-z0-9]{43}$/);
  expect(sandbox.ownKey()).toHaveLength(50);
});

test("Authentication 3: another region holds for the keys made from then on, and earlier keys stay valid", async () => {
  const { folder, sandbox } = await openAccount();
  const moved = await openAccount({ folder, region: "eu" });
  expect(moved.sandbox.ownKey()).toMatch(/^ecm_eu_/);
  expect(await moved.keyWith("contacts:read")).toMatch(/^ecm_eu_/);
  const again = await openAccount({ folder });
  expect(again.sandbox.ownKey()).toBe(moved.sandbox.ownKey());
  const read = again.call("GET", "/api/contact-structure", undefined, { key: sandbox.ownKey() });
  expect((await read).status).toBe(200);
});

test.each([
  ["contacts:read", 200, 403],
  ["contacts:write", 200, 200],
  ["campaigns:write", 403, 403],
  ["reports:read", 403, 403],
  ["domains:read", 403, 403],
])("Authentication 4 and 5: %s reads %d and writes %d", async (scope, reading, writing) => {
  const { keyWith, call, structureId } = await openAccount();
  const key = await keyWith(scope);
  const list = ["POST", `/api/contact-structure/${structureId}/lists`, { name: "News" }] as const;
  expect((await call(...read, undefined, { key })).status).toBe(reading);
  expect((await call(...list, { key })).status).toBe(writing);
});

test.each([
  ["GET", "/api/contact-structure", "contacts:read"],
  ["GET", "/api/contact-structure/x/lists", "contacts:read"],
  ["GET", "/api/contact/x", "contacts:read"],
  ["POST", "/api/contact/search", "contacts:read"],
  ["PUT", "/api/contact-structure/x", "contacts:write"],
  ["POST", "/api/contact-structure/x/lists", "contacts:write"],
  ["POST", "/api/contact", "contacts:write"],
  ["PUT", "/api/contact/x/mutate", "contacts:write"],
  ["PATCH", "/api/contact/x", "contacts:write"],
  ["PUT", "/api/contact/x", "contacts:write"],
  ["DELETE", "/api/contact/x", "contacts:write"],
])(
  "Authentication 7: %s %s without its scope is 403 'API key missing required scope: %s'",
  async (method, path, scope) => {
    const { keyWith, call } = await openAccount();
    const key = await keyWith(scope.endsWith("write") ? "contacts:read" : "reports:read");
    expect(onlyError(await call(method, path, {}, { key }))).toEqual({
      status: 403,
      errorType: "ForbiddenError",
      message: `API key missing required scope: ${scope}`,
    });
  },
);

test("Authentication 6: malformed and unknown keys get the same answer", async () => {
  const { call } = await openAccount();
  for (const key of ["x", "", `ecm_us_${"a".repeat(43)}`, `ecm_us_${"a".repeat(4000)}`, "' OR 1=1 --"]) {
    expect(onlyError(await call(...read, undefined, { key }))).toEqual(invalid);
  }
});

test("API key state: deactivated is 401 'Invalid API key', reactivated works again", async () => {
  const { keyWith, call, openAdmin } = await openAccount();
  const key = await keyWith("contacts:read");
  const admin = await openAdmin();
  expect(admin.keys.deactivate("contacts:read").state).toBe("inactive");
  expect(onlyError(await call(...read, undefined, { key }))).toEqual(invalid);
  expect(admin.keys.activate("contacts:read").state).toBe("active");
  expect((await call(...read, undefined, { key })).status).toBe(200);
});

test("API key state: expired is 401 'API key expired', and an expired key cannot be activated", async () => {
  const { call, openAdmin, clock } = await openAccount();
  const admin = await openAdmin();
  const expiresAt = new Date(clock.now() + 60_000);
  const { key } = admin.keys.create({ name: "short", scopes: ["contacts:read"], expiresAt });
  expect((await call(...read, undefined, { key })).status).toBe(200);
  clock.pass(60);
  expect(onlyError(await call(...read, undefined, { key }))).toEqual(expired);
  expect(admin.keys.get("short").state).toBe("expired");
  admin.keys.deactivate("short");
  expect(onlyError(await call(...read, undefined, { key }))).toEqual(invalid);
  expect(() => admin.keys.activate("short")).toThrow(expect.objectContaining({ exitCode: 1 }));
});

test("API key state: deleted is 401 'Invalid API key', for good", async () => {
  const { keyWith, call, openAdmin } = await openAccount();
  const key = await keyWith("contacts:read");
  const admin = await openAdmin();
  admin.keys.delete("contacts:read");
  expect(onlyError(await call(...read, undefined, { key }))).toEqual(invalid);
  expect(() => admin.keys.get("contacts:read")).toThrow(expect.objectContaining({ exitCode: 5 }));
});

test("API key state: regenerating gives a new value and keeps name, scopes, expiry and state", async () => {
  const { call, openAdmin, clock } = await openAccount();
  const admin = await openAdmin();
  const expiresAt = new Date(clock.now() + 3_600_000);
  const before = admin.keys.create({ name: "ci", scopes: ["contacts:read"], expiresAt });
  const after = admin.keys.regenerate("ci");
  expect(after).toEqual({ ...before, key: after.key });
  expect(after.key).not.toBe(before.key);
  expect(onlyError(await call(...read, undefined, { key: before.key }))).toEqual(invalid);
  expect((await call(...read, undefined, { key: after.key })).status).toBe(200);
  clock.pass(3600);
  const expired = admin.keys.regenerate("ci");
  expect(expired.state).toBe("expired");
  expect(onlyError(await call(...read, undefined, { key: expired.key })).message).toBe("API key expired");
  admin.keys.deactivate("ci");
  const inactive = admin.keys.regenerate("ci");
  expect(inactive.state).toBe("inactive");
  expect(onlyError(await call(...read, undefined, { key: inactive.key }))).toEqual(invalid);
});

test.each([
  ["open", 200],
  ["pending_cancel", 200],
  ["suspended", 403],
  ["past_due", 403],
  ["terminated", 403],
])("Account standing: %s is answered with %d", async (status, expected) => {
  const { call, openAdmin, keyWith } = await openAccount();
  const key = await keyWith("reports:read");
  (await openAdmin()).account({ status });
  const answer = await call(...read);
  expect(answer.status).toBe(expected);
  if (expected === 403) {
    const refusal = { status: 403, errorType: "ForbiddenError", message: "Account does not have API access" };
    expect(onlyError(answer)).toEqual(refusal);
    // Standing comes before the scope.
    expect(onlyError(await call(...read, undefined, { key }))).toEqual(refusal);
  }
});

test("The folder's own key is the same at every start, until it no longer works", async () => {
  const account = await openAccount();
  const first = account.sandbox.ownKey();
  expect((await openAccount({ folder: account.folder })).sandbox.ownKey()).toBe(first);
  (await account.openAdmin()).keys.deactivate("sandbox");
  const again = await openAccount({ folder: account.folder });
  expect(again.sandbox.ownKey()).not.toBe(first);
  expect((await again.call(...read)).status).toBe(200);
});

test("Reset takes everything away but what a running sandbox printed at its start", async () => {
  const account = await openAccount();
  await account.furnished();
  const made = await account.create("a@b.co");
  const key = await account.keyWith("contacts:write");
  const admin = await account.openAdmin();
  admin.account({ status: "open", monthlyLimit: 5 });
  admin.reset();
  const { status, body, headers } = await account.call("GET", "/api/contact-structure");
  expect(status).toBe(200);
  expect(headers["x-ratelimit-remaining"]).toBe("999999");
  expect(body).toMatchObject([{ _id: account.structureId, label: "Default", tags: [], __v: 0 }]);
  expect(body[0].fields).toHaveLength(2);
  expect((await account.search([])).body.totalRecords).toBe(0);
  expect(onlyError(await account.call("GET", "/api/contact-structure", undefined, { key }))).toEqual(invalid);
  expect(admin.keys.list().map((each) => each.name)).toEqual(["sandbox"]);
  expect((await account.create("a@b.co"))._id > made._id).toBe(true);
});
