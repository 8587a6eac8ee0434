/** Everything that the sandbox keeps, in one file of its folder. */
import { join } from "node:path";
import { createIfMissing } from "../../disk/atomic-file.ts";
import { describeDiskError } from "../../disk/disk-errors.ts";
import { makeFolder } from "../../disk/make-folder.ts";
import { usageError } from "../../errors.ts";
import type { Clock } from "../../wire.ts";
import { type Database, discardDatabase, findDamage, openDatabase, openMemoryDatabase } from "../database.ts";
import { AccountStore, SettingsStore } from "./account.ts";
import { ContactStore, UnseenWrites } from "./contacts.ts";
import { openDocuments } from "./documents.ts";
import { EventStore } from "./events.ts";
import { firstId, idsAfter } from "./ids.ts";
import { KeyStore, type OwnKeyPlace, ownKeyInFolder, ownKeyInMemory } from "./keys.ts";
import { RequestLog } from "./request-log.ts";
import { createTables, unreadableDataError } from "./schema.ts";
import { ContactSearch } from "./search.ts";

export interface Store extends ReturnType<typeof openDocuments> {
  ownKey: OwnKeyPlace;
  database: Database;
  account: AccountStore;
  keys: KeyStore;
  contacts: ContactStore;
  events: EventStore;
  search: ContactSearch;
  settings: SettingsStore;
  requests: RequestLog;
  /** New ids, each greater than all before. @param now milliseconds since the epoch */
  newIds(now: number, count: number): string[];
}

/**
 * Opens the folder, which only its owner can read; a new one gets an account with its default structure.
 * @param options `region`: two letters for new keys; default: what the folder has, else `us`. `seed`: ids of
 *   a new folder, and of every folder after a reset, are the same for the same seed
 * @throws UsageError when the folder cannot be used, or its data cannot be read
 */
export async function openStore(
  folder: string,
  now: number,
  { region, seed }: NewAccount = {},
): Promise<Store> {
  const file = await makePrivateFile(folder);
  let database: Database | undefined;
  try {
    database = await openDatabase(file);
    createTables(database, folder);
    return prepareStore(database, ownKeyInFolder(folder), now, { region, seed });
  } catch (error) {
    database?.close();
    const damage = findDamage(error);
    if (damage === undefined) throw error;
    throw unreadableDataError(folder, `is damaged: ${damage}`, "damaged", error);
  }
}

/** A store of this process alone, with a new account. */
export async function openMemoryStore(now: number, options: NewAccount): Promise<Store> {
  const database = await openMemoryDatabase();
  createTables(database, "");
  return prepareStore(database, ownKeyInMemory(), now, options);
}

interface NewAccount {
  region?: string;
  seed?: number;
}

function prepareStore(
  database: Database,
  ownKey: OwnKeyPlace,
  now: number,
  { region, seed }: NewAccount,
): Store {
  const account = new AccountStore(database);
  const contacts = new ContactStore(database);
  const store = {
    ...openDocuments(database),
    ownKey,
    database,
    account,
    keys: new KeyStore(database),
    contacts,
    events: new EventStore(database),
    search: new ContactSearch(database, contacts),
    settings: new SettingsStore(database),
    requests: new RequestLog(database),
    newIds: (now: number, count: number) => account.newIds(now, count),
  };
  database.transaction(() => {
    if (seed !== undefined) store.settings.setIdSeed(seed);
    if (!database.get("SELECT only FROM account")) createAccount(store, now, region);
    else if (region !== undefined) account.setRegion(region);
  });
  return store;
}

/** A store whose search sees each write `milliseconds` later, as far as the write goes through this store. */
export function withSearchLag(store: Store, milliseconds: number, clock: Clock): Store {
  if (milliseconds === 0) return store;
  const { database } = store;
  const unseen = new UnseenWrites(database, milliseconds, clock);
  const contacts = new ContactStore(database, unseen);
  return { ...store, contacts, search: new ContactSearch(database, contacts, unseen) };
}

/** Deletes the data of a folder that cannot be opened. */
export function discardStore(folder: string): void {
  discardDatabase(databaseFile(folder));
}

export function databaseFile(folder: string): string {
  return join(folder, "sandbox.db");
}

/** An empty account as the service gives a new one (specification, Contact structure). */
function createAccount(store: Store, now: number, region = "us"): void {
  store.database.run(
    "INSERT INTO account (only, region, status, last_id) VALUES (1, ?, 'open', ?)",
    region,
    firstId(store.settings.idSeed()),
  );
  const [structureId] = store.newIds(now, 3) as [string];
  addDefaultStructure(store, structureId);
}

/** The structure that every account has, with a first and a last name, whose ids follow its own. */
export function addDefaultStructure(store: Store, _id: string): void {
  const [firstName, lastName] = idsAfter(_id, 2) as [string, string];
  const field = { dataType: "text", required: false };
  store.structures.put({
    _id,
    label: "Default",
    keyName: "Email",
    keyType: "email",
    fields: [
      { _id: firstName, label: "First Name", ...field, predefinedField: "firstName" },
      { _id: lastName, label: "Last Name", ...field, predefinedField: "lastName" },
    ],
    tags: [],
    __v: 0,
  });
}

/** The service's time, in milliseconds since the epoch: the clock's, as far from it as it was set. */
export function serviceTime(store: Store, clock: Clock): number {
  return clock.now() + store.settings.clockOffset();
}

/** Creates the database's file for its owner alone; SQLite gives its side files the same permissions. */
async function makePrivateFile(folder: string): Promise<string> {
  const file = databaseFile(folder);
  try {
    makeFolder(folder);
    createIfMissing(file);
  } catch (error) {
    throw usageError(
      `The sandbox's folder ${folder} cannot be used: ${describeDiskError(error)}`,
      "Name another with --data (commands of ecm sandbox), or with ECM_STATE_DIR",
      { cause: error },
    );
  }
  return file;
}
