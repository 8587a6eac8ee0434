/** What the embedded service's files hold of a person. Nothing is written. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { type Database, type DatabaseRow, openDatabase } from "./database.ts";
import { foldKey } from "./store/contacts.ts";

export interface SandboxRecords {
  file: string;
  /** As they are stored. */
  contacts: DatabaseRow[];
  /** Rows of other tables, such as logged requests, in which a key is found; by table. */
  mentions: Record<string, number>;
}

/** @param holds whether a text holds one of the keys */
export async function readFromSandbox(
  folder: string,
  keys: readonly string[],
  holds: (text: string) => boolean,
): Promise<SandboxRecords[]> {
  const found: SandboxRecords[] = [];
  for (const { file, isSnapshot } of listDatabases(folder)) {
    const database = await openDatabase(file, isSnapshot ? "DELETE" : "WAL");
    try {
      const records = { file, ...readDatabase(database, keys, holds) };
      if (records.contacts.length > 0 || Object.keys(records.mentions).length > 0) found.push(records);
    } finally {
      database.close();
    }
  }
  return found;
}

/** The account first. */
export function listDatabases(folder: string): { file: string; isSnapshot: boolean }[] {
  const main = join(folder, "sandbox.db");
  const snapshots = join(folder, "snapshots");
  const saved = existsSync(snapshots) ? readdirSync(snapshots).filter((name) => name.endsWith(".db")) : [];
  return [
    ...(existsSync(main) ? [{ file: main, isSnapshot: false }] : []),
    ...saved.map((name) => ({ file: join(snapshots, name), isSnapshot: true })),
  ];
}

function readDatabase(
  database: Database,
  keys: readonly string[],
  holds: (text: string) => boolean,
): Omit<SandboxRecords, "file"> {
  const folded = keys.map(foldKey);
  const isPerson = ({ key }: DatabaseRow) =>
    typeof key === "string" && (folded.includes(foldKey(key)) || holds(key));
  const contacts: DatabaseRow[] = [];
  const mentions: Record<string, number> = {};
  for (const table of listTables(database)) {
    for (const row of database.all(`SELECT * FROM "${table}"`)) {
      if (!Object.values(row).some((value) => typeof value === "string" && holds(value))) continue;
      if (table === "contacts" && isPerson(row)) contacts.push(row);
      else mentions[table] = (mentions[table] ?? 0) + 1;
    }
  }
  return { contacts, mentions };
}

export function listTables(database: Database): string[] {
  return database
    .all<{ name: string }>("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    .map(({ name }) => name);
}
