/** Several processes on one folder, and processes that are killed. Needs a build. */
import type { ChildProcess } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { spawnEcm, temporaryFolder, temporaryHome } from "../support/ecm.ts";
import { callPort } from "./account.ts";

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

test("Two processes that found one new folder at the same moment share account and key", async () => {
  const [one, two] = await startTwo();
  expect(two.structureId).toBe(one.structureId);
  expect(two.apiKey).toBe(one.apiKey);
  expect(two.baseUrl).not.toBe(one.baseUrl);
});

test("Of 50 creates of one key, sent to two processes at once, exactly one wins", async () => {
  const both = await startTwo();
  const contactStructureId = both[0].structureId;
  const keyOf = (number: number) => (number % 3 === 0 ? "ADA@example.com" : "ada@example.com");
  const create = (number: number) =>
    ["POST", "/api/contact", { key: keyOf(number), contactStructureId }] as [string, string, object];
  expect(await sendAll(both, 50, create)).toEqual({ 200: 1, DuplicateFieldError: 49 });
});

test("Snapshots that two processes save, load, list and remove at once are whole, or not there", async () => {
  const [one, two] = await startTwo();
  const contacts = Array.from({ length: 500 }, (_, number) => ({ key: `person${number}@example.com` }));
  await callPort(one, "POST", "/__sandbox/seed", { contacts });
  const statuses = new Set<number>();
  for (let round = 0; round < 20; round++) {
    const answers = await Promise.all([
      callPort(one, "PUT", "/__sandbox/snapshots/same"),
      callPort(two, "PUT", "/__sandbox/snapshots/same"),
      callPort(one, "PUT", "/__sandbox/snapshots/gone"),
      callPort(two, "GET", "/__sandbox/snapshots"),
      callPort(two, "DELETE", "/__sandbox/snapshots/gone"),
      callPort(one, "POST", "/__sandbox/snapshots/gone/load"),
    ]);
    expect(answers.slice(0, 2).map(({ status }) => status)).toEqual([200, 200]);
    for (const { status } of answers) statuses.add(status);
    expect((await callPort(two, "POST", "/__sandbox/snapshots/same/load")).status).toBe(200);
    expect((await callPort(one, "GET", "/__sandbox/overview")).body.account.total).toBe(500);
  }
  expect([200, 204, 404]).toEqual(expect.arrayContaining([...statuses]));
  expect((await callPort(one, "GET", "/__sandbox/snapshots")).body).toContainEqual(
    expect.objectContaining({ name: "same" }),
  );
});

test("Mutates without __v in two processes all apply; of those with one __v, exactly one does", async () => {
  const both = await startTwo();
  const [one, two] = both;
  const contactStructureId = one.structureId;
  const [{ _id: _, keyType, ...structure }] = (await callPort(one, "GET", "/api/contact-structure")).body;
  const change = {
    ...structure,
    tags: Array.from({ length: 20 }, (_, number) => ({ label: `tag ${number}` })),
  };
  const { tags } = (await callPort(one, "PUT", `/api/contact-structure/${contactStructureId}`, change)).body;
  const made = await callPort(one, "POST", "/api/contact", { key: "a@b.co", contactStructureId });
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

test("The hour is spent once, whichever process answers", async () => {
  const counts = await sendAll(await startTwo("--hourly-limit", "30"), 50, () => [
    "GET",
    "/api/contact-structure",
  ]);
  expect(counts).toEqual({ 200: 30, TooManyRequestsError: 20 });
});

test("Every write that was answered is there after kill -9", async () => {
  const folder = join(await temporaryFolder(), "sandbox");
  const server = await start(folder, "--hourly-limit", "1000000", "--monthly-limit", "1000000");
  const answered: string[] = [];
  let number = 0;
  const write = async (): Promise<void> => {
    for (;;) {
      const key = `p${number++}@b.co`;
      const contact = { key, contactStructureId: server.structureId };
      answered.push((await callPort(server, "POST", "/api/contact", contact)).body._id);
      if (answered.length === 300) server.child.kill("SIGKILL");
    }
  };
  await Promise.allSettled(Array.from({ length: 8 }, write));
  expect(answered.length).toBeGreaterThanOrEqual(300);

  const again = await start(folder, "--hourly-limit", "1000000", "--monthly-limit", "1000000");
  for (const id of answered) expect((await callPort(again, "GET", `/api/contact/${id}`)).status).toBe(200);
});
