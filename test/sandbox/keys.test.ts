/** API keys: format, scopes, states, the account's standing. */
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { onlyError, openAccount } from "./account.ts";

const invalid = { status: 401, errorType: "UnauthorizedError", message: "Invalid API key" };
const expired = { ...invalid, message: "API key expired" };

/** An account, an admin of its folder, and a key named `ci` that reads. */
async function withKey() {
  const account = await openAccount();
  const admin = await account.openAdmin();
  const made = admin.keys.create({ name: "ci", scopes: ["contacts:read"] });
  return { ...account, keysOf: admin.keys, made, key: made.key };
}

test("Authentication 1: without X-API-Key the answer is 401 'Invalid API key'", async () => {
  const { read } = await openAccount();
  expect(onlyError(await read(null))).toEqual(invalid);
});

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
  expect((await again.read(sandbox.ownKey())).status).toBe(200);
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
  const { read } = await openAccount();
  for (const key of ["x", "", `ecm_us_${"a".repeat(43)}`, `ecm_us_${"a".repeat(4000)}`, "' OR 1=1 --"]) {
    expect(onlyError(await read(key))).toEqual(invalid);
  }
});

test("API key state: deactivated is 401 'Invalid API key', reactivated works again", async () => {
  const { read, key, keysOf } = await withKey();
  expect(keysOf.deactivate("ci").state).toBe("inactive");
  expect(onlyError(await read(key))).toEqual(invalid);
  expect(keysOf.activate("ci").state).toBe("active");
  expect((await read(key)).status).toBe(200);
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

test("API key state: deleted is 401 'Invalid API key', for good", async () => {
  const { read, key, keysOf } = await withKey();
  keysOf.delete("ci");
  expect(onlyError(await read(key))).toEqual(invalid);
  expect(() => keysOf.get("ci")).toThrow(expect.objectContaining({ exitCode: 5 }));
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

test.each(["open", "pending_cancel"])("Account standing: %s is answered", async (status) => {
  const { read, openAdmin } = await openAccount();
  (await openAdmin()).account({ status });
  expect((await read()).status).toBe(200);
});

test.each(["suspended", "past_due", "terminated"])(
  "Account standing: %s is 403, also for a key without the scope",
  async (status) => {
    const { read, openAdmin, keyWith } = await openAccount();
    (await openAdmin()).account({ status });
    for (const key of [undefined, await keyWith("reports:read")]) {
      expect(onlyError(await read(key))).toEqual({
        status: 403,
        errorType: "ForbiddenError",
        message: "Account does not have API access",
      });
    }
  },
);

test("The folder's own key is the same at every start, until it no longer works", async () => {
  const account = await openAccount();
  const first = account.sandbox.ownKey();
  expect((await openAccount({ folder: account.folder })).sandbox.ownKey()).toBe(first);
  (await account.openAdmin()).keys.deactivate("sandbox");
  const again = await openAccount({ folder: account.folder });
  expect(again.sandbox.ownKey()).not.toBe(first);
  expect((await again.read()).status).toBe(200);
});

test("Reset takes everything away but what a running sandbox printed at its start", async () => {
  const { create, furnished, keys, keyWith, openAdmin, read, structureId } = await openAccount();
  await furnished();
  const made = await create("a@b.co");
  const key = await keyWith("contacts:write");
  const admin = await openAdmin();
  admin.account({ status: "open", monthlyLimit: 5 });
  admin.reset();
  const { status, body, headers } = await read();
  expect([status, headers["x-ratelimit-remaining"]]).toEqual([200, "999999"]);
  expect(body).toMatchObject([{ _id: structureId, label: "Default", tags: [], __v: 0 }]);
  expect(body[0].fields).toHaveLength(2);
  expect(await keys()).toEqual([]);
  expect(onlyError(await read(key))).toEqual(invalid);
  expect(admin.keys.list().map((each) => each.name)).toEqual(["sandbox"]);
  expect((await create("a@b.co"))._id > made._id).toBe(true);
});
