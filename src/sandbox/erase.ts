/** Taking a person out of the embedded service's files, as their owner: contacts, what happened to them, saved states. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { EcmError, exitCodes } from "../errors.ts";
import { removeUnfinished } from "./admin-api/snapshots.ts";
import { type Database, openDatabase } from "./database.ts";
import { bringUpToDate } from "./schema/index.ts";
import { foldKey } from "./store/contacts.ts";
import { delayMilliseconds } from "./store/request-log.ts";
import type { KeptRequest } from "./store/waiting-requests.ts";

/** The masking of a key in any text, both as it is; undefined where the key is not in it. */
export type Mask = (text: string) => string | undefined;

/**
 * Deletes the contacts with these keys, masks the keys in every other text, and gives the freed pages back, so that the bytes
 * are gone from the disk too. Does nothing where no sandbox was ever opened.
 * @returns how many databases held one of the keys
 */
export async function eraseFromSandbox(folder: string, keys: readonly string[], mask: Mask): Promise<number> {
  const saved = join(folder, "snapshots");
  if (existsSync(saved)) removeUnfinished(saved, 0);
  const snapshots = existsSync(saved) ? readdirSync(saved).filter((name) => name.endsWith(".db")) : [];
  const main = join(folder, "sandbox.db");
  // The requests that looked the person up may still wait to be logged, by other processes and by this one.
  if (existsSync(main)) await sleep(4 * delayMilliseconds);
  let erased = 0;
  for (const file of [main, ...snapshots.map((name) => join(saved, name))]) {
    if (!existsSync(file)) continue;
    const database = await openDatabase(file, file === main ? "WAL" : "DELETE");
    erased += Number(await eraseFromDatabase({ database, file }, keys, mask));
  }
  return erased;
}

function tablesOf(database: Database): string[] {
  return database
    .all<{ name: string }>("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    .map(({ name }) => name);
}

const idsOnly = ["members", "totals", "milestones", "api_keys"];

async function eraseFromDatabase(
  { database, file }: { database: Database; file: string },
  keys: readonly string[],
  mask: Mask,
): Promise<boolean> {
  try {
    // As earlier versions kept the log.
    if (tablesOf(database).includes("requests")) bringUpToDate(database);
    const tables = tablesOf(database).filter((name) => !idsOnly.includes(name));
    const changed = database.transaction(() => {
      let changes = 0;
      if (tables.includes("contacts")) changes += removeContacts(database, keys, mask);
      if (tables.includes("request_batches")) changes += removeRequests(database, mask);
      for (const table of tables) changes += maskTexts(database, table, mask);
      return changes;
    });
    // Also after a kill between the two: what was deleted may still stand in free pages.
    database.exec("VACUUM");
    await emptyLog(database, file);
    requireGone(database, tables, file, mask);
    return changed > 0;
  } finally {
    database.close();
  }
}

const longestWait = 10_000;

/** What the write-ahead log held is in the database, and the log is empty. @throws EcmError while another process reads on */
async function emptyLog(database: Database, file: string): Promise<void> {
  for (const began = performance.now(); ; ) {
    const [{ busy } = { busy: 0 }] = database.all<{ busy: number }>("PRAGMA wal_checkpoint(TRUNCATE)");
    if (busy === 0) return;
    if (performance.now() - began > longestWait) {
      throw incomplete(`Another process keeps ${file} busy, whose log may still contain the address`);
    }
    await sleep(50);
  }
}

/**
 * Asks the database itself: a file that it has open must not be opened beside it, which would end its locks.
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
  return new EcmError(exitCodes.failed, message, {
    type: "ErasureIncompleteError",
    retryable: true,
    hint: "A running sandbox may be writing: stop it, then run the same command again",
  });
}

function removeContacts(database: Database, keys: readonly string[], mask: Mask): number {
  const folded = keys.map(foldKey);
  const isTheirs = (key: string) => folded.includes(foldKey(key)) || mask(key) !== undefined;
  let changes = 0;
  for (const { id, key } of database.all<{ id: string; key: string }>("SELECT id, key FROM contacts")) {
    if (!isTheirs(key)) continue;
    database.run("DELETE FROM members WHERE contact_id = ?", id);
    changes += database.run("DELETE FROM contacts WHERE id = ?", id).changes;
  }
  return changes;
}

/** Requests that speak of the person, by a key or by an id that an answer gave for one. */
function removeRequests(database: Database, mask: Mask): number {
  const batches = database
    .all<{ last: number; entries: string }>("SELECT last, entries FROM request_batches")
    .map(({ last, entries }) => ({ last, requests: JSON.parse(entries) as (KeptRequest | null)[] }));
  const ids = new Set(
    batches.flatMap(({ requests }) => requests.flatMap(textsOf).flatMap((text) => idsIn(text, mask))),
  );
  const isTheirs = (request: KeptRequest | null) =>
    textsOf(request).some((text) => mask(text) !== undefined || [...ids].some((id) => text.includes(id)));
  let changes = 0;
  for (const { last, requests } of batches) {
    const kept = requests.map((request) => (isTheirs(request) ? null : request));
    const removed = kept.filter((request, index) => request !== requests[index]).length;
    if (removed === 0) continue;
    database.run("UPDATE request_batches SET entries = ? WHERE last = ?", JSON.stringify(kept), last);
    changes += removed;
  }
  return changes;
}

/** Each text of its own, and the answer as JSON. */
function textsOf(request: KeptRequest | null): string[] {
  if (!request) return [];
  const [parts, answer] = request;
  const texts = parts.filter((value) => typeof value === "string");
  return answer === null ? texts : [...texts, JSON.stringify(answer)];
}

/** Ids that stand beside a key of the person. */
function idsIn(json: string, mask: Mask): string[] {
  if (mask(json) === undefined) return [];
  const ids: string[] = [];
  try {
    JSON.parse(json, (_name, value: unknown) => {
      const { _id, key } = (value ?? {}) as { _id?: unknown; key?: unknown };
      if (typeof _id === "string" && typeof key === "string" && mask(key) !== undefined) ids.push(_id);
      return value;
    });
  } catch {
    // No JSON: then it names no id.
  }
  return ids;
}

/** A row is named by all its values: tables without a row number have nothing else in common. */
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
