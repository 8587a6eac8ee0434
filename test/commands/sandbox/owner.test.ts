/** `ecm sandbox keys`, `account` and `reset`, on a sandbox that is running. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openDatabase } from "../../../src/sandbox/database.ts";
import { openSandbox } from "../../../src/sandbox/index.ts";
import { ecmWith, temporaryFolder, temporaryHome } from "../../support/ecm.ts";
import { startSandbox } from "../../support/sandbox.ts";

async function running() {
  const { baseUrl, apiKey, folder } = await startSandbox();
  const ecm = ecmWith(await temporaryHome());
  return {
    apiKey,
    folder,
    sandbox: (line: string) => ecm(`sandbox ${line} --data ${folder}`),
    read: async (key: string) => {
      const answer = await fetch(`${baseUrl}/api/contact-structure`, { headers: { "x-api-key": key } });
      const { errors } = (await answer.json()) as { errors?: { message: string }[] };
      return errors ? `${answer.status} ${errors[0]!.message}` : String(answer.status);
    },
  };
}

test("a key is made, seen, stopped, let work again, given a new value, and deleted, and each acts at once", async () => {
  const { folder, sandbox, read } = await running();
  const made = await sandbox("keys create ci --scope contacts:read --scope reports:read --json");
  const key = JSON.parse(made.stdout);
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

  const listed = await sandbox("keys list --json");
  expect(JSON.parse(listed.stdout).map((each: { name: string }) => each.name)).toEqual(["sandbox", "ci"]);
  expect(listed.stdout).not.toContain(key.key);

  expect(JSON.parse((await sandbox("keys deactivate ci --json")).stdout).state).toBe("inactive");
  expect(await read(key.key)).toBe("401 Invalid API key");
  expect(JSON.parse((await sandbox(`keys activate ${key._id} --json`)).stdout).state).toBe("active");
  expect(await read(key.key)).toBe("200");

  expect((await sandbox("keys regenerate ci")).code).toBe(2);
  expect(await read(key.key)).toBe("200");
  const regenerated = JSON.parse((await sandbox("keys regenerate ci --yes --json")).stdout);
  expect([await read(key.key), await read(regenerated.key)]).toEqual(["401 Invalid API key", "200"]);

  expect((await sandbox("keys delete ci")).code).toBe(2);
  expect((await sandbox("keys delete ci --yes")).code).toBe(0);
  expect(await read(regenerated.key)).toBe("401 Invalid API key");
  expect((await sandbox("keys activate ci")).code).toBe(5);
});

test("a name in use is exit 6, an unknown scope and a time that is none are exit 2", async () => {
  const { sandbox, read } = await running();
  const create = (line: string) => sandbox(`keys create ${line}`);
  expect((await create("ci --scope contacts:read")).code).toBe(0);
  expect((await create("ci --scope contacts:read")).code).toBe(6);
  expect((await create("b --scope contacts:delete")).code).toBe(2);
  expect((await create("b")).code).toBe(2);
  for (const time of ["soon", "2027-02-30", "2027-04-31T10:00:00Z", "2027-01-01T25:00:00Z"]) {
    expect((await create(`b --scope contacts:read --expires ${time}`)).code).toBe(2);
  }
  const past = await create("b --scope contacts:read --expires 2020-01-01T00:00:00Z --json");
  const { state, key } = JSON.parse(past.stdout);
  expect([state, await read(key)]).toEqual(["expired", "401 API key expired"]);
});

test("the account's standing and month are shown, and changed at once", async () => {
  const { sandbox, read, apiKey } = await running();
  expect(JSON.parse((await sandbox("account --json")).stdout)).toEqual({
    status: "open",
    monthlyLimit: 100_000,
    monthlyUsed: 0,
  });
  await sandbox("account --status past_due");
  expect(await read(apiKey)).toBe("403 Account does not have API access");
  const changed = await sandbox("account --status open --monthly-limit 1 --json");
  expect(JSON.parse(changed.stdout)).toMatchObject({ status: "open", monthlyLimit: 1 });
  expect(await read(apiKey)).toBe("429 Monthly API quota exceeded.");
  expect((await sandbox("account --status asleep")).code).toBe(2);
});

const overwrite = (change: (file: Buffer) => Buffer) => async (file: string) =>
  writeFile(file, change(await readFile(file)));
const otherText = Buffer.from("not a database, but longer than its header would be ".repeat(100));

test.each<[what: string, damage: (file: string) => Promise<void>, refusal: string]>([
  ["damaged: no database", overwrite(() => otherText), "is damaged: "],
  [
    "damaged: a database whose pages are overwritten",
    overwrite((file) => file.fill(0x5a, 100)),
    "is damaged: ",
  ],
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
  expect((await sandbox("seed --contacts 200")).code).toBe(0);
  expect((await sandbox("snapshot save kept")).code).toBe(0);
  const first = await openSandbox({ folder, region: "jp" });
  const apiKey = first.ownKey();
  first.close();
  const file = join(folder, "sandbox.db");
  const database = await openDatabase(file);
  // Nothing is left in the write-ahead log that a connection could bring back when it is collected.
  expect(database.all("PRAGMA wal_checkpoint(TRUNCATE)")).toMatchObject([{ busy: 0 }]);
  database.close();
  await damage(file);

  const refused = await sandbox("keys list");
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain(refusal);
  const hint = `hint: Delete it and start over with: ecm sandbox reset --data ${folder}\n`;
  expect(refused.stderr).toContain(hint);
  const was = expect.stringContaining(`The data was ${what.split(":")[0]}`);
  expect(await sandbox("reset --yes --seed 4")).toMatchObject({ code: 0, stderr: was });
  expect(await sandbox("reset --yes")).toMatchObject({ code: 0, stderr: "" });
  const again = await openSandbox({ folder });
  onTestFinished(() => again.close());
  expect(again.ownKey()).toBe(apiKey);
});

test("a folder that cannot be used is a usage error that names it", async () => {
  const ecm = ecmWith(await temporaryHome());
  const result = await ecm("sandbox clock --data /dev/null/x");
  expect(result.code).toBe(2);
  expect(result.stderr).toContain("The sandbox's folder /dev/null/x cannot be used");
  expect(result.stderr).toContain("hint: Name another with --data");
});
