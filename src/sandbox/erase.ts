/**
 * Erasing a person from the embedded service's database: contacts, their events, the log of requests, and
 * snapshots.
 */
import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { type EcmError, failedError } from "../errors.ts";
import { type Database, openDatabase } from "./database.ts";
import { foldKey } from "./store/contacts.ts";
import { databaseFile } from "./store/index.ts";
import { createTables, snapshotTable } from "./store/schema.ts";

/** The text with the keys masked; undefined where none of them is in it. */
export type Mask = (text: string) => string | undefined;

interface Person {
  keys: readonly string[];
  mask: Mask;
}

const maxWaitMilliseconds = 10_000;

/**
 * Deletes the contacts with these keys, masks the keys in every other text, empties the log of requests, and
 * gives the freed pages back, so that the bytes are gone from the disk too. Does nothing where no sandbox was
 * ever opened.
 * @returns how many databases held one of the keys: 1, or none
 */
export async function eraseFromSandbox(folder: string, keys: readonly string[], mask: Mask): Promise<number> {
  const file = databaseFile(folder);
  if (!existsSync(file)) return 0;
  const database = await openDatabase(file);
  try {
    createTables(database, folder);
    const tables = listTables(database).filter((name) => !tablesOfIds.includes(name));
    const changes = database.transaction(() => {
      let changes = removeContacts(database, { keys, mask });
      for (const table of tables) changes += maskTexts(database, table, mask);
      // Requests may name the person by an id alone.
      if (changes > 0) database.run("DELETE FROM requests");
      return changes;
    });
    // Also where nothing was found: a process that was killed may have deleted without doing so.
    database.exec("VACUUM");
    await emptyWriteAheadLog(database, file);
    requireGone(database, tables, file, mask);
    return changes > 0 ? 1 : 0;
  } finally {
    database.close();
  }
}

const tablesOfIds = ["members", snapshotTable("members"), "api_keys", snapshotTable("api_keys")];

/** Moves what the write-ahead log holds into the database. @throws EcmError while another process reads on */
async function emptyWriteAheadLog(database: Database, file: string): Promise<void> {
  for (const began = performance.now(); ; ) {
    const [{ busy } = { busy: 0 }] = database.all<{ busy: number }>("PRAGMA wal_checkpoint(TRUNCATE)");
    if (busy === 0) return;
    if (performance.now() - began > maxWaitMilliseconds) {
      throw incomplete(`Another process keeps ${file} busy, whose log may still contain the address`);
    }
    await sleep(50);
  }
}

/**
 * Asks the database itself: to open its file a second time in this process would end its locks.
 * @throws EcmError
 */
function requireGone(database: Database, tables: readonly string[], file: string, mask: Mask): void {
  const holds = (value: unknown) => typeof value === "string" && mask(value) !== undefined;
  for (const table of tables) {
    if (!database.all(`SELECT * FROM "${table}"`).some((row) => Object.values(row).some(holds))) continue;
    throw incomplete(`${file} still contains the address`);
  }
}

function incomplete(message: string): EcmError {
  return failedError(message, "A running sandbox may be writing: stop it, then run the same command again", {
    type: "ErasureIncompleteError",
    retryable: true,
  });
}

/** From the account and from its snapshots. */
function removeContacts(database: Database, { keys, mask }: Person): number {
  const folded = keys.map(foldKey);
  let changes = 0;
  for (const nameOf of [(table: string) => table, snapshotTable]) {
    const [contacts, members] = [nameOf("contacts"), nameOf("members")];
    const all = database.all<{ id: string; folded_key: string; key: string }>(
      `SELECT DISTINCT id, folded_key, contact ->> 'key' AS key FROM ${contacts}`,
    );
    for (const { id, folded_key, key } of all) {
      if (!folded.includes(folded_key) && mask(key) === undefined) continue;
      database.run(`DELETE FROM ${members} WHERE contact_id = ?`, id);
      changes += database.run(`DELETE FROM ${contacts} WHERE id = ?`, id).changes;
    }
  }
  return changes;
}

/** Finds a row by all its values: not every table has row numbers. */
function maskTexts(database: Database, table: string, mask: Mask): number {
  let changes = 0;
  for (const row of database.all(`SELECT * FROM "${table}"`)) {
    const masked = Object.entries(row).flatMap(([column, value]): [string, string][] => {
      const text = typeof value === "string" ? mask(value) : undefined;
      return text === undefined ? [] : [[column, text]];
    });
    if (masked.length === 0) continue;
    const set = masked.map(([column]) => `"${column}" = ?`).join(", ");
    const where = Object.keys(row)
      .map((column) => `"${column}" IS ?`)
      .join(" AND ");
    const values = [...masked.map(([, text]) => text), ...Object.values(row)];
    changes += database.run(`UPDATE "${table}" SET ${set} WHERE ${where}`, ...values).changes;
  }
  return changes;
}

function listTables(database: Database): string[] {
  return database
    .all<{ name: string }>("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    .map(({ name }) => name);
}
