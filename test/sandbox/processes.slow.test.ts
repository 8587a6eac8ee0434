/** Several processes on one folder, and processes that are killed. Needs a build. */
import { type ChildProcess, spawnSync } from "node:child_process";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { startSandbox } from "../../src/sandbox/start-sandbox.ts";
import { spawnEcm, temporaryFolder, temporaryHome } from "../support/ecm.ts";
import { callPort, createAt } from "./account.ts";

interface Started {
  baseUrl: string;
  apiKey: string;
  structureId: string;
  child: ChildProcess;
}

async function start(folder: string, ...flags: string[]): Promise<Started> {
  const child = spawnEcm(["sandbox", "start", "--data", folder, ...flags], await temporaryHome());
  const line = await new Promise<string>((resolve, reject) => {
    child.stdout!.once("data", (chunk: Buffer) => resolve(chunk.toString()));
    child.once("exit", (code) => reject(new Error(`ended with ${code}: ${child.stderr!.read()}`)));
  });
  return { ...JSON.parse(line), child };
}

/** Two that find one new folder at the same moment. */
async function startTwo(...flags: string[]): Promise<[Started, Started]> {
  const folder = join(await temporaryFolder(), "sandbox");
  return Promise.all([start(folder, ...flags), start(folder, ...flags)]);
}

/** Sends so many requests to both in turn, all at once. @returns how often each status or type of error came */
async function sendAll(
  both: [Started, Started],
  count: number,
  request: (number: number) => [method: string, path: string, body?: object],
): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  const send = async (number: number) => {
    const { status, body } = await callPort(both[number % 2]!, ...request(number));
    const name = body.errors?.[0]?.errorType ?? String(status);
    counts[name] = (counts[name] ?? 0) + 1;
  };
  await Promise.all(Array.from({ length: count }, (_, number) => send(number)));
  return counts;
}

test("Two processes on one new folder share account, key and hour; of 50 creates of one key, sent to both at once, one wins", async () => {
  const both = await startTwo("--hourly-limit", "80");
  const [one, two] = both;
  const contactStructureId = one.structureId;
  expect([two.structureId, two.apiKey]).toEqual([contactStructureId, one.apiKey]);
  expect(two.baseUrl).not.toBe(one.baseUrl);
  const keyOf = (number: number) => (number % 3 === 0 ? "ADA@example.com" : "ada@example.com");
  const toContact = (number: number) => ({ key: keyOf(number), contactStructureId });
  const creates = await sendAll(both, 50, (number) => ["POST", "/api/contact", toContact(number)]);
  expect(creates).toEqual({ 200: 1, DuplicateFieldError: 49 });

  // The rest of the hour.
  const counts = await sendAll(both, 50, () => ["GET", "/api/contact-structure"]);
  expect(counts).toEqual({ 200: 30, TooManyRequestsError: 20 });
});

test("Snapshots that two processes save, load, list and remove at once are whole, or not there", async () => {
  const [one, two] = await startTwo();
  const contacts = Array.from({ length: 500 }, (_, number) => ({ key: `person${number}@example.com` }));
  await callPort(one, "POST", "/__sandbox/seed", { contacts });
  for (let round = 0; round < 8; round++) {
    const answers = await Promise.all([
      callPort(one, "PUT", "/__sandbox/snapshots/same"),
      callPort(two, "PUT", "/__sandbox/snapshots/same"),
      callPort(one, "PUT", "/__sandbox/snapshots/gone"),
      callPort(two, "GET", "/__sandbox/snapshots"),
      callPort(two, "DELETE", "/__sandbox/snapshots/gone"),
      callPort(one, "POST", "/__sandbox/snapshots/gone/load"),
    ]);
    const statuses = answers.map(({ status }) => status);
    expect(statuses.slice(0, 4)).toEqual([200, 200, 200, 200]);
    expect([200, 204, 404]).toEqual(expect.arrayContaining(statuses.slice(4)));
    expect((await callPort(two, "POST", "/__sandbox/snapshots/same/load")).status).toBe(200);
    expect((await callPort(one, "GET", "/__sandbox/overview")).body.account.total).toBe(500);
  }
});

test("Mutates without __v in two processes all apply; of those with one __v, exactly one does", async () => {
  const both = await startTwo();
  const [one, two] = both;
  const [{ _id: _, keyType, ...structure }] = (await callPort(one, "GET", "/api/contact-structure")).body;
  const change = { ...structure, tags: Array.from({ length: 20 }, (_, n) => ({ label: `tag ${n}` })) };
  const { tags } = (await callPort(one, "PUT", `/api/contact-structure/${one.structureId}`, change)).body;
  const made = await createAt(one, "a@b.co");
  const contact = `/api/contact/${made.body._id}`;
  const mutateAll = (version: object) =>
    sendAll(both, tags.length, (number) => [
      "PUT",
      `${contact}/mutate`,
      { addTags: [tags[number]._id], ...version },
    ]);
  expect(await mutateAll({ __v: 0 })).toEqual({ 200: 1, ConcurrencyError: 19 });
  const [{ _id: first }] = (await callPort(one, "GET", contact)).body.tags;
  await callPort(one, "PUT", `${contact}/mutate`, { removeTags: [first] });
  expect(await mutateAll({})).toEqual({ 200: 20 });
  const after = (await callPort(two, "GET", contact)).body;
  expect([after.tags.length, after.__v]).toEqual([20, 22]);
});

test("Every write that was answered is there after kill -9", async () => {
  const folder = join(await temporaryFolder(), "sandbox");
  const server = await start(folder);
  const answered: string[] = [];
  let number = 0;
  const write = async (): Promise<void> => {
    for (;;) {
      const key = `p${number++}@b.co`;
      answered.push((await createAt(server, key)).body._id);
      if (answered.length === 150) server.child.kill("SIGKILL");
    }
  };
  await Promise.allSettled(Array.from({ length: 8 }, write));
  expect(answered.length).toBeGreaterThanOrEqual(150);

  const again = await start(folder);
  const { body } = await callPort(again, "GET", "/api/contact");
  expect(body.map(({ _id }: { _id: string }) => _id)).toEqual(expect.arrayContaining(answered));
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

test.each([[[]], [["--test"]]])(
  "a program that forgets to stop a sandbox ends, and leaves nothing behind: node %j",
  async (words) => {
    const text = 'require("node:test")("uses it", () => useIt());';
    const { temporary, status, signal, stdout } = await runProgram(text, ...words);
    expect({ status, signal }, stdout).toEqual({ status: 0, signal: null });
    expect(stdout).toMatch(/pass 1/);
    expect(await readdir(temporary)).toEqual([]);
  },
);

test("the log of a sandbox that nobody stopped is in its folder when its process has ended", async () => {
  const ended = await runProgram('useIt({ folder: process.env.TMPDIR + "/data" });');
  expect(ended).toMatchObject({ status: 0, stderr: "" });
  await using sandbox = await startSandbox({ folder: join(ended.temporary, "data") });
  expect(await sandbox.admin.requests()).toMatchObject([{ path: "/api/contact-structure" }]);
});
