import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { openDatabase } from "../../src/sandbox/database.ts";
import { temporaryFolder } from "../support/ecm.ts";

describe("a database that runs out of room", () => {
  it.each(["transaction", "attempt"] as const)("says so, and keeps nothing of the %s", async (way) => {
    const database = await openDatabase(join(await temporaryFolder(), "full.db"));
    onTestFinished(() => database.close());
    database.exec("CREATE TABLE cells (text TEXT); PRAGMA max_page_count = 16");
    // No room in the cache either: as on a disk, the end comes in the middle.
    database.exec("PRAGMA cache_size = 4");
    const fill = () => {
      for (let row = 0; row < 100; row++) database.run("INSERT INTO cells VALUES (?)", "x".repeat(4000));
    };
    const work = way === "transaction" ? fill : () => database.attempt(fill);
    expect(() => database.transaction(work)).toThrow("database or disk is full");
    expect(database.get("SELECT count(*) AS rows FROM cells")).toMatchObject({ rows: 0 });
    database.transaction(() => database.run("INSERT INTO cells VALUES (?)", "fits"));
    expect(database.get("SELECT count(*) AS rows FROM cells")).toMatchObject({ rows: 1 });
  });
});
