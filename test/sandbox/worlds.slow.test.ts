/** Further accounts in the process of a sandbox, which cannot see each other. */
import { expect, test } from "vitest";
import type { SandboxWorld } from "../../src/sandbox/public-types.ts";
import { callPort, createAt, fetchStatus, started } from "./account.ts";

type Account = Pick<SandboxWorld, "baseUrl" | "apiKey">;

const read = (account: Account) => callPort(account, "GET", "/api/contact");

const keysIn = async (account: Account): Promise<string[]> =>
  (await read(account)).body.map(({ key }: { key: string }) => key);

test("a world has contents, key, structure, clock, limits, faults and log of its own", async () => {
  const sandbox = await started();
  const one = await sandbox.world();
  const two = await sandbox.world();
  expect(new Set([sandbox.apiKey, one.apiKey, two.apiKey]).size).toBe(3);
  await one.admin.seed({ contacts: [{ key: "ada@b.co", tags: ["VIP"] }], lists: ["News"] });
  await one.admin.clock({ time: "2030-01-01T00:00:00Z" });
  await one.admin.limits({ hourly: 5 });
  await one.admin.faults(["503:GET:/api/contact-structure"]);

  expect([await keysIn(one), await keysIn(two), await keysIn(sandbox)]).toEqual([["ada@b.co"], [], []]);
  expect((await callPort(one, "GET", "/api/contact-structure")).status).toBe(503);
  const structure = await callPort(two, "GET", "/api/contact-structure");
  expect([structure.status, structure.body[0].tags]).toEqual([200, []]);
  expect((await createAt(one, "bob@b.co")).body.createdAt).toMatch(/^2030-01-01T00:/);
  expect((await createAt(two, "bob@b.co")).body.createdAt).not.toMatch(/^2030/);
  expect((await read(one)).headers.get("x-ratelimit-limit")).toBe("5");
  for (let count = 0; count < 3; count++) await read(one);
  expect((await read(one)).status).toBe(429);
  expect((await read(two)).status).toBe(200);
  const paths = (await two.admin.requests()).map(({ path }) => path);
  expect(paths).toEqual(["/api/contact", "/api/contact-structure", "/api/contact", "/api/contact"]);
  expect(await sandbox.admin.requests()).toHaveLength(1);
  // Neither the key of another world nor that of the sandbox opens a world.
  expect((await read({ ...one, apiKey: two.apiKey })).status).toBe(401);
  expect((await read({ ...one, apiKey: sandbox.apiKey })).status).toBe(401);
});

test("failures stay in the account where they happened", async () => {
  const sandbox = await started();
  const one = await sandbox.world();
  for (let count = 0; count < 21; count++) await read({ ...one, apiKey: "none" });
  expect((await read(one)).status).toBe(429);
  expect((await read(sandbox)).status).toBe(200);
  await one.close();
  expect((await read(one)).status).toBe(404);
});

test("over HTTP: a world from a snapshot is opened, has its own admin, and goes with one request", async () => {
  const sandbox = await started({ seed: 1, variants: { lists: "array" } });
  const overHttp = (method: string, path: string, body?: object) =>
    sandbox.call(method, `/__sandbox/${path}`, body);
  await sandbox.admin.seed({ contacts: [{ key: "ada@b.co", lists: ["News"] }], fields: ["City"] });
  await sandbox.admin.snapshots.save("one");
  await sandbox.admin.reset();
  const opened = await overHttp("POST", "worlds", { from: "one", variants: { "hourly-headers": "missing" } });
  expect(opened.status).toBe(200);
  const world = opened.body;
  const id = expect.stringMatching(/^[0-9a-f]{12}$/);
  const baseUrl = `${sandbox.baseUrl}/__world/${world.id}`;
  const apiKey = expect.stringMatching(/^ecm_us_/);
  expect(world).toEqual({ id, baseUrl, apiKey, structureId: sandbox.structureId });
  expect(await keysIn(world)).toEqual(["ada@b.co"]);
  const lists = await callPort(world, "GET", `/api/contact-structure/${world.structureId}/lists`);
  expect(lists.body).toMatchObject([{ name: "News", totalContacts: 1 }]);
  expect(lists.headers.has("x-ratelimit-limit")).toBe(false);

  const own = (method: string, path: string) => callPort(world, method, `/__sandbox/${path}`);
  expect((await own("GET", "health")).body).toMatchObject({ status: "ok" });
  expect((await own("GET", "requests")).body).toHaveLength(2);
  const page = await fetch(`${world.baseUrl}/__sandbox/`);
  expect(page.headers.get("content-type")).toContain("text/html");
  expect((await own("PUT", "snapshots/mine")).status).toBe(200);
  expect(await sandbox.admin.snapshots()).toMatchObject([{ name: "one" }]);
  expect((await own("POST", "reset")).status).toBe(200);
  expect(await keysIn(world)).toEqual([]);
  expect((await own("POST", "snapshots/mine/load")).status).toBe(200);
  expect(await keysIn(world)).toEqual(["ada@b.co"]);
  expect((await own("POST", "worlds")).status).toBe(404);
  expect((await callPort(world, "GET", "/openapi.json")).body.servers[0].url).toBe(world.baseUrl);

  expect((await overHttp("DELETE", `worlds/${world.id}`)).status).toBe(204);
  const missing = `World ${world.id} not found: it was closed, or never opened`;
  for (const answer of [await own("GET", "health"), await overHttp("DELETE", `worlds/${world.id}`)]) {
    expect([answer.status, answer.body.errors[0].message]).toEqual([404, expect.stringContaining(missing)]);
  }
});

test("what is refused says where", async () => {
  const { call, world } = await started();
  for (const [body, message] of [
    [{ from: "none" }, "Snapshot none not found"],
    [{ form: "one" }, "form is not known here"],
    [{ seed: -1 }, "seed must not be negative"],
    [{ variants: { keys: "none" } }, "is not one of its values"],
    [{ variants: [] }, "variants must be an object"],
    [{ from: 5 }, "from must be a string"],
  ] as const) {
    const answer = await call("POST", "/__sandbox/worlds", body);
    expect([400, 404]).toContain(answer.status);
    expect(answer.body.errors[0].message).toContain(message);
    await expect(world(body as never)).rejects.toThrow(message);
  }
});

test("other sites reach no world, and with a token nobody without it reaches its admin", async () => {
  const sandbox = await started({ adminToken: "s3cret" });
  const world = await sandbox.world();
  const asked = (path: string, headers: Record<string, string>) => fetchStatus(world.baseUrl + path, headers);
  const key = { "x-api-key": world.apiKey };
  expect(await asked("/api/contact", key)).toBe(200);
  expect(await asked("/api/contact", { ...key, host: "evil.example" })).toBe(403);
  expect(await asked("/__sandbox/health", {})).toBe(401);
  expect(await asked("/__sandbox/health", { authorization: "Bearer s3cret" })).toBe(200);
});

test("many worlds are open at once, and close with the sandbox", async () => {
  const sandbox = await started({ seed: 7 });
  const worlds = await Promise.all(Array.from({ length: 30 }, () => sandbox.world()));
  await Promise.all(worlds.map((world, index) => createAt(world, `p${index}@b.co`)));
  expect(await Promise.all(worlds.map(keysIn))).toEqual(worlds.map((_, index) => [`p${index}@b.co`]));
  await sandbox.stop();
  await expect(worlds[0]!.admin.requests()).rejects.toThrow("The world was closed");
  await expect(sandbox.world()).rejects.toThrow("The sandbox was stopped");
});

test("using closes a world, and closing twice does nothing", async () => {
  const sandbox = await started();
  let seen: SandboxWorld;
  {
    await using world = await sandbox.world();
    seen = world;
    expect((await createAt(world, "ada@b.co")).status).toBe(200);
  }
  await expect(seen.admin.reset()).rejects.toThrow("The world was closed");
  await seen.close();
  {
    using world = await sandbox.world();
    seen = world;
  }
  expect((await read(seen)).status).toBe(404);
});

test("a stream of a world's requests ends with it", async () => {
  const sandbox = await started();
  const world = await sandbox.world();
  const stream = await fetch(`${world.baseUrl}/__sandbox/requests/stream?since=0`);
  const ended = stream.text();
  await createAt(world, "ada@b.co");
  await world.close();
  expect(await ended).toContain(": the log of the sandbox");
});
