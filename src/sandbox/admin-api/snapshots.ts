/** Snapshots of the account: rows of the same database, so that each is saved and loaded as a whole. */
import type { DatabaseRow } from "../database.ts";
import type { Snapshot } from "../public-types.ts";
import { invalid, notFound } from "../rules/refusal.ts";
import { noteId } from "../store/ids.ts";
import type { Store } from "../store/index.ts";
import { replaceAccount } from "../store/reset-account.ts";
import { savedTables, snapshotTable } from "../store/schema.ts";

/** By name. */
export function listSnapshots({ database }: Store): Snapshot[] {
  return database
    .all<{ name: string; saved_at: number }>("SELECT * FROM snapshots ORDER BY name")
    .map(({ name, saved_at }) => ({ name, savedAt: new Date(saved_at).toISOString() }));
}

/**
 * Saves the account under this name, over an earlier one.
 * @throws Refusal for an invalid name
 */
export function saveSnapshot(store: Store, name: string, now: number): Snapshot {
  if (typeof name !== "string" || !/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/.test(name)) {
    throw invalid("The name of a snapshot has letters, digits, '.', '_' and '-', and at most 100 of them", {
      field: "name",
    });
  }
  const { database } = store;
  return database.transaction(() => {
    deleteRows(store, name);
    for (const table of savedTables) {
      database.run(`INSERT INTO ${snapshotTable(table)} SELECT ?, * FROM ${table}`, name);
    }
    database.run("INSERT INTO snapshots VALUES (?, ?)", name, now);
    return requireSnapshot(store, name);
  });
}

/**
 * Restores the account. Usage, clock and log stay.
 * @param from the store that holds the snapshot
 * @throws Refusal 404
 */
export function loadSnapshot(store: Store, name: string, from = store): Snapshot {
  const { database } = store;
  return database.transaction(() => {
    const snapshot = requireSnapshot(from, name);
    const before = store.account.read();
    replaceAccount(store, () => {
      for (const table of savedTables) copyRows(store, table, name, from);
    });
    store.account.setUsage({
      hourEndsAt: before.hour_ends_at,
      hourUsed: before.hour_used,
      monthEndsAt: before.month_ends_at,
      monthUsed: before.month_used,
    });
    // Without a seed no id is given twice; with one, the same ids come again.
    if (store.settings.idSeed() === null) noteId(database, before.last_id);
    return snapshot;
  });
}

/** Into another database as one text: a row costs more to hand over. */
function copyRows({ database }: Store, table: string, name: string, from: Store): void {
  const columns = database
    .all<DatabaseRow>(`PRAGMA table_info(${table})`)
    .map((column) => String(column.name));
  const saved = `FROM ${snapshotTable(table)} WHERE snapshot = ?`;
  if (from.database === database) {
    database.run(`INSERT INTO ${table} SELECT ${columns.join(", ")} ${saved}`, name);
    return;
  }
  const { rows } = from.database.get<{ rows: string }>(
    `SELECT json_group_array(json_array(${columns.join(", ")})) AS rows ${saved}`,
    name,
  )!;
  const values = columns.map((_, index) => `value ->> ${index}`).join(", ");
  database.run(`INSERT INTO ${table} SELECT ${values} FROM json_each(?)`, rows);
}

/** @throws Refusal 404 */
export function removeSnapshot(store: Store, name: string): void {
  store.database.transaction(() => {
    requireSnapshot(store, name);
    deleteRows(store, name);
  });
}

function deleteRows({ database }: Store, name: string): void {
  for (const table of savedTables) {
    database.run(`DELETE FROM ${snapshotTable(table)} WHERE snapshot = ?`, name);
  }
  database.run("DELETE FROM snapshots WHERE name = ?", name);
}

function requireSnapshot(store: Store, name: string): Snapshot {
  const all = listSnapshots(store);
  const snapshot = all.find((each) => each.name === name);
  if (snapshot) return snapshot;
  const names = all.map((each) => each.name).join(", ");
  throw notFound(`Snapshot ${name}`, names === "" ? "no snapshot is saved" : `the saved ones are ${names}`);
}
