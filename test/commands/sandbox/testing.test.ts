/**
 * `ecm sandbox requests`, `snapshot`, `clock`, `seed` and `reset`, on a sandbox that is running and on a
 * folder at rest.
 */
import { join } from "node:path";
import { expect, test } from "vitest";
import { interruptedError } from "../../../src/errors.ts";
import { inputFile } from "../../bulk/kit.ts";
import { callPort } from "../../sandbox/account.ts";
import { done, ecmWith, readJson, temporaryFolder, temporaryHome } from "../../support/ecm.ts";
import { startSandbox } from "../../support/sandbox.ts";

async function running() {
  const { baseUrl, apiKey, folder, sandbox } = await startSandbox();
  const ecm = ecmWith(await temporaryHome());
  return {
    structureId: sandbox.structureId,
    sandbox: (line: string) => ecm(`sandbox ${line} --data ${folder}`),
    json: (line: string) => readJson(ecm, `sandbox ${line} --data ${folder}`),
    call: (method: string, path: string, body?: object) => callPort({ baseUrl, apiKey }, method, path, body),
  };
}

test("requests shows what a running sandbox answered, and clears it", async () => {
  const { sandbox, json, call, structureId } = await running();
  await call("POST", "/api/contact", { key: "a@b.co", contactStructureId: structureId });
  await call("GET", "/api/nothing");
  expect(await json("requests")).toMatchObject([
    { n: 1, method: "POST", body: { key: "a@b.co" }, status: 200 },
    { n: 2, method: "GET", path: "/api/nothing", status: 403 },
  ]);
  const lines = (await sandbox("requests --columns n,method,path,status")).stdout;
  expect(lines).toBe("n\tmethod\tpath\tstatus\n1\tPOST\t/api/contact\t200\n2\tGET\t/api/nothing\t403\n");
  expect(await json("requests --status 4xx")).toMatchObject([{ n: 2 }]);
  expect(await json("requests --since 1 --method GET")).toHaveLength(1);
  expect(await sandbox("requests --since soon")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("since must be a time"),
  });
  expect((await sandbox("requests --clear --status 4xx")).code).toBe(2);
  expect(await sandbox("requests --clear")).toMatchObject({ code: 0, stdout: "" });
  expect(await json("requests")).toEqual([]);
});

test("requests --follow shows each request as it comes, until it is interrupted", async () => {
  const { baseUrl, apiKey, folder } = await startSandbox();
  const read = () => callPort({ baseUrl, apiKey }, "GET", "/api/contact-structure");
  await read();
  const stop = new AbortController();
  let polls = 0;
  const clock = {
    now: () => Date.now(),
    sleep: async () => {
      polls += 1;
      if (polls < 3) await read();
      else stop.abort(interruptedError("SIGINT"));
      if (stop.signal.aborted) throw stop.signal.reason;
    },
  };
  const line = `sandbox requests --follow --data ${folder} -o ndjson`;
  const result = await ecmWith(await temporaryHome())(line, { signal: stop.signal, clock });
  expect(result.code).toBe(130);
  const numbers = result.stdout.trim().split("\n");
  expect(numbers.map((line) => JSON.parse(line).n)).toEqual([2, 3]);
});

test("snapshot saves, lists, loads and removes", async () => {
  const { sandbox, json, call, structureId } = await running();
  const create = (key: string) => call("POST", "/api/contact", { key, contactStructureId: structureId });
  await create("a@b.co");
  expect(await json("snapshot save first")).toMatchObject({ name: "first" });
  await create("b@b.co");
  await done(sandbox("snapshot load first"));
  expect((await create("b@b.co")).status).toBe(200);
  expect((await create("a@b.co")).status).toBe(400);
  expect((await sandbox("snapshot list -o id")).stdout).toBe("first\n");
  await done(sandbox("snapshot remove first"));
  const gone = await sandbox("snapshot load first");
  expect(gone).toMatchObject({
    code: 5,
    stderr: expect.stringMatching(/hint: .*ecm sandbox snapshot list --data /),
  });
  expect((await sandbox("snapshot save ../x")).code).toBe(2);
});

test("clock shows, sets, advances and lets go of the time of a running sandbox", async () => {
  const { sandbox, json, call, structureId } = await running();
  expect(await json("clock")).toMatchObject({ real: true });
  await done(sandbox("clock set 2030-01-01T00:00:00Z"));
  expect(await json("clock advance 36h")).toMatchObject({
    time: expect.stringMatching(/^2030-01-02T12:00:/),
    real: false,
  });
  const { body } = await call("POST", "/api/contact", { key: "a@b.co", contactStructureId: structureId });
  expect(body.createdAt).toMatch(/^2030-01-02T12:00:/);
  expect((await sandbox("clock advance soon")).code).toBe(2);
  expect((await sandbox("clock set 2030-02-30")).code).toBe(2);
  expect(await json("clock real")).toMatchObject({ real: true });
  expect(await json("clock show")).toMatchObject({ real: true });
  await done(sandbox("clock set 2030-01-01"));
  await done(sandbox("reset --everything --yes"));
  expect(await json("clock")).toMatchObject({ real: true });
});

test("seed fills a folder that nobody serves, from a file, from standard input, or with people", async () => {
  const folder = await temporaryFolder();
  const ecm = ecmWith(await temporaryHome());
  const seed = (words: string, stdin?: string) =>
    ecm(`sandbox seed ${words} --data ${join(folder, "data")} --json`, { stdin });
  const seeded = async (words: string, stdin?: string) => JSON.parse(await done(seed(words, stdin))).contacts;
  const contacts = [{ key: "a@b.co", lists: ["News"] }, { key: "b@b.co" }];
  const file = await inputFile(JSON.stringify({ contacts }), "seed.json");
  expect(await seeded(file)).toEqual({ created: 2, updated: 0 });
  expect(await seeded(file)).toEqual({ created: 0, updated: 2 });
  expect(await seeded("--contacts 12")).toEqual({ created: 12, updated: 0 });
  expect(await seeded("-", '{"tags":["VIP"]}')).toEqual({ created: 0, updated: 0 });
  const wrong = await seed("-", '{"contacts":[{"key":"a@b.co"},{"key":"nobody"}]}');
  const message = expect.stringContaining("contacts[1].key must be an email address");
  expect(wrong).toMatchObject({ code: 2, stderr: message });
  expect((await seed("")).code).toBe(2);
  expect((await seed(`${file} --contacts 1`)).code).toBe(2);
  expect((await seed("-", "{")).code).toBe(2);
});

test("reset --seed gives the same ids again", async () => {
  const { sandbox, call, structureId } = await running();
  const made: string[] = [];
  for (const flag of ["--seed 1", "--seed 2", "--seed 1", ""]) {
    await done(sandbox(`reset --yes ${flag}`));
    const { body } = await call("POST", "/api/contact", { key: "a@b.co", contactStructureId: structureId });
    made.push(body._id);
  }
  const [first, second] = made;
  expect(made).toEqual([first, second, first, first]);
  expect(second).not.toBe(first);
});
