/** Saved states of the account, and data of another version. */
import { spawnSync } from "node:child_process";
import { copyFile, readdir, utimes } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import type { SandboxAdmin } from "../../src/sandbox/admin.ts";
import { openDatabase } from "../../src/sandbox/database.ts";
import { eraseFromSandbox } from "../../src/sandbox/erase.ts";
import { openAccount } from "./account.ts";

it.each([
  ["this one", 1, true],
  ["later", 2, false],
  ["none at all", 0, false],
])("a snapshot of a version: %s", async (_name, version, isLoaded) => {
  const { sandbox, folder, create, call } = await openAccount();
  await create("ada@example.com");
  const missing = "Snapshot none not found: no snapshot is saved";
  expect(() => sandbox.admin.snapshots.load("none")).toThrow(missing);
  sandbox.admin.snapshots.save("one");
  sandbox.admin.reset();
  const saved = await openDatabase(join(folder, "snapshots", "one.db"));
  saved.exec(`PRAGMA user_version = ${version}`);
  saved.close();
  if (isLoaded) sandbox.admin.snapshots.load("one");
  else expect(() => sandbox.admin.snapshots.load("one")).toThrow("was saved by another version of ecm");
  const structureId = sandbox.structureId;
  const { body } = await call("POST", "/api/contact/search", {
    contactStructureId: structureId,
    page: 1,
    pageSize: 10,
    source: ["key"],
    contactSpecification: { filters: [] },
  });
  expect(body.totalRecords).toBe(isLoaded ? 1 : 0);
});

it.each([0, 2])("data of version %i is an error that names the folder, and stays", async (version) => {
  const { sandbox, folder } = await openAccount();
  await sandbox.close();
  const file = await openDatabase(join(folder, "sandbox.db"));
  file.exec(`PRAGMA user_version = ${version}`);
  file.close();
  await expect(openAccount({ folder })).rejects.toThrow(
    `The sandbox's data in ${folder} has version ${version}; this ecm reads version 1`,
  );
  const again = await openDatabase(join(folder, "sandbox.db"));
  expect(again.get("PRAGMA user_version")).toMatchObject({ user_version: version });
  again.close();
});

it("what a killed save has left goes with a later save, and at once with an erasure", async () => {
  const { sandbox, folder } = await openAccount();
  sandbox.admin.snapshots.save("one");
  const snapshots = join(folder, "snapshots");
  const leave = async (name: string, ageSeconds: number) => {
    const path = join(snapshots, name);
    await copyFile(join(snapshots, "one.db"), path);
    const then = Date.now() / 1000 - ageSeconds;
    await utimes(path, then, then);
  };
  await leave("one.db.0123456789ab.new", 7200);
  await leave("one.db.0123456789ab.new-journal", 7200);
  await leave("two.db.ba9876543210.new", 60);
  // Of a clock that has been set back since.
  await leave("two.db.0123456789ab.new", -7200);
  sandbox.admin.snapshots.save("one");
  expect((await readdir(snapshots)).sort()).toEqual([
    "one.db",
    "two.db.0123456789ab.new",
    "two.db.ba9876543210.new",
  ]);
  expect(sandbox.admin.snapshots().map(({ name }) => name)).toEqual(["one"]);
  await eraseFromSandbox(folder, ["ada@example.com"], () => undefined);
  expect((await readdir(snapshots)).filter((name) => name.includes(".new"))).toEqual([]);
});

const libsql = fileURLToPath(new URL("../../node_modules/libsql", import.meta.url));

/** Changes a database in another process, which is killed before it has closed it. */
function changeAndDie(file: string, journal: "WAL" | "DELETE"): void {
  const script = `const database = new (require(${JSON.stringify(libsql)}))(process.argv[1]);
database.pragma("journal_mode = ${journal}");
database.pragma("cache_size = 1");
if (${journal === "DELETE"}) database.exec("BEGIN");
database.exec("UPDATE contacts SET key = 'changed@example.com' || id");
process.kill(process.pid, "SIGKILL");`;
  expect(spawnSync(process.execPath, ["-e", script, file]).signal).toBe("SIGKILL");
}

it.each([
  ["log", "WAL", "-wal"],
  ["journal", "DELETE", "-journal"],
] as const)(
  "what a killed process left in the %s of a snapshot does not get into a later one",
  async (_name, journal, ending) => {
    const { sandbox, folder, create } = await openAccount();
    const many = Array.from({ length: 2000 }, (_, number) => ({ key: `person${number}@example.com` }));
    const file = join(folder, "snapshots", "one.db");
    const leaveTraces = async () => {
      sandbox.admin.seed({ contacts: many });
      sandbox.admin.snapshots.save("one");
      changeAndDie(file, journal);
      expect(await readdir(join(folder, "snapshots"))).toContain(`one.db${ending}`);
      sandbox.admin.reset();
      await create("ada@example.com");
    };
    const loaded = () => {
      sandbox.admin.snapshots.save("one");
      sandbox.admin.reset();
      sandbox.admin.snapshots.load("one");
      return sandbox.admin.seed({ contacts: [{ key: "ada@example.com" }] }).contacts;
    };
    await leaveTraces();
    expect(loaded()).toEqual({ created: 0, updated: 1 });
    await leaveTraces();
    sandbox.admin.snapshots.remove("one");
    expect(loaded()).toEqual({ created: 0, updated: 1 });
  },
);

it("an erasure leaves a snapshot in one file, and can be made while the sandbox is open", async () => {
  const { sandbox, folder, create } = await openAccount();
  await create("ada@example.com");
  await create("bob@example.com");
  sandbox.admin.snapshots.save("one");
  const mask = (text: string) => (text.includes("ada@example.com") ? "(erased)" : undefined);
  expect(await eraseFromSandbox(folder, ["ada@example.com"], mask)).toBe(2);
  expect(await readdir(join(folder, "snapshots"))).toEqual(["one.db"]);
  sandbox.admin.snapshots.load("one");
  const contacts = [{ key: "ada@example.com" }, { key: "bob@example.com" }];
  expect(sandbox.admin.seed({ contacts }).contacts).toEqual({ created: 1, updated: 1 });
});

it.each([
  ["saved under a new name", (admin: SandboxAdmin) => admin.snapshots.save("two")],
  ["saved over another", (admin: SandboxAdmin) => admin.snapshots.save("one")],
  ["loaded", (admin: SandboxAdmin) => admin.snapshots.load("one")],
])("an erasure leaves nothing of the person where a snapshot is %s meanwhile", async (_what, act) => {
  const { sandbox, folder, create } = await openAccount();
  await create("ada@example.com");
  sandbox.admin.snapshots.save("one");
  let isOver = false;
  const mask = (text: string) => (text.includes("ada@example.com") ? "(erased)" : undefined);
  const erasing = eraseFromSandbox(folder, ["ada@example.com"], mask).finally(() => {
    isOver = true;
  });
  // At every point where the erasure waits.
  while (!isOver) {
    act(sandbox.admin);
    await new Promise(setImmediate);
  }
  await erasing;
  const contacts = [{ key: "ada@example.com" }];
  expect(sandbox.admin.seed({ contacts }).contacts).toEqual({ created: 1, updated: 0 });
  for (const { name } of sandbox.admin.snapshots()) {
    sandbox.admin.snapshots.load(name);
    expect(sandbox.admin.seed({ contacts }).contacts, name).toEqual({ created: 1, updated: 0 });
  }
});
