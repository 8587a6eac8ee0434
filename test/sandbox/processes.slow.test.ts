/** Several processes on one folder, and processes that are killed. Needs a build. */
import type { ChildProcess } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openSandbox } from "../../src/sandbox/index.ts";
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

const counted = (answers: { status: number; body: { errors?: { errorType: string }[] } }[]) => {
  const counts: Record<string, number> = {};
  for (const { status, body } of answers) {
    const name = body.errors?.[0]?.errorType ?? String(status);
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
};

test("Two processes that found one new folder at the same moment share account and key", async () => {
  const [one, two] = await startTwo();
  expect(two.structureId).toBe(one.structureId);
  expect(two.apiKey).toBe(one.apiKey);
  expect(two.baseUrl).not.toBe(one.baseUrl);
});

test("Of 50 creates of one key, sent to two processes at once, exactly one wins", async () => {
  const both = await startTwo();
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, number) => {
      const server = both[number % 2]!;
      const key = number % 3 === 0 ? "ADA@example.com" : "ada@example.com";
      return callPort(server, "POST", "/api/contact", { key, contactStructureId: server.structureId });
    }),
  );
  expect(counted(answers)).toEqual({ 200: 1, DuplicateFieldError: 49 });
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
  const [one] = both;
  const [{ _id: _, keyType, ...structure }] = (await callPort(one, "GET", "/api/contact-structure")).body;
  const tags = Array.from({ length: 20 }, (_, number) => ({ label: `tag ${number}` }));
  const updated = (
    await callPort(one, "PUT", `/api/contact-structure/${one.structureId}`, { ...structure, tags })
  ).body;
  const { _id } = (
    await callPort(one, "POST", "/api/contact", { key: "a@b.co", contactStructureId: one.structureId })
  ).body;
  const mutateAll = (change: object) =>
    Promise.all(
      updated.tags.map((tag: { _id: string }, number: number) =>
        callPort(both[number % 2]!, "PUT", `/api/contact/${_id}/mutate`, {
          addTags: [{ _id: tag._id }],
          ...change,
        }),
      ),
    );
  expect(counted(await mutateAll({ __v: 0 }))).toEqual({ 200: 1, ConcurrencyError: 19 });
  const [{ _id: first }] = (await callPort(one, "GET", `/api/contact/${_id}`)).body.tags;
  await callPort(one, "PUT", `/api/contact/${_id}/mutate`, { removeTags: [first] });
  expect(counted(await mutateAll({}))).toEqual({ 200: 20 });
  const after = (await callPort(both[1], "GET", `/api/contact/${_id}`)).body;
  expect(after.tags).toHaveLength(20);
  expect(after.__v).toBe(22);
});

test("The hour is spent once, whichever process answers", async () => {
  const both = await startTwo("--hourly-limit", "30");
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, number) => callPort(both[number % 2]!, "GET", "/api/contact-structure")),
  );
  expect(counted(answers)).toEqual({ 200: 30, TooManyRequestsError: 20 });
});

test("Every write that was answered is there after kill -9", async () => {
  const folder = join(await temporaryFolder(), "sandbox");
  const server = await start(folder, "--hourly-limit", "1000000", "--monthly-limit", "1000000");
  const answered: string[] = [];
  let number = 0;
  const write = async (): Promise<void> => {
    for (;;) {
      const key = `p${number++}@b.co`;
      const { body } = await callPort(server, "POST", "/api/contact", {
        key,
        contactStructureId: server.structureId,
      });
      answered.push(body._id);
      if (answered.length === 300) server.child.kill("SIGKILL");
    }
  };
  await Promise.allSettled(Array.from({ length: 8 }, write));
  expect(answered.length).toBeGreaterThanOrEqual(300);

  const again = await openSandbox({ folder, hourlyLimit: 1_000_000, monthlyLimit: 1_000_000 });
  try {
    for (const id of answered) {
      const { status } = await again.transport({
        method: "GET",
        url: `http://sandbox.invalid/api/contact/${id}`,
        headers: { "x-api-key": again.ownKey() },
        timeoutMilliseconds: 10_000,
      });
      expect(status).toBe(200);
    }
  } finally {
    again.close();
  }
});
