/** `ecm-cli/sandbox`, as a test suite uses it. */
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import type { Admin, StartSandboxOptions } from "../../src/sandbox/public-types.ts";
import { startSandbox } from "../../src/sandbox/start-sandbox.ts";
import { temporaryFolder } from "../support/ecm.ts";
import { callPort } from "./account.ts";

async function started(options?: StartSandboxOptions) {
  const sandbox = await startSandbox(options);
  onTestFinished(() => sandbox.stop());
  const call = (method: string, path: string, body?: object) => callPort(sandbox, method, path, body);
  const create = (key: string) =>
    call("POST", "/api/contact", { key, contactStructureId: sandbox.structureId });
  return { ...sandbox, call, create };
}

test("a sandbox starts in process, answers over HTTP, and stops once", async () => {
  const { create, admin, stop, baseUrl } = await started();
  expect((await create("a@b.co")).status).toBe(200);
  expect(await admin.requests()).toMatchObject([{ n: 1, path: "/api/contact", status: 200 }]);
  await Promise.all([stop(), stop()]);
  await expect(fetch(baseUrl)).rejects.toThrow();
});

test("admin does what /__sandbox/ does", async () => {
  const { admin, call, create, structureId } = await started({ seed: 1 });
  const seeded = await admin.seed({ contacts: [{ key: "a@b.co", lists: ["News"] }] });
  expect(seeded).toEqual({ contacts: { created: 1, updated: 0 } });
  await admin.snapshots.save("one");
  expect(await admin.reset()).toEqual({ structureId });
  expect((await create("a@b.co")).status).toBe(200);
  await admin.snapshots.load("one");
  expect((await create("a@b.co")).status).toBe(400);
  expect(await admin.snapshots()).toMatchObject([{ name: "one" }]);
  await admin.snapshots.remove("one");
  expect(await admin.snapshots()).toEqual([]);

  expect(await admin.clock({ time: "2030-01-01T00:00:00Z" })).toMatchObject({ real: false });
  expect(String((await create("b@b.co")).body.createdAt)).toMatch(/^2030-01-01T00:00:0/);
  expect(await admin.clock({ real: true })).toMatchObject({ real: true });
  const read = async () => (await call("GET", "/api/contact-structure")).status;
  expect(await admin.faults(["503:GET:*"])).toEqual({ faults: ["503:GET:*"] });
  expect(await read()).toBe(503);
  expect(await admin.faults([])).toEqual({ faults: [] });
  const limits = await admin.limits({ hourly: 5, used: 5 });
  expect(limits).toMatchObject({ hourly: 5, used: { hour: 5, month: 5 } });
  expect(await read()).toBe(429);
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

test.each<[message: string, act: (admin: Admin) => Promise<unknown>]>([
  ["contacts[0].key must be an email", (admin) => admin.seed({ contacts: [{ key: "nobody" }] })],
  ["Give one of", (admin) => admin.clock({})],
  [
    'faults[0] "bogus": there is no fault "bogus"; faults: reset-before, reset-after, 500, 503, 429, delay, truncate',
    (admin) => admin.faults(["bogus"]),
  ],
  ["Snapshot none not found: the saved ones are one", (admin) => admin.snapshots.remove("none")],
  ["Contact x@b.co not found", (admin) => admin.events({ key: "x@b.co", type: "opened" })],
  ["sed is not known here", (admin) => admin.reset({ sed: 1 } as never)],
  ["seed must not be negative", (admin) => admin.reset({ seed: -1 })],
  ["limt is not known here", (admin) => admin.requests({ limt: 1 } as never)],
  ["limit must be", (admin) => admin.requests({ limit: 0 })],
  ["method must be", (admin) => admin.requests({ method: 5 as never })],
  ["faults must be an array", (admin) => admin.faults("503" as never)],
  ["windowSeconds must be from 1 to", (admin) => admin.limits({ windowSeconds: 1e12 })],
  ["The name of a snapshot", (admin) => admin.snapshots.save(undefined as never)],
  ["must be an object", (admin) => admin.reset(null as never)],
  ["must be an object", (admin) => admin.seed(undefined as never)],
  ["must be an object", (admin) => admin.events(null as never)],
])("what is wrong is refused in words, and changes nothing: %s", async (message, act) => {
  const { admin } = await started();
  await admin.snapshots.save("one");
  await expect(act(admin)).rejects.toThrow(message);
  expect(await admin.snapshots()).toHaveLength(1);
});

test("after stop everything says that the sandbox was stopped", async () => {
  const sandbox = await startSandbox();
  const { reset, requests, clock, faults, snapshots } = sandbox.admin;
  await Promise.all([sandbox.stop(), sandbox[Symbol.asyncDispose]()]);
  const acts = [reset, requests, requests.clear, clock, faults, snapshots, () => snapshots.save("one")];
  for (const act of acts) await expect(act()).rejects.toThrow("The sandbox was stopped");
  await sandbox.stop();
});

const bundle = fileURLToPath(new URL("../../dist/sandbox.cjs", import.meta.url));

/** Runs a program that uses a sandbox of the built bundle, with a folder for temporary files of its own. */
async function runProgram(text: string, ...words: string[]) {
  const folder = await temporaryFolder();
  const file = join(folder, "program.test.cjs");
  await writeFile(
    file,
    `const { startSandbox } = require(${JSON.stringify(bundle)});
async function useIt(options) {
  const { baseUrl, apiKey } = await startSandbox(options);
  const answer = await fetch(baseUrl + "/api/contact-structure", { headers: { "x-api-key": apiKey } });
  if (answer.status !== 200) throw new Error(String(answer.status));
}
${text}`,
  );
  const temporary = join(folder, "tmp");
  await mkdir(temporary);
  const env = { PATH: process.env.PATH, TMPDIR: temporary };
  const ended = spawnSync(process.execPath, [...words, file], { env, encoding: "utf8", timeout: 110_000 });
  return { temporary, ...ended };
}

test.each([
  ["a program", []],
  ["node --test", ["--test"]],
])("%s that forgets to stop a sandbox ends, and leaves nothing behind", async (_name, words) => {
  const text = 'require("node:test")("uses it", () => useIt());';
  const { temporary, status, signal, stdout } = await runProgram(text, ...words);
  expect({ status, signal }, stdout).toEqual({ status: 0, signal: null });
  expect(stdout).toMatch(/pass 1/);
  expect(await readdir(temporary)).toEqual([]);
});

test("the log of a sandbox that nobody stopped is in its folder when its process has ended", async () => {
  const ended = await runProgram('useIt({ folder: process.env.TMPDIR + "/data" });');
  expect(ended).toMatchObject({ status: 0, stderr: "" });
  const { admin } = await started({ folder: join(ended.temporary, "data") });
  expect(await admin.requests()).toMatchObject([{ path: "/api/contact-structure" }]);
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

test.each([
  [{ region: "US" }, "region"],
  [{ region: "usa" }, "region"],
  [{ adminToken: "" }, "adminToken"],
  [{ adminToken: "two words" }, "adminToken"],
  [{ hourlyLimit: -1 }, "hourlyLimit"],
  [{ hourlyLimit: 0 }, "hourlyLimit"],
  [{ hourlyLimit: "5" }, "hourlyLimit"],
  [{ hourlyLimit: null }, "hourlyLimit"],
  [{ monthlyLimit: 0 }, "monthlyLimit"],
  [{ monthlyLimit: 1e12 }, "monthlyLimit"],
  [{ windowSeconds: 1e9 }, "windowSeconds"],
  [{ port: 65_536 }, "port"],
  [{ port: "8080" }, "port"],
  [{ folder: "" }, "folder"],
  [{ folder: 7 }, "folder"],
  [{ faults: "503:GET" }, "faults"],
  [{ faults: [5] }, "faults\\[0\\]"],
  [{ variants: ["keys=first"] }, "variants"],
  [{ apiKey: 5 }, "apiKey"],
  [{ sed: 1 }, "sed"],
  [{ isLogged: false }, "isLogged"],
  [null, "The options"],
  ["seed", "The options"],
  [{ hourlyLimit: Number.NaN }, "hourlyLimit"],
  [{ windowSeconds: 0 }, "windowSeconds"],
  [{ monthlyLimit: 1.5 }, "monthlyLimit"],
  [{ seed: -1 }, "seed"],
])("the bad option %j is refused by name", async (options, name) => {
  await expect(started(options as StartSandboxOptions)).rejects.toThrow(new RegExp(`^${name} `));
});

test("the published types stand on their own", async () => {
  const text = await readFile(join(import.meta.dirname, "../../src/sandbox/public-types.ts"), "utf8");
  expect(text).not.toMatch(/^import\b| from "/m);
  expect(text.match(/^(?:export )?(?:const|function|class|let|var) /m)).toBeNull();
});

test("stop lets an answer end that is still on its way", async () => {
  const { baseUrl, apiKey, admin, stop } = await startSandbox();
  const value = "x".repeat(100_000);
  await admin.seed({
    contacts: Array.from({ length: 90 }, (_, number) => ({
      key: `p${number}@example.com`,
      fields: { "First Name": value },
    })),
  });
  const { port } = new URL(baseUrl);
  const socket = connect(Number(port), "127.0.0.1");
  socket.write(`GET /api/contact HTTP/1.1\r\nHost: localhost\r\nx-api-key: ${apiKey}\r\n\r\n`);
  const [first] = (await once(socket, "data")) as [Buffer];
  socket.pause();
  const whole = Number(/content-length: (\d+)/i.exec(String(first))![1]);
  const stopped = stop();
  let length = first.length - first.indexOf("\r\n\r\n") - 4;
  for await (const piece of socket) length += (piece as Buffer).length;
  expect([length, whole > 9_000_000]).toEqual([whole, true]);
  await stopped;
});
