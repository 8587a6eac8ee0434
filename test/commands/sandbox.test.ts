/** `ecm sandbox` but `start`, `exec` and `clone`: on a sandbox that is running, and on a folder at rest. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { interruptedError } from "../../src/errors.ts";
import { openDatabase } from "../../src/sandbox/database.ts";
import { openSandbox } from "../../src/sandbox/index.ts";
import { variantNames } from "../../src/sandbox/variants.ts";
import { done, ecmWith, ends, inputFile, readJson, refused, temporaryFolder, temporaryHome } from "../kit.ts";
import { callPort } from "../sandbox/account.ts";
import { startSandbox } from "../support/sandbox.ts";

/** A sandbox that is running, and `ecm sandbox` on its folder. */
async function running() {
  const service = await startSandbox();
  const { structureId } = service.sandbox;
  const ecm = ecmWith(await temporaryHome());
  const call = (method: string, path: string, body?: object) => callPort(service, method, path, body);
  return {
    apiKey: service.apiKey,
    folder: service.folder,
    call,
    create: (key: string) => call("POST", "/api/contact", { key, contactStructureId: structureId }),
    sandbox: (line: string) => ecm(`sandbox ${line} --data ${service.folder}`),
    json: (line: string) => readJson(ecm, `sandbox ${line} --data ${service.folder}`),
    /** What a request with this key comes to. */
    read: async (key: string) => {
      const { status, body } = await callPort({ ...service, apiKey: key }, "GET", "/api/contact-structure");
      return status === 200 ? "200" : `${status} ${body.errors[0].message}`;
    },
  };
}

test("a key is made, seen, stopped, let work again, given a new value, and deleted, and each acts at once", async () => {
  const { folder, sandbox, json, read } = await running();
  const key = await json("keys create ci --scope contacts:read --scope reports:read");
  expect(key).toEqual({
    _id: expect.stringMatching(/^[0-9a-f]{24}$/),
    key: expect.stringMatching(/^ecm_us_\w{43}$/),
    name: "ci",
    scopes: ["contacts:read", "reports:read"],
    state: "active",
  });
  expect(await read(key.key)).toBe("200");

  const unknown = await sandbox("keys delete cd --yes");
  expect(unknown.stderr).toContain(`hint: See them with: ecm sandbox keys list --data ${folder}\n`);

  const listed = await json("keys list");
  expect(listed).toMatchObject([{ name: "sandbox" }, { name: "ci" }]);
  expect(JSON.stringify(listed)).not.toContain(key.key);

  expect(await json("keys deactivate ci")).toMatchObject({ state: "inactive" });
  expect(await read(key.key)).toBe("401 Invalid API key");
  expect(await json(`keys activate ${key._id}`)).toMatchObject({ state: "active" });
  expect(await read(key.key)).toBe("200");

  expect((await sandbox("keys regenerate ci")).code).toBe(2);
  expect(await read(key.key)).toBe("200");
  const regenerated = await json("keys regenerate ci --yes");
  expect([await read(key.key), await read(regenerated.key)]).toEqual(["401 Invalid API key", "200"]);

  expect((await sandbox("keys delete ci")).code).toBe(2);
  await done(sandbox("keys delete ci --yes"));
  expect(await read(regenerated.key)).toBe("401 Invalid API key");
  expect((await sandbox("keys activate ci")).code).toBe(5);
});

test("a name in use is exit 6, an unknown scope and a time that is none are exit 2", async () => {
  const { sandbox, json, read } = await running();
  for (const [line, code] of [
    ["ci --scope contacts:read", 0],
    ["ci --scope contacts:read", 6],
    ["b --scope contacts:delete", 2],
    ["b", 2],
    ["b --scope contacts:read --expires soon", 2],
    ["b --scope contacts:read --expires 2027-02-30", 2],
    ["b --scope contacts:read --expires 2027-04-31T10:00:00Z", 2],
    ["b --scope contacts:read --expires 2027-01-01T25:00:00Z", 2],
  ] as const)
    expect((await sandbox(`keys create ${line}`)).code, line).toBe(code);
  const { state, key } = await json("keys create b --scope contacts:read --expires 2020-01-01T00:00:00Z");
  expect([state, await read(key)]).toEqual(["expired", "401 API key expired"]);
});

test("the account's standing and month are shown, and changed at once", async () => {
  const { sandbox, json, read, apiKey } = await running();
  expect(await json("account")).toEqual({ status: "open", monthlyLimit: 100_000, monthlyUsed: 0 });
  await sandbox("account --status past_due");
  expect(await read(apiKey)).toBe("403 Account does not have API access");
  const changed = await json("account --status open --monthly-limit 1");
  expect(changed).toMatchObject({ status: "open", monthlyLimit: 1 });
  expect(await read(apiKey)).toBe("429 Monthly API quota exceeded.");
  expect((await sandbox("account --status asleep")).code).toBe(2);
});

const overwrite = (change: (file: Buffer) => Buffer) => async (file: string) =>
  writeFile(file, change(await readFile(file)));
async function setVersion(file: string) {
  const database = await openDatabase(file);
  database.exec("PRAGMA user_version = 9");
  database.close();
}
const otherText = Buffer.from("not a database, but longer than its header would be ".repeat(100));

test.each<[what: string, damage: (file: string) => Promise<void>, refusal: string]>([
  ["damaged: no database", overwrite(() => otherText), "is damaged: "],
  ["damaged: a database of overwritten pages", overwrite((file) => file.fill(0x5a, 100)), "is damaged: "],
  ["damaged: a part of one", overwrite((file) => file.subarray(0, 5000)), "is damaged: "],
  ["of another version", setVersion, "has version 9; this ecm reads version 1"],
])("reset starts over where the data is %s, and the hint says so", async (what, damage, refusal) => {
  const folder = join(await temporaryFolder(), "data");
  const ecm = ecmWith(await temporaryHome());
  const sandbox = (line: string) => ecm(`sandbox ${line} --data ${folder}`);
  await done(sandbox("seed --contacts 200"));
  await done(sandbox("snapshot save kept"));
  const first = await openSandbox({ folder, region: "jp" });
  const apiKey = first.ownKey();
  first.close();
  const file = join(folder, "sandbox.db");
  const database = await openDatabase(file);
  // Nothing is left in the write-ahead log that a connection could bring back when it is collected.
  expect(database.all("PRAGMA wal_checkpoint(TRUNCATE)")).toMatchObject([{ busy: 0 }]);
  database.close();
  await damage(file);

  const hint = `hint: Delete it and start over with: ecm sandbox reset --data ${folder}\n`;
  await refused(sandbox("keys list"), 1, refusal, hint);
  const was = expect.stringContaining(`The data was ${what.split(":")[0]}`);
  expect(await sandbox("reset --yes --seed 4")).toMatchObject({ code: 0, stderr: was });
  expect(await sandbox("reset --yes")).toMatchObject({ code: 0, stderr: "" });
  const again = await openSandbox({ folder });
  onTestFinished(() => again.close());
  expect(again.ownKey()).toBe(apiKey);
});

test("a folder that cannot be used is a usage error that names it", async () => {
  const ecm = ecmWith(await temporaryHome());
  const words = ["The sandbox's folder /dev/null/x cannot be used", "hint: Name another with --data"];
  await refused(ecm("sandbox clock --data /dev/null/x"), 2, ...words);
});

test("requests shows what a running sandbox answered, and clears it", async () => {
  const { sandbox, json, call, create } = await running();
  await create("a@b.co");
  await call("GET", "/api/nothing");
  expect(await json("requests")).toMatchObject([
    { n: 1, method: "POST", body: { key: "a@b.co" }, status: 200 },
    { n: 2, method: "GET", path: "/api/nothing", status: 403 },
  ]);
  const lines = (await sandbox("requests --columns n,method,path,status")).stdout;
  expect(lines).toBe("n\tmethod\tpath\tstatus\n1\tPOST\t/api/contact\t200\n2\tGET\t/api/nothing\t403\n");
  expect(await json("requests --status 4xx")).toMatchObject([{ n: 2 }]);
  expect(await json("requests --since 1 --method GET")).toHaveLength(1);
  await refused(sandbox("requests --since soon"), 2, "since must be a time");
  expect((await sandbox("requests --clear --status 4xx")).code).toBe(2);
  expect(await sandbox("requests --clear")).toMatchObject({ code: 0, stdout: "" });
  expect(await json("requests")).toEqual([]);
});

test("requests --follow shows each request as it comes, until it is interrupted", async () => {
  const { apiKey, folder, read } = await running();
  await read(apiKey);
  const stop = new AbortController();
  let polls = 0;
  const clock = {
    now: () => Date.now(),
    sleep: async () => {
      polls += 1;
      if (polls < 3) await read(apiKey);
      else stop.abort(interruptedError("SIGINT"));
      if (stop.signal.aborted) throw stop.signal.reason;
    },
  };
  const line = `sandbox requests --follow --data ${folder} -o ndjson`;
  const following = ecmWith(await temporaryHome())(line, { signal: stop.signal, clock });
  const numbers = (await ends(following, 130)).stdout.trim().split("\n");
  expect(numbers.map((line) => JSON.parse(line).n)).toEqual([2, 3]);
});

test("snapshot saves, lists, loads and removes", async () => {
  const { sandbox, json, create } = await running();
  await create("a@b.co");
  expect(await json("snapshot save first")).toMatchObject({ name: "first" });
  await create("b@b.co");
  await done(sandbox("snapshot load first"));
  expect((await create("b@b.co")).status).toBe(200);
  expect((await create("a@b.co")).status).toBe(400);
  expect((await sandbox("snapshot list -o id")).stdout).toBe("first\n");
  await done(sandbox("snapshot remove first"));
  await refused(sandbox("snapshot load first"), 5, /hint: .*ecm sandbox snapshot list --data /);
  expect((await sandbox("snapshot save ../x")).code).toBe(2);
});

test("clock shows, sets, advances and lets go of the time of a running sandbox", async () => {
  const { sandbox, json, create } = await running();
  expect(await json("clock")).toMatchObject({ real: true });
  await done(sandbox("clock set 2030-01-01T00:00:00Z"));
  const time = expect.stringMatching(/^2030-01-02T12:00:/);
  expect(await json("clock advance 36h")).toMatchObject({ time, real: false });
  expect((await create("a@b.co")).body.createdAt).toMatch(/^2030-01-02T12:00:/);
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
  const wrong = seed("-", '{"contacts":[{"key":"a@b.co"},{"key":"nobody"}]}');
  await refused(wrong, 2, "contacts[1].key must be an email address");
  for (const result of [seed(""), seed(`${file} --contacts 1`), seed("-", "{")]) await refused(result, 2);
});

test("reset --seed gives the same ids again", async () => {
  const { sandbox, create } = await running();
  const made: string[] = [];
  for (const flag of ["--seed 1", "--seed 2", "--seed 1", ""]) {
    await done(sandbox(`reset --yes ${flag}`));
    made.push((await create("a@b.co")).body._id);
  }
  const [first, second] = made;
  expect(made).toEqual([first, second, first, first]);
  expect(second).not.toBe(first);
});

test("variants lists each value with its meaning, and marks the defaults", async () => {
  const listed = await done(ecmWith(await temporaryHome())("sandbox variants --json"));
  const rows: { name: string; value: string; isDefault: boolean; means: string }[] = JSON.parse(listed);
  expect([...new Set(rows.map(({ name }) => name))]).toEqual(variantNames);
  expect(rows.filter(({ isDefault }) => isDefault)).toHaveLength(variantNames.length);
  const means = expect.stringContaining("KEY EQ");
  expect(rows).toContainEqual({ name: "keys", value: "first", isDefault: false, means });
});

test("start and exec take variants and refuse what is none", async () => {
  const ecm = ecmWith(await temporaryHome());
  // Ends with 3 where the lists come as an array and the hour is not told.
  const program = `
    const read = (path) => fetch(process.env.ECM_BASE_URL + "/api/contact-structure" + path,
      { headers: { "x-api-key": process.env.ECM_API_KEY } });
    const [{ _id }] = await (await read("")).json();
    const lists = await read("/" + _id + "/lists");
    process.exit(Array.isArray(await lists.json()) && !lists.headers.has("x-ratelimit-limit") ? 3 : 0);`;
  const variants = "--variant lists=array --variant hourly-headers=missing".split(" ");
  const child = ["--", process.execPath, "--input-type=module", "-e", program];
  expect((await ecm(["sandbox", "exec", ...variants, ...child])).code).toBe(3);
  const wrong = {
    "keys=none": "any, refused, first",
    "key=any": "mutate-elements",
    keys: "sandbox variants",
  };
  for (const [variant, hint] of Object.entries(wrong)) {
    for (const line of [`start --variant ${variant}`, `exec --variant ${variant} -- true`])
      await refused(ecm(`sandbox ${line}`), 2, "--variant", hint);
  }
});
