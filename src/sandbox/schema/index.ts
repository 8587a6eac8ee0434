/** The schema as ordered steps. A step that has been released is never edited: what changes comes as a further step. */
import { UsageError } from "../../errors.ts";
import type { Database } from "../database.ts";
import { accountSchema } from "./0001-account.ts";
import { contactsSchema } from "./0002-contacts.ts";
import { eventsSchema } from "./0003-events.ts";

const steps = [accountSchema, contactsSchema, eventsSchema];

/** Brings a folder of any earlier version up to date. @throws UsageError for a folder of a later version */
export function bringUpToDate(database: Database): void {
  if (versionOf(database) === steps.length) return;
  database.transaction(() => {
    const version = versionOf(database);
    if (version > steps.length) {
      throw new UsageError(
        "the sandbox's data was written by a later version of ecm",
        "update ecm, or name another folder",
      );
    }
    for (const step of steps.slice(version)) database.exec(step);
    database.exec(`PRAGMA user_version = ${steps.length}`);
  });
}

/** Makes every table anew, empty. The caller is in a transaction; to drop is far quicker than to delete. */
export function rebuild(database: Database): void {
  const tables = database.all<{ name: string }>("SELECT name FROM sqlite_schema WHERE type = 'table'");
  for (const { name } of tables) database.exec(`DROP TABLE "${name}"`);
  for (const step of steps) database.exec(step);
}

function versionOf(database: Database): number {
  return database.get<{ user_version: number }>("PRAGMA user_version")?.user_version ?? 0;
}
