import { rename, symlink } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { type Database, openDatabase, TransactionQueue } from "../../src/sandbox/database.ts";
import { temporaryFolder } from "../support/ecm.ts";
import { openAccount } from "./account.ts";

it("a database that runs out of room says so, and keeps nothing of the transaction", async () => {
  const database = await openDatabase(join(await temporaryFolder(), "full.db"));
  onTestFinished(() => database.close());
  database.exec("CREATE TABLE cells (text TEXT); PRAGMA max_page_count = 16");
  // No room in the cache either: as on a disk, the end comes in the middle.
  database.exec("PRAGMA cache_size = 4");
  const fill = () => {
    for (let row = 0; row < 100; row++) database.run("INSERT INTO cells VALUES (?)", "x".repeat(4000));
  };
  expect(() => database.transaction(fill)).toThrow("database or disk is full");
  expect(database.get("SELECT count(*) AS rows FROM cells")).toMatchObject({ rows: 0 });
  database.transaction(() => database.run("INSERT INTO cells VALUES (?)", "fits"));
  expect(database.get("SELECT count(*) AS rows FROM cells")).toMatchObject({ rows: 1 });
});

it("keeps nothing of turns that arrived together when one of them fails, and goes on after it", async () => {
  const database = await openDatabase(join(await temporaryFolder(), "turns.db"));
  onTestFinished(() => database.close());
  database.exec("CREATE TABLE cells (text TEXT)");
  const queue = new TransactionQueue(database);
  const put = (text: string) => () => database.run("INSERT INTO cells VALUES (?)", text).changes;
  const fail = () => {
    throw new Error("broken");
  };
  const outcomes = await Promise.allSettled(
    [put("first"), fail, put("third")].map((work) => queue.runInTransaction(work)),
  );
  expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
  expect(await queue.runInTransaction(put("later"))).toBe(1);
  expect(database.all("SELECT text FROM cells")).toEqual([{ text: "later" }]);
});

/** Temporary tables belong to one connection. */
const isSame = (one: Database, other: Database) => {
  one.exec("CREATE TEMP TABLE IF NOT EXISTS mark (only)");
  return other.get("SELECT name FROM temp.sqlite_schema WHERE name = 'mark'") !== undefined;
};

it("a file that is opened more than once in a process has one connection, which the last one closes", async () => {
  const folder = await temporaryFolder();
  const file = join(folder, "one.db");
  const one = await openDatabase(file);
  await symlink(folder, join(folder, "link"));
  const other = await openDatabase(join(folder, "link", "one.db"));
  expect(isSame(one, other)).toBe(true);
  one.close();
  one.close();
  expect(other.get("SELECT 1 AS one")).toMatchObject({ one: 1 });
  other.close();
  const later = await openDatabase(file);
  expect(later.get("SELECT name FROM temp.sqlite_schema")).toBeUndefined();
  later.close();
});

it("a file that is opened more than once in a process has another where another file has taken its place", async () => {
  const folder = await temporaryFolder();
  const file = join(folder, "one.db");
  const one = await openDatabase(file);
  onTestFinished(() => one.close());
  await rename(file, join(folder, "moved.db"));
  const two = await openDatabase(file);
  onTestFinished(() => two.close());
  expect(isSame(one, two)).toBe(false);
});

it.each([0, 2])("data of version %i is an error that names the folder, and stays", async (version) => {
  const { sandbox, folder } = await openAccount();
  sandbox.close();
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
