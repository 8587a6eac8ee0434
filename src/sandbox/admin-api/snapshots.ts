/** Saved states of the account: each a database file of its own below the folder, written whole or not at all. */
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { discardDatabase, discardSideFiles } from "../database.ts";
import { keptOwnKey } from "../own-key.ts";
import type { Snapshot } from "../public-types.ts";
import { invalid, notFound } from "../rules/refusal.ts";
import { accountTables, hasAccountOfToday, rebuild, versionOf } from "../schema/index.ts";
import { noteId } from "../store/ids.ts";
import type { Store } from "../store/index.ts";

const ending = ".db";
/** With the database's own files beside it. */
const unfinishedName = /\.new(-\w+)?$/;
/** In milliseconds, and many times as long as any save takes. */
const longestAtWork = 60 * 60 * 1000;
// What belongs to the moment, not to the state: it is not saved, and forgotten when a snapshot is loaded.
const ofTheMoment = ["failures", "blocks"];

// What follows from the members is counted when a snapshot is loaded: somebody may have been erased from it meanwhile.
const counted = ["totals", "milestones"];
const countTotals = `INSERT INTO main.totals
  SELECT group_id, coalesce(members, 0), revision FROM snapshot.totals
  LEFT JOIN (SELECT group_id, count(*) AS members FROM main.members GROUP BY group_id) USING (group_id)`;

/** By name. */
export function listSnapshots(store: Store): Snapshot[] {
  if (!existsSync(folderOf(store))) return [];
  return readdirSync(folderOf(store))
    .filter((file) => file.endsWith(ending))
    .sort()
    .flatMap((file) => describe(file.slice(0, -ending.length), join(folderOf(store), file)) ?? []);
}

/** Saves the account under this name, over an earlier one. @throws Refusal for a name that no file may have */
export function saveSnapshot(store: Store, name: string): Snapshot {
  const file = fileOf(store, name);
  mkdirSync(folderOf(store), { recursive: true, mode: 0o700 });
  removeUnfinished(folderOf(store), longestAtWork);
  // Another process may be saving under the same name.
  const unfinished = `${file}.${randomBytes(6).toString("hex")}.new`;
  try {
    withAttached(store, unfinished, "rwc", () =>
      store.database.transaction(() => {
        for (const table of savedTables(store)) {
          store.database.exec(`CREATE TABLE snapshot."${table}" AS SELECT * FROM main."${table}"`);
        }
        store.database.exec(`PRAGMA snapshot.user_version = ${versionOf(store.database)}`);
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
 * Makes the account what it was. The folder's own key keeps working, and what is spent of the limits stays spent.
 * @throws Refusal 404; 400 when it was saved by another version
 */
export function loadSnapshot(store: Store, name: string): Snapshot {
  const file = fileOf(store, name);
  const snapshot = describe(name, file);
  if (!snapshot) throw notFound("Snapshot");
  const { database } = store;
  withAttached(store, file, "rw", () =>
    database.transaction(() => {
      const saved = database.get<{ user_version: number }>("PRAGMA snapshot.user_version")!;
      if (!hasAccountOfToday(saved.user_version)) {
        throw invalid(`The snapshot ${name} was saved by another version of ecm`, { field: "name" });
      }
      const ownValue = keptOwnKey(store);
      const ownKey = ownValue === undefined ? undefined : store.keys.ofValue(ownValue);
      const before = store.account.read();
      const seed = store.settings.idSeed();
      const lastId = database.get<{ last_id: string }>("SELECT last_id FROM account")!.last_id;
      rebuild(database);
      // Totals are counted once, below: for each membership it would cost more than all the rest.
      const triggers = database.all<{ name: string; sql: string }>(
        "SELECT name, sql FROM main.sqlite_schema WHERE type = 'trigger'",
      );
      for (const trigger of triggers) database.exec(`DROP TRIGGER "${trigger.name}"`);
      const inSnapshot = database.all<{ name: string }>("SELECT name FROM snapshot.sqlite_schema");
      const isSaved = (table: string) => inSnapshot.some(({ name }) => name === table);
      for (const table of savedTables(store).filter((each) => !counted.includes(each) && isSaved(each))) {
        database.exec(`INSERT INTO main."${table}" SELECT * FROM snapshot."${table}"`);
      }
      database.exec(countTotals);
      for (const { sql } of triggers) database.exec(sql);
      database.run(
        "UPDATE account SET hour_ends_at = ?, hour_used = ?, month_ends_at = ?, month_used = ?, monthly_limit_revision = ?",
        before.hour_ends_at,
        before.hour_used,
        before.month_ends_at,
        before.month_used,
        before.monthly_limit_revision,
      );
      // Without a seed no id is given twice; with one, the same ids come again.
      if (seed === null) noteId(database, lastId);
      if (ownKey && ownValue !== undefined && !store.keys.ofValue(ownValue)) {
        for (const key of store.keys.all()) {
          if (key.id === ownKey.id || key.name === ownKey.name) store.keys.remove(key.id);
        }
        store.keys.add(ownKey, ownValue);
      }
    }),
  );
  return snapshot;
}

/** @throws Refusal 404 */
export function removeSnapshot(store: Store, name: string): void {
  const file = fileOf(store, name);
  if (!existsSync(file)) throw notFound("Snapshot");
  discardDatabase(file);
}

function savedTables(store: Store): string[] {
  return accountTables(store.database).filter((table) => !ofTheMoment.includes(table));
}

/** @param mode `rw`: a file that is gone, perhaps since another process has removed it, is not made anew. @throws Refusal 404 */
function withAttached(store: Store, file: string, mode: "rw" | "rwc", work: () => void): void {
  const address = `${pathToFileURL(file).href}?mode=${mode}`;
  try {
    store.database.exec(`ATTACH '${address.replaceAll("'", "''")}' AS snapshot`);
  } catch (error) {
    if (mode === "rw" && !existsSync(file)) throw notFound("Snapshot");
    throw error;
  }
  try {
    work();
  } finally {
    store.database.exec("DETACH snapshot");
  }
}

/**
 * Removes what processes left in the folder of snapshots that were killed while they saved one.
 * @param age milliseconds since it was last written: what is younger may be a save under way
 */
export function removeUnfinished(folder: string, age: number): void {
  for (const file of readdirSync(folder).filter((each) => unfinishedName.test(each))) {
    const path = join(folder, file);
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats && Date.now() - stats.mtimeMs >= age) rmSync(path, { force: true });
  }
}

/** Undefined where it is gone: another process may have removed it. */
function describe(name: string, file: string): Snapshot | undefined {
  const stats = statSync(file, { throwIfNoEntry: false });
  return stats && { name, savedAt: stats.mtime.toISOString(), bytes: stats.size };
}

function folderOf(store: Store): string {
  return join(store.folder, "snapshots");
}

function fileOf(store: Store, name: string): string {
  if (typeof name !== "string" || !/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/.test(name)) {
    throw invalid("The name of a snapshot has letters, digits, '.', '_' and '-', and at most 100 of them", {
      field: "name",
    });
  }
  return join(folderOf(store), `${name}${ending}`);
}
