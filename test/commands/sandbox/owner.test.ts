/** `ecm sandbox keys`, `account` and `reset`, on a sandbox that is running. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openDatabase } from "../../../src/sandbox/database.ts";
import { openSandbox } from "../../../src/sandbox/index.ts";
import { done, ecmWith, readJson, refused, startSandbox, temporaryFolder, temporaryHome } from "../../kit.ts";

async function running() {
  const { baseUrl, apiKey, folder } = await startSandbox();
  const ecm = ecmWith(await temporaryHome());
  return {
    apiKey,
    folder,
    sandbox: (line: string) => ecm(`sandbox ${line} --data ${folder}`),
    json: (line: string) => readJson(ecm, `sandbox ${line} --data ${folder}`),
    read: async (key: string) => {
      const answer = await fetch(`${baseUrl}/api/contact-structure`, { headers: { "x-api-key": key } });
      const { errors } = (await answer.json()) as { errors?: { message: string }[] };
      return errors ? `${answer.status} ${errors[0]!.message}` : String(answer.status);
    },
  };
}

test("a key is made, seen, stopped, let work again, given a new value, and deleted, and each acts at once", async () => {
  const { folder, sandbox, json, read } = await running();
  const key = await json("keys create ci --scope contacts:read --scope reports:read");
  expect(key).toEqual({
    _id: expect.stringMatching(/^[0-9a-f]{24}$/),
    name: "ci",
    key: expect.stringMatching(/^ecm_us_\w{43}$/),
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
const otherText = Buffer.from("not a database, but longer than its header would be ".repeat(100));

test.each<[what: string, damage: (file: string) => Promise<void>, refusal: string]>([
  ["damaged: no database", overwrite(() => otherText), "is damaged: "],
  ["damaged: a database of overwritten pages", overwrite((file) => file.fill(0x5a, 100)), "is damaged: "],
  ["damaged: a part of one", overwrite((file) => file.subarray(0, 5000)), "is damaged: "],
  [
    "of another version",
    async (file) => {
      const database = await openDatabase(file);
      database.exec("PRAGMA user_version = 9");
      database.close();
    },
    "has version 9; this ecm reads version 1",
  ],
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
