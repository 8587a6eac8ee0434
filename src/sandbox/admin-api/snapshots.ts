/**
 * Snapshots of the account: each is a database file of its own in the folder, written whole or not at all.
 */
import { randomBytes } from "node:crypto";
import { existsSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { makeFolder } from "../../disk/make-folder.ts";
import { type Database, discardDatabase, discardSideFiles } from "../database.ts";
import type { Snapshot } from "../public-types.ts";
import { invalid, notFound, type Refusal } from "../rules/refusal.ts";
import { noteId } from "../store/ids.ts";
import type { Store } from "../store/index.ts";
import type { StoredKey } from "../store/keys.ts";
import { accountTables, emptyAccountTables, isLoadable, markSnapshot } from "../store/schema.ts";

const ending = ".db";
/** Matches its journal too. */
const unfinishedName = /\.new(-\w+)?$/;
/** In milliseconds, and many times as long as any save takes. */
const maxSaveMilliseconds = 60 * 60 * 1000;
const maxAttempts = 3;
// They are not saved, and are empty after a snapshot was loaded: who failed to log in is no part of the
// account's state.
const transientTables = ["failures", "blocks"];

// Totals are counted when a snapshot is loaded: a person may have been erased from it meanwhile.
const derivedTables = ["totals"];
const countTotals = `INSERT INTO main.totals
  SELECT group_id, coalesce(members, 0), revision FROM snapshot.totals
  LEFT JOIN (SELECT group_id, count(*) AS members FROM main.members GROUP BY group_id) USING (group_id)`;

/** By name. */
export function listSnapshots(store: Store): Snapshot[] {
  if (!existsSync(snapshotFolder(store))) return [];
  return readdirSync(snapshotFolder(store))
    .filter((file) => file.endsWith(ending))
    .sort()
    .flatMap((file) => describe(file.slice(0, -ending.length), join(snapshotFolder(store), file)) ?? []);
}

/**
 * Saves the account under this name, over an earlier one.
 * @throws Refusal for a name that no file may have
 */
export function saveSnapshot(store: Store, name: string): Snapshot {
  const file = snapshotFile(store, name);
  makeFolder(snapshotFolder(store));
  removeUnfinished(snapshotFolder(store), maxSaveMilliseconds);
  for (let attempt = 1; ; attempt++) {
    try {
      return saveTo(store, name, file);
    } catch (error) {
      // An erasure in another process removes what is unfinished: it may hold the person.
      if ((error as NodeJS.ErrnoException).code !== "ENOENT" || attempt === maxAttempts) throw error;
    }
  }
}

function saveTo(store: Store, name: string, file: string): Snapshot {
  // Another process may be saving under the same name.
  const unfinished = `${file}.${randomBytes(6).toString("hex")}.new`;
  try {
    withAttached(store, unfinished, "rwc", () =>
      store.database.transaction(() => {
        for (const table of savedTables(store)) {
          store.database.exec(`CREATE TABLE snapshot."${table}" AS SELECT * FROM main."${table}"`);
        }
        markSnapshot(store.database);
      }),
    );
    const saved = describe(name, unfinished)!;
    discardSideFiles(file);
    renameSync(unfinished, file);
    return saved;
  } finally {
    rmSync(unfinished, { force: true });
  }
}

/**
 * Restores the account. The folder's own key keeps working, and what is used of the limits stays used.
 * @param source the account whose snapshot it is
 * @throws Refusal 404; 400 when it was saved by another version
 */
export function loadSnapshot(store: Store, name: string, source = store): Snapshot {
  const file = snapshotFile(source, name);
  const snapshot = describe(name, file);
  if (!snapshot) throw missingSnapshot(source, name);
  try {
    withAttached(store, file, "rw", () =>
      store.database.transaction(() => {
        requireLoadable(store.database, name);
        replaceAccount(store);
      }),
    );
  } catch (error) {
    // Perhaps another process has removed it meanwhile.
    throw existsSync(file) ? error : missingSnapshot(source, name);
  }
  return snapshot;
}

function requireLoadable(database: Database, name: string): void {
  if (isLoadable(database)) return;
  throw invalid(`The snapshot ${name} was saved by another version of ecm`, { field: "name" });
}

/** Puts the attached snapshot in the place of the account. The caller is in a transaction. */
function replaceAccount(store: Store): void {
  const { database } = store;
  const ownValue = store.ownKey.read();
  const ownKey = ownValue === undefined ? undefined : store.keys.findByValue(ownValue);
  const before = store.account.read();
  emptyAccountTables(database);
  copyTables(store);
  database.run(
    "UPDATE account SET hour_ends_at = ?, hour_used = ?, month_ends_at = ?, month_used = ?, monthly_limit_revision = ?",
    before.hour_ends_at,
    before.hour_used,
    before.month_ends_at,
    before.month_used,
    before.monthly_limit_revision,
  );
  // Without a seed no id is given twice; with one, the same ids come again.
  if (store.settings.idSeed() === null) noteId(database, before.last_id);
  if (ownKey && ownValue !== undefined) keepOwnKey(store, ownKey, ownValue);
}

/**
 * Copies the tables; totals are counted once at the end: for each membership it would cost
 * more than all the rest.
 */
function copyTables(store: Store): void {
  const { database } = store;
  const triggers = database.all<{ name: string; sql: string }>(
    "SELECT name, sql FROM main.sqlite_schema WHERE type = 'trigger'",
  );
  for (const { name } of triggers) database.exec(`DROP TRIGGER "${name}"`);
  for (const table of savedTables(store)) {
    if (derivedTables.includes(table)) continue;
    database.exec(`INSERT INTO main."${table}" SELECT * FROM snapshot."${table}"`);
  }
  database.exec(countTotals);
  for (const { sql } of triggers) database.exec(sql);
}

function keepOwnKey(store: Store, ownKey: StoredKey, value: string): void {
  if (store.keys.findByValue(value)) return;
  for (const key of store.keys.all()) {
    if (key.id === ownKey.id || key.name === ownKey.name) store.keys.remove(key.id);
  }
  store.keys.add(ownKey, value);
}

/** @throws Refusal 404 */
export function removeSnapshot(store: Store, name: string): void {
  const file = snapshotFile(store, name);
  if (!existsSync(file)) throw missingSnapshot(store, name);
  discardDatabase(file);
}

function missingSnapshot(store: Store, name: string): Refusal {
  const names = listSnapshots(store).map((snapshot) => snapshot.name);
  const saved = names.length === 0 ? "no snapshot is saved" : `the saved ones are ${names.join(", ")}`;
  return notFound(`Snapshot ${name}`, saved);
}

function savedTables(store: Store): string[] {
  return accountTables(store.database).filter((table) => !transientTables.includes(table));
}

/** @param mode `rw`: a file that is gone is not made anew */
function withAttached(store: Store, file: string, mode: "rw" | "rwc", work: () => void): void {
  const address = `${pathToFileURL(file).href}?mode=${mode}`;
  store.database.exec(`ATTACH '${address.replaceAll("'", "''")}' AS snapshot`);
  try {
    work();
  } finally {
    store.database.exec("DETACH snapshot");
  }
}

/**
 * Removes what was left in the folder of snapshots by processes that were killed while they saved one.
 * @param minAge milliseconds since it was last written: what is younger may be a save under way. Default:
 *   whatever its age
 */
export function removeUnfinished(folder: string, minAge?: number): void {
  for (const file of readdirSync(folder).filter((each) => unfinishedName.test(each))) {
    const path = join(folder, file);
    const stats = statSync(path, { throwIfNoEntry: false });
    const isOld = stats && (minAge === undefined || Date.now() - stats.mtimeMs >= minAge);
    if (isOld) rmSync(path, { force: true });
  }
}

/** Undefined where it is gone: another process may have removed it. */
function describe(name: string, file: string): Snapshot | undefined {
  const stats = statSync(file, { throwIfNoEntry: false });
  return stats && { name, savedAt: stats.mtime.toISOString(), bytes: stats.size };
}

function snapshotFolder(store: Store): string {
  return join(store.folder, "snapshots");
}

function snapshotFile(store: Store, name: string): string {
  if (typeof name !== "string" || !/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/.test(name)) {
    throw invalid("The name of a snapshot has letters, digits, '.', '_' and '-', and at most 100 of them", {
      field: "name",
    });
  }
  return join(snapshotFolder(store), `${name}${ending}`);
}
