/** The schema as ordered steps. A step that has been released is never edited: what changes comes as a further step. */
import { UsageError } from "../../errors.ts";
import type { Database } from "../database.ts";
import { accountSchema } from "./0001-account.ts";
import { contactsSchema } from "./0002-contacts.ts";
import { eventsSchema } from "./0003-events.ts";
import { sandboxSchema } from "./0004-sandbox.ts";
import { keyCaseSchema } from "./0005-key-case.ts";
import { requestBatchesSchema } from "./0006-request-batches.ts";
import { frozenClockSchema } from "./0007-frozen-clock.ts";
import { campaignsSchema } from "./0008-campaigns.ts";

const steps = [
  accountSchema,
  contactsSchema,
  eventsSchema,
  sandboxSchema,
  keyCaseSchema,
  requestBatchesSchema,
  frozenClockSchema,
  campaignsSchema,
];
const stepsOfTheSandbox = [sandboxSchema, requestBatchesSchema, frozenClockSchema];
/** They leave the tables of before as they were: a snapshot without theirs is one in which they are empty. */
const stepsThatAddTables = [campaignsSchema];
const sandboxTables = ["settings", "request_batches"];

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

/**
 * Makes every table of the account anew, empty; those of the sandbox itself stay. The caller is in a transaction; to drop
 * is far quicker than to delete.
 */
export function rebuild(database: Database): void {
  for (const table of accountTables(database)) database.exec(`DROP TABLE "${table}"`);
  for (const step of steps) if (!stepsOfTheSandbox.includes(step)) database.exec(step);
}

/** All tables but those of the sandbox itself. */
export function accountTables(database: Database): string[] {
  return database
    .all<{ name: string }>("SELECT name FROM main.sqlite_schema WHERE type = 'table'")
    .map((table) => table.name)
    .filter((name) => !sandboxTables.includes(name));
}

/** How many steps the database has had. */
export function versionOf(database: Database): number {
  return database.get<{ user_version: number }>("PRAGMA user_version")?.user_version ?? 0;
}

/**
 * Whether the account's tables of a database of that version are as they are today; the sandbox's own may have changed since, and
 * others may have come.
 */
export function hasAccountOfToday(version: number): boolean {
  const harmless = [...stepsOfTheSandbox, ...stepsThatAddTables];
  return version <= steps.length && steps.slice(version).every((step) => harmless.includes(step));
}
