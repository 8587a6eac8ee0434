/**
 * The schema as ordered migrations. One that has been released is
 * never edited: what changes comes as a further one.
 */
import { UsageError } from "../../errors.ts";
import type { Database } from "../database.ts";
import { accountSchema } from "./0001-account.ts";
import { contactsSchema } from "./0002-contacts.ts";
import { eventsSchema } from "./0003-events.ts";
import { sandboxSchema } from "./0004-sandbox.ts";
import { keyCaseSchema } from "./0005-key-case.ts";
import { requestBatchesSchema } from "./0006-request-batches.ts";
import { frozenClockSchema } from "./0007-frozen-clock.ts";
import { requestRowsSchema } from "./0008-request-rows.ts";
import { noMilestonesSchema } from "./0009-no-milestones.ts";
import { campaignsSchema } from "./0010-campaigns.ts";

interface Migration {
  sql: string;
  /**
   * Whether a snapshot that was saved before it cannot be loaded after it. A new table alone is no reason.
   */
  changesSnapshots: boolean;
}

const migrations: Migration[] = [
  { sql: accountSchema, changesSnapshots: true },
  { sql: contactsSchema, changesSnapshots: true },
  { sql: eventsSchema, changesSnapshots: true },
  { sql: sandboxSchema, changesSnapshots: false },
  { sql: keyCaseSchema, changesSnapshots: true },
  { sql: requestBatchesSchema, changesSnapshots: false },
  { sql: frozenClockSchema, changesSnapshots: false },
  { sql: requestRowsSchema, changesSnapshots: false },
  { sql: noMilestonesSchema, changesSnapshots: false },
  { sql: campaignsSchema, changesSnapshots: false },
];
/** They belong to the sandbox itself: they stay when the account is emptied or replaced. */
const sandboxTables = ["settings", "requests"];

/** Brings a folder of any earlier version up to date. @throws UsageError for a folder of a later version */
export function migrate(database: Database): void {
  if (schemaVersion(database) === migrations.length) return;
  database.transaction(() => {
    const version = schemaVersion(database);
    if (version > migrations.length) {
      throw new UsageError(
        "The sandbox's data was written by a newer version of ecm",
        "Update ecm, or name another folder with --data",
      );
    }
    for (const { sql } of migrations.slice(version)) database.exec(sql);
    database.exec(`PRAGMA user_version = ${migrations.length}`);
  });
}

/**
 * Gives a new database the tables of one that is up to date: several times as
 * quick as every migration again.
 */
export function copySchema(from: Database, to: Database): void {
  const definitions = from.all<{ sql: string }>(
    `SELECT sql FROM main.sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
      ORDER BY type <> 'table', rowid`,
  );
  const statements = [
    ...definitions.map(({ sql }) => sql),
    "INSERT INTO settings (only, log_id) VALUES (1, lower(hex(randomblob(8))))",
    "INSERT INTO sqlite_sequence VALUES ('requests', 0)",
    `PRAGMA user_version = ${migrations.length}`,
  ];
  to.transaction(() => to.exec(statements.join(";\n")));
}

/** Empties the tables of an account that holds next to nothing. The caller is in a transaction. */
export function emptyAccountTables(database: Database): void {
  database.exec(
    accountTables(database)
      .map((name) => `DELETE FROM "${name}"`)
      .join(";\n"),
  );
}

/**
 * Empties every table of the account. The caller is in a transaction; to drop a table is far quicker than to
 * delete its rows.
 */
export function recreateAccountTables(database: Database): void {
  const tables = accountTables(database);
  const definitions = database.all<{ sql: string }>(
    `SELECT sql FROM main.sqlite_schema WHERE sql IS NOT NULL AND tbl_name IN (SELECT value FROM json_each(?))
      ORDER BY type <> 'table', rowid`,
    JSON.stringify(tables),
  );
  const statements = [...tables.map((name) => `DROP TABLE "${name}"`), ...definitions.map(({ sql }) => sql)];
  database.exec(statements.join(";\n"));
}

/**
 * All tables but those of the sandbox itself and of the database.
 * @param schema that of an attached file, such as a snapshot
 */
export function accountTables(database: Database, schema: "main" | "snapshot" = "main"): string[] {
  return database
    .all<{ name: string }>(
      `SELECT name FROM ${schema}.sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'`,
    )
    .map((table) => table.name)
    .filter((name) => !sandboxTables.includes(name));
}

/** How many migrations the database has had. */
export function schemaVersion(database: Database): number {
  return database.get<{ user_version: number }>("PRAGMA user_version")?.user_version ?? 0;
}

/** Whether a snapshot of that version can be loaded today. */
export function isLoadable(version: number): boolean {
  return (
    version <= migrations.length &&
    migrations.slice(version).every(({ changesSnapshots }) => !changesSnapshots)
  );
}
