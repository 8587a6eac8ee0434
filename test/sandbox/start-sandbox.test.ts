/** `ecm-cli/sandbox`, as a test suite uses it. */
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Admin, StartSandboxOptions } from "../../src/sandbox/public-types.ts";
import { startSandbox } from "../../src/sandbox/start-sandbox.ts";
import { temporaryFolder } from "../support/ecm.ts";
import { started } from "./account.ts";

test("admin does what /__sandbox/ does", async () => {
  const { admin, call, create, structureId } = await started({ seed: 1 });
  const status = async (answer: Promise<{ status: number }>) => (await answer).status;
  const seeded = await admin.seed({ contacts: [{ key: "a@b.co", lists: ["News"] }] });
  expect(seeded).toEqual({ contacts: { created: 1, updated: 0 } });
  await admin.snapshots.save("one");
  expect(await admin.reset()).toEqual({ structureId });
  expect(await status(create("a@b.co"))).toBe(200);
  await admin.snapshots.load("one");
  expect(await status(create("a@b.co"))).toBe(400);
  expect(await admin.snapshots()).toMatchObject([{ name: "one" }]);
  await admin.snapshots.remove("one");
  expect(await admin.snapshots()).toEqual([]);

  expect(await admin.clock({ time: "2030-01-01T00:00:00Z" })).toMatchObject({ real: false });
  expect((await create("b@b.co")).body.createdAt).toMatch(/^2030-01-01T00:00:0/);
  expect(await admin.clock({ real: true })).toMatchObject({ real: true });
  expect(await admin.faults(["503:GET:*"])).toEqual({ faults: ["503:GET:*"] });
  expect(await status(call("GET", "/api/contact-structure"))).toBe(503);
  expect(await admin.faults([])).toEqual({ faults: [] });
  const limits = await admin.limits({ hourly: 5, used: 5 });
  expect(limits).toMatchObject({ hourly: 5, used: { hour: 5, month: 5 } });
  expect(await status(call("GET", "/api/contact-structure"))).toBe(429);
  expect(await admin.events({ key: "a@b.co", type: "bounced" })).toMatchObject({ type: "email-bounced" });
  expect(await admin.requests({ status: 429, limit: 1 })).toMatchObject([{ status: 429 }]);
  await admin.requests.clear();
  expect(await admin.requests()).toEqual([]);
});

test("the log can be read after a body that nests deeper than JSON can be written", async () => {
  const { baseUrl, apiKey, admin } = await started();
  const send = (body: string) =>
    fetch(`${baseUrl}/api/contact`, { method: "POST", headers: { "x-api-key": apiKey }, body });
  const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels);
  for (const levels of [100, 101, 30_000]) expect((await send(nested(levels))).status).toBe(400);
  const stream = await fetch(`${baseUrl}/__sandbox/requests/stream?since=0`);
  const log = await fetch(`${baseUrl}/__sandbox/requests`);
  expect(log.status).toBe(200);
  const bodies = ((await log.json()) as { body: unknown }[]).map(({ body }) => body);
  expect(bodies).toEqual([JSON.parse(nested(100)), nested(101), nested(30_000)]);
  expect((await admin.requests()).map(({ body }) => body)).toEqual(bodies);
  let streamed = "";
  for await (const chunk of stream.body!.pipeThrough(new TextDecoderStream())) {
    streamed += chunk;
    if (streamed.endsWith("}\n\n")) break;
  }
  expect(streamed.match(/^id: /gm)).toHaveLength(3);
});

const wrongActs: [message: string, act: (admin: Admin) => Promise<unknown>][] = [
  ["contacts[0].key must be an email", (admin) => admin.seed({ contacts: [{ key: "nobody" }] })],
  ["Snapshot none not found: the saved ones are one", (admin) => admin.snapshots.remove("none")],
  ["Contact x@b.co not found", (admin) => admin.events({ key: "x@b.co", type: "opened" })],
  ["limt is not known here", (admin) => admin.requests({ limt: 1 } as never)],
  ["method must be", (admin) => admin.requests({ method: 5 as never })],
  ["The name of a snapshot", (admin) => admin.snapshots.save(undefined as never)],
  ["must be an object", (admin) => admin.seed(undefined as never)],
];

test("what is wrong is refused in words, and changes nothing", async () => {
  const { admin } = await started();
  await admin.snapshots.save("one");
  for (const [message, act] of wrongActs) await expect(act(admin)).rejects.toThrow(message);
  expect(await admin.snapshots()).toHaveLength(1);
});

test("after stop everything says that the sandbox was stopped", async () => {
  const sandbox = await startSandbox();
  const { reset, requests, clock, faults, snapshots } = sandbox.admin;
  await Promise.all([sandbox.stop(), sandbox[Symbol.asyncDispose]()]);
  const acts = [reset, requests, requests.clear, clock, faults, snapshots, () => snapshots.save("one")];
  for (const act of acts) await expect(act()).rejects.toThrow("The sandbox was stopped");
  await expect(fetch(sandbox.baseUrl)).rejects.toThrow();
  await sandbox.stop();
});

test("a folder and a key of one's own stay; a bad option is refused and leaves nothing behind", async () => {
  const folder = join(await temporaryFolder(), "data");
  const apiKey = `ecm_jp_${"k".repeat(43)}`;
  const one = await started({ folder, apiKey, region: "jp" });
  expect(one.apiKey).toBe(apiKey);
  expect((await one.create("a@b.co")).status).toBe(200);
  await one.stop();
  const two = await started({ folder });
  expect(two.apiKey).toBe(apiKey);
  expect((await two.create("a@b.co")).status).toBe(400);
  await expect(startSandbox({ apiKey: "short" })).rejects.toThrow("API key");
  await expect(startSandbox({ faults: ["bogus"] })).rejects.toThrow("--fault");
  await expect(startSandbox({ port: Number(new URL(two.baseUrl).port) })).rejects.toThrow("Cannot listen");
});

test.each<[name: string, ...wrong: unknown[]]>([
  ["region", "US", "usa"],
  ["adminToken", "", "two words"],
  ["hourlyLimit", -1, 0, "5", null, Number.NaN],
  ["monthlyLimit", 0, 1e12, 1.5],
  ["windowSeconds", 0, 1e9],
  ["port", 65_536, "8080"],
  ["folder", "", 7],
  ["faults", "503:GET", [5]],
  ["variants", ["keys=first"]],
  ["apiKey", 5],
  ["seed", -1],
  ["sed", 1],
  ["isLogged", false],
])("the option %s is refused by name where it is bad: %j", async (name, ...wrong) => {
  for (const value of wrong) {
    const options = { [name]: value } as StartSandboxOptions;
    await expect(started(options)).rejects.toThrow(new RegExp(`^${name}(\\[0\\])? `));
  }
});

test.each([null, "seed"])("options that are no object are refused: %j", async (options) => {
  await expect(started(options as StartSandboxOptions)).rejects.toThrow(/^The options /);
});

test("the published types stand on their own", async () => {
  const text = await readFile(join(import.meta.dirname, "../../src/sandbox/public-types.ts"), "utf8");
  expect(text).not.toMatch(/^import\b| from "/m);
  expect(text.match(/^(?:export )?(?:const|function|class|let|var) /m)).toBeNull();
});

test("stop lets an answer end that is still on its way", async () => {
  const { baseUrl, apiKey, admin, stop } = await startSandbox();
  const fields = { "First Name": "x".repeat(100_000) };
  const people = Array.from({ length: 90 }, (_, number) => ({ key: `p${number}@example.com`, fields }));
  await admin.seed({ contacts: people });
  const socket = connect(Number(new URL(baseUrl).port), "127.0.0.1");
  socket.write(`GET /api/contact HTTP/1.1\r\nHost: localhost\r\nx-api-key: ${apiKey}\r\n\r\n`);
  const [first] = (await once(socket, "data")) as [Buffer];
  socket.pause();
  const whole = Number(/content-length: (\d+)/i.exec(String(first))![1]);
  const began = performance.now();
  const stopped = stop();
  let length = first.length - first.indexOf("\r\n\r\n") - 4;
  for await (const piece of socket) length += (piece as Buffer).length;
  expect(whole).toBeGreaterThan(9_000_000);
  // It waits for a second at most, which a busy machine may need for less than all.
  if (performance.now() - began < 990) expect(length).toBe(whole);
  await stopped;
});
