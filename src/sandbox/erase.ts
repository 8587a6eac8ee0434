/** Taking a person out of the embedded service's files, as their owner: contacts, what happened to them, saved states. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { openDatabase } from "./database.ts";
import { foldKey } from "./store/contacts.ts";
import { delayMilliseconds, longestWaitMilliseconds } from "./store/request-log.ts";

/** The masking of a key in any text, both as it is; undefined where the key is not in it. */
export type Mask = (text: string) => string | undefined;

/**
 * Deletes the contacts with these keys, masks the keys in every other text, and gives the freed pages back, so that the bytes
 * are gone from the disk too. Does nothing where no sandbox was ever opened.
 * @returns how many databases held one of the keys
 */
export async function eraseFromSandbox(folder: string, keys: readonly string[], mask: Mask): Promise<number> {
  const saved = join(folder, "snapshots");
  const snapshots = existsSync(saved) ? readdirSync(saved).filter((name) => name.endsWith(".db")) : [];
  const files = [join(folder, "sandbox.db"), ...snapshots.map((name) => join(saved, name))];
  if (existsSync(files[0]!)) await untilLogged(files[0]!);
  let erased = 0;
  for (const file of files) if (existsSync(file)) erased += Number(await eraseFromDatabase(file, keys, mask));
  return erased;
}

/** The requests that looked the person up may still wait to be logged, by other processes and by this one. */
async function untilLogged(file: string): Promise<void> {
  const database = await openDatabase(file);
  try {
    // A sandbox that was last used by an older version has no log, and nobody who writes one.
    const hasLog = database.get("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'requests'");
    const last = () => database.get<{ n: number | null }>("SELECT max(n) AS n FROM requests")!.n;
    const pause = 4 * delayMilliseconds;
    for (let waited = 0; hasLog && waited <= longestWaitMilliseconds; waited += pause) {
      const before = last();
      await sleep(pause);
      if (last() === before) return;
    }
  } finally {
    database.close();
  }
}

const idsOnly = ["members", "totals", "milestones", "api_keys"];

async function eraseFromDatabase(file: string, keys: readonly string[], mask: Mask): Promise<boolean> {
  const database = await openDatabase(file);
  try {
    const tables = database
      .all<{ name: string }>(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
      )
      .map(({ name }) => name)
      .filter((name) => !idsOnly.includes(name));
    const changed = database.transaction(() => {
      let changes = 0;
      if (tables.includes("contacts")) changes += removeContacts();
      if (tables.includes("requests")) changes += removeRequests();
      for (const table of tables) changes += maskTexts(table);
      return changes;
    });
    // Also after a kill between the two: what was deleted may still stand in free pages.
    database.exec("VACUUM");
    database.all("PRAGMA wal_checkpoint(TRUNCATE)");
    return changed > 0;
  } finally {
    database.close();
  }

  function removeContacts(): number {
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
  function removeRequests(): number {
    const rows = database.all<Record<string, string | number | null>>("SELECT * FROM requests");
    const ids = new Set(rows.flatMap(({ answer, body }) => [...idsIn(answer), ...idsIn(body)]));
    let changes = 0;
    for (const row of rows) {
      const texts = Object.values(row).filter((value) => typeof value === "string");
      const isTheirs = texts.some(
        (text) => mask(text) !== undefined || [...ids].some((id) => text.includes(id)),
      );
      if (isTheirs) changes += database.run("DELETE FROM requests WHERE n = ?", row.n!).changes;
    }
    return changes;
  }

  function idsIn(json: string | number | null | undefined): string[] {
    if (typeof json !== "string" || mask(json) === undefined) return [];
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
  function maskTexts(table: string): number {
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
}
