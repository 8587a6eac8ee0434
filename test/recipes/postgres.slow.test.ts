/** The scripts of docs/databases.md for PostgreSQL, as they stand there, with a server of their own. */
import { execFileSync } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { readJson, refused } from "../support/ecm.ts";
import { startPostgres } from "../support/postgres.ts";
import { machine, recipe } from "./kit.ts";

const firstName = 'Ada, "the" first\nline \\ two';
const shop = `
  CREATE TABLE customers (email text, first_name text, agreed boolean, tags text[]);
  INSERT INTO customers VALUES
    ('ada@example.com', E'Ada, "the" first\\nline \\\\ two', true, '{VIP,Oslo club}'),
    ('bob@example.com', NULL, true, NULL),
    ('zoe@example.com', 'Zoë 花子', true, '{}'),
    ('eve@example.com', 'Eve', false, NULL);
`;

recipe("PostgreSQL", () => {
  it("goes into the account by a query, and comes back as documents", async () => {
    const { env: server } = await startPostgres();
    const { folder, script, ecm } = await machine();
    const psql = (sql: string) =>
      execFileSync("psql", ["-X", "-q", "-At", "-v", "ON_ERROR_STOP=1", "-c", sql], {
        env: { ...process.env, ...server },
        encoding: "utf8",
      });
    psql(shop);
    expect(await script("postgres-import", server)).toMatchObject({ code: 0, stdout: "" });
    for (let round = 0; round < 2; round++)
      expect(await script("postgres-documents", server)).toMatchObject({ code: 0, stdout: "" });
    const active = "SELECT doc ->> 'key' FROM contacts WHERE doc ->> 'contactStatus' = 'active' ORDER BY 1";
    expect(psql(active)).toBe("ada@example.com\nbob@example.com\nzoe@example.com\n");
    const lines = (await readFile(join(folder, "contacts.ndjson"), "utf8")).trim().split("\n");
    const documents = psql("SELECT doc FROM contacts").trim().split("\n");
    expect(documents.map((each) => JSON.parse(each))).toEqual(lines.map((each) => JSON.parse(each)));
    const [ada] = lines.map((each) => JSON.parse(each)).filter(({ key }) => key === "ada@example.com");
    expect(ada.fields.map(({ value }: { value: string }) => value)).toEqual([firstName]);
    expect(ada.tags).toHaveLength(2);

    const agreed = `SELECT email AS "Email", first_name AS "First Name" FROM customers WHERE agreed`;
    const stdin = psql(`SELECT row_to_json(c) FROM (${agreed}) c`);
    const { rows } = await readJson(ecm, "import -", { stdin });
    expect(rows).toMatchObject({ read: 3, unchanged: 3, rejected: 0 });

    psql("DROP TABLE customers");
    await refused(script("postgres-import", server), 2, 'relation "customers" does not exist');
    expect(await readdir(folder)).toContain("contacts.ndjson");
  });
}, ["psql", "initdb", "pg_ctl"]);
