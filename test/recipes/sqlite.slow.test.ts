/** The scripts of docs/databases.md for SQLite, as they stand there, with its real shell. */
import { execFileSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ends, readJson, refused } from "../kit.ts";
import { type Machine, machine, recipe } from "./kit.ts";

const done = { code: 0, stdout: "" };

const shop = `
  CREATE TABLE customers (email TEXT, first_name TEXT, city TEXT, agreed INT, last_order TEXT);
  CREATE TABLE customer_tags (email TEXT, tag TEXT);
  INSERT INTO customers VALUES
    ('ada@example.com', 'Ada, "the" first' || char(10) || 'line two', 'Oslo', 1, '2026-03-01'),
    ('bob@example.com', NULL, '', 1, '2025-03-01'),
    ('zoe@example.com', 'Zoë \\ 花子', NULL, 1, '2026-05-01'),
    ('eve@example.com', 'Eve', 'Rome', 0, '2026-06-01');
  INSERT INTO customer_tags VALUES ('ada@example.com', 'VIP'), ('ada@example.com', 'Oslo club');
`;
const firstName = 'Ada, "the" first\nline two';

recipe("SQLite", () => {
  const sqlite = ({ folder }: Machine, database: string, sql: string) =>
    execFileSync("sqlite3", ["-bail", "-json", join(folder, database), sql], { encoding: "utf8" });
  const readRows = (made: Machine, sql: string) => JSON.parse(sqlite(made, "warehouse.db", sql));

  it("goes into the account by a query, comes back as a table and as documents, and makes a list", async () => {
    const made = await machine();
    sqlite(made, "shop.db", shop);
    expect(await made.script("sqlite-import")).toMatchObject(done);
    for (let round = 0; round < 2; round++) {
      expect(await made.script("sqlite-export")).toMatchObject(done);
      expect(await made.script("sqlite-documents")).toMatchObject(done);
    }

    const table = readRows(made, 'SELECT key, "First Name" AS name, lists, tags FROM contacts ORDER BY key');
    expect(table).toEqual([
      { key: "ada@example.com", name: firstName, lists: "Customers", tags: expect.any(String) },
      { key: "bob@example.com", name: "", lists: "Customers", tags: "" },
      { key: "zoe@example.com", name: "Zoë \\ 花子", lists: "Customers", tags: "" },
    ]);
    expect(table[0].tags.split(",").sort()).toEqual(["Oslo club", "VIP"]);
    const people = readRows(made, "SELECT key, status FROM people ORDER BY key");
    expect(people[2]).toEqual({ key: "zoe@example.com", status: "active" });
    const documents = readRows(made, "SELECT doc FROM documents").map(({ doc }: { doc: string }) => doc);
    expect(`${documents.join("\n")}\n`).toBe(await readFile(join(made.folder, "contacts.ndjson"), "utf8"));
    const values = JSON.stringify(documents.map((doc: string) => JSON.parse(doc)));
    expect(values).toContain(JSON.stringify(firstName));

    // The table imports again without a mapping, and without a change.
    const printing = ["-csv", "-header", join(made.folder, "warehouse.db"), "SELECT * FROM contacts"];
    const again = await readJson(made.ecm, "import -", { stdin: execFileSync("sqlite3", printing) });
    expect(again.rows).toMatchObject({ read: 3, unchanged: 3, rejected: 0 });

    // A list is the result of a query, and is left alone when the query fails.
    sqlite(made, "shop.db", "DELETE FROM customers WHERE NOT agreed");
    expect(await made.script("sqlite-sync")).toMatchObject(done);
    const members = async () =>
      (await made.ecm("export --list Buyers -o ndjson")).stdout.split("\n").length - 1;
    expect(await members()).toBe(2);
    sqlite(made, "shop.db", "ALTER TABLE customers RENAME COLUMN last_order TO ordered_at");
    await refused(made.script("sqlite-sync"), 1, "no such column: last_order");
    expect(await members()).toBe(2);
    // In a pipe, a query that fails leaves nothing to import.
    sqlite(made, "shop.db", "DROP TABLE customers");
    await ends(made.script("sqlite-import"), 2, "empty");
  });
}, ["sqlite3"]);
