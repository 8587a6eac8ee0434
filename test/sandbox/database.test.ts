import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { openDatabase } from "../../src/sandbox/database.ts";
import { transactionQueue } from "../../src/sandbox/transaction-queue.ts";
import { temporaryFolder } from "../support/ecm.ts";

describe("a database that runs out of room", () => {
  it("says so, and keeps nothing of the transaction", async () => {
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
});

it("keeps nothing of turns that arrived together when one of them fails, and goes on after it", async () => {
  const database = await openDatabase(join(await temporaryFolder(), "turns.db"));
  onTestFinished(() => database.close());
  database.exec("CREATE TABLE cells (text TEXT)");
  const takeTurn = transactionQueue(database);
  const put = (text: string) => () => database.run("INSERT INTO cells VALUES (?)", text).changes;
  const fail = () => {
    throw new Error("broken");
  };
  const outcomes = await Promise.allSettled([put("first"), fail, put("third")].map(takeTurn));
  expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
  expect(await takeTurn(put("later"))).toBe(1);
  expect(database.all("SELECT text FROM cells")).toEqual([{ text: "later" }]);
});
