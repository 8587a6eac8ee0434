/**
 * `ecm sandbox requests`, `snapshot`, `clock`, `seed` and `reset`, on a sandbox that is running and on a
 * folder at rest.
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { interruptedError } from "../../../src/errors.ts";
import { callPort } from "../../sandbox/account.ts";
import { ecmWith, temporaryFolder, temporaryHome } from "../../support/ecm.ts";
import { startSandbox } from "../../support/sandbox.ts";

async function running() {
  const { baseUrl, apiKey, folder, sandbox } = await startSandbox();
  const ecm = ecmWith(await temporaryHome());
  return {
    structureId: sandbox.structureId,
    sandbox: async (line: string) => {
      const result = await ecm(`sandbox ${line} --data ${folder}`);
      return { ...result, json: () => JSON.parse(result.stdout) };
    },
    call: (method: string, path: string, body?: object) => callPort({ baseUrl, apiKey }, method, path, body),
  };
}

test("requests shows what a running sandbox answered, and clears it", async () => {
  const { sandbox, call, structureId } = await running();
  await call("POST", "/api/contact", { key: "a@b.co", contactStructureId: structureId });
  await call("GET", "/api/nothing");
  expect((await sandbox("requests --json")).json()).toMatchObject([
    { n: 1, method: "POST", body: { key: "a@b.co" }, status: 200 },
    { n: 2, method: "GET", path: "/api/nothing", status: 403 },
  ]);
  const lines = (await sandbox("requests --columns n,method,path,status")).stdout;
  expect(lines).toBe("n\tmethod\tpath\tstatus\n1\tPOST\t/api/contact\t200\n2\tGET\t/api/nothing\t403\n");
  expect((await sandbox("requests --status 4xx --json")).json()).toMatchObject([{ n: 2 }]);
  expect((await sandbox("requests --since 1 --method GET --json")).json()).toHaveLength(1);
  expect(await sandbox("requests --since soon")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("since must be a time"),
  });
  expect((await sandbox("requests --clear --status 4xx")).code).toBe(2);
  expect(await sandbox("requests --clear")).toMatchObject({ code: 0, stdout: "" });
  expect((await sandbox("requests --json")).json()).toEqual([]);
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
  const numbers = result.stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line).n);
  expect(numbers).toEqual([2, 3]);
});

test("snapshot saves, lists, loads and removes", async () => {
  const { sandbox, call, structureId } = await running();
  const create = (key: string) => call("POST", "/api/contact", { key, contactStructureId: structureId });
  await create("a@b.co");
  expect((await sandbox("snapshot save first --json")).json()).toMatchObject({ name: "first" });
  await create("b@b.co");
  expect((await sandbox("snapshot load first")).code).toBe(0);
  expect((await create("b@b.co")).status).toBe(200);
  expect((await create("a@b.co")).status).toBe(400);
  expect((await sandbox("snapshot list -o id")).stdout).toBe("first\n");
  expect((await sandbox("snapshot remove first")).code).toBe(0);
  const gone = await sandbox("snapshot load first");
  expect(gone).toMatchObject({
    code: 5,
    stderr: expect.stringMatching(/hint: .*ecm sandbox snapshot list --data /),
  });
  expect((await sandbox("snapshot save ../x")).code).toBe(2);
});

test("clock shows, sets, advances and lets go of the time of a running sandbox", async () => {
  const { sandbox, call, structureId } = await running();
  expect((await sandbox("clock --json")).json().real).toBe(true);
  expect((await sandbox("clock set 2030-01-01T00:00:00Z")).code).toBe(0);
  expect((await sandbox("clock advance 36h --json")).json()).toMatchObject({
    time: expect.stringMatching(/^2030-01-02T12:00:/),
    real: false,
  });
  const { body } = await call("POST", "/api/contact", { key: "a@b.co", contactStructureId: structureId });
  expect(body.createdAt).toMatch(/^2030-01-02T12:00:/);
  expect((await sandbox("clock advance soon")).code).toBe(2);
  expect((await sandbox("clock set 2030-02-30")).code).toBe(2);
  expect((await sandbox("clock real --json")).json().real).toBe(true);
  expect((await sandbox("clock show --json")).json().real).toBe(true);
  expect((await sandbox("clock set 2030-01-01")).code).toBe(0);
  expect((await sandbox("reset --everything --yes")).code).toBe(0);
  expect((await sandbox("clock --json")).json()).toMatchObject({ real: true });
});

test("seed fills a folder that nobody serves, from a file, from standard input, or with people", async () => {
  const folder = await temporaryFolder();
  const ecm = ecmWith(await temporaryHome());
  const seed = (words: string, stdin?: string) =>
    ecm(`sandbox seed ${words} --data ${join(folder, "data")} --json`, { stdin });
  const file = join(folder, "seed.json");
  await writeFile(
    file,
    JSON.stringify({ contacts: [{ key: "a@b.co", lists: ["News"] }, { key: "b@b.co" }] }),
  );
  expect(JSON.parse((await seed(file)).stdout)).toEqual({ contacts: { created: 2, updated: 0 } });
  expect(JSON.parse((await seed(file)).stdout)).toEqual({ contacts: { created: 0, updated: 2 } });
  expect(JSON.parse((await seed("--contacts 12")).stdout)).toEqual({
    contacts: { created: 12, updated: 0 },
  });
  expect(JSON.parse((await seed("-", '{"tags":["VIP"]}')).stdout).contacts.created).toBe(0);
  const wrong = await seed("-", '{"contacts":[{"key":"a@b.co"},{"key":"nobody"}]}');
  expect([wrong.code, wrong.stderr]).toEqual([
    2,
    expect.stringContaining("contacts[1].key must be an email address"),
  ]);
  expect((await seed("")).code).toBe(2);
  expect((await seed(`${file} --contacts 1`)).code).toBe(2);
  expect((await seed("-", "{")).code).toBe(2);
});

test("reset --seed gives the same ids again", async () => {
  const { sandbox, call, structureId } = await running();
  const idAfterReset = async (flag = "") => {
    expect((await sandbox(`reset --yes ${flag}`)).code).toBe(0);
    const made = await call("POST", "/api/contact", { key: "a@b.co", contactStructureId: structureId });
    return made.body._id;
  };
  const first = await idAfterReset("--seed 1");
  expect(await idAfterReset("--seed 2")).not.toBe(first);
  expect(await idAfterReset("--seed 1")).toBe(first);
  expect(await idAfterReset()).toBe(first);
});
