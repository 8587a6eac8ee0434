/** Everything that the sandbox keeps, in one file of its folder. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { createIfMissingSync } from "../../disk/atomic-file.ts";
import { describeDiskError } from "../../disk/disk-errors.ts";
import { makeFolder } from "../../disk/make-folder.ts";
import { usageError } from "../../errors.ts";
import type { Clock, ContactStructure } from "../../wire.ts";
import { type Database, discardDatabase, findDamage, openDatabase, openMemoryDatabase } from "../database.ts";
import { AccountStore, SettingsStore } from "./account.ts";
import { ContactStore, UnseenWrites } from "./contacts.ts";
import { DocumentStore } from "./documents.ts";
import { EventStore } from "./events.ts";
import { firstId } from "./ids.ts";
import { KeyStore, type OwnKeyPlace, ownKeyInFolder, ownKeyInMemory } from "./keys.ts";
import { ListStore } from "./lists.ts";
import { RequestLog } from "./request-log.ts";
import { createTables, unreadableDataError } from "./schema.ts";
import { ContactSearch } from "./search.ts";
import { StructureStore } from "./structures.ts";

export interface Store {
  /** The folder of its files: the database, unless that is in memory, and snapshots. */
  folder: string;
  ownKey: OwnKeyPlace;
  database: Database;
  account: AccountStore;
  keys: KeyStore;
  structures: StructureStore;
  lists: ListStore;
  contacts: ContactStore;
  events: EventStore;
  documents: DocumentStore;
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
    return prepareStore(database, { folder, ownKey: ownKeyInFolder(folder) }, now, { region, seed });
  } catch (error) {
    database?.close();
    const damage = findDamage(error);
    if (damage === undefined) throw error;
    throw unreadableDataError(folder, `is damaged: ${damage}`, "damaged", error);
  }
}

/**
 * A store of this process alone, with a new account.
 * @param folder for its snapshots; made when one is saved
 */
export async function openMemoryStore(folder: string, now: number, options: NewAccount): Promise<Store> {
  const database = await openMemoryDatabase();
  try {
    createTables(database, folder);
    return prepareStore(database, { folder, ownKey: ownKeyInMemory() }, now, options);
  } catch (error) {
    database.close();
    throw error;
  }
}

interface NewAccount {
  region?: string;
  seed?: number;
}

function prepareStore(
  database: Database,
  place: Pick<Store, "folder" | "ownKey">,
  now: number,
  { region, seed }: NewAccount,
): Store {
  const store = createStore(place, database);
  database.transaction(() => {
    if (seed !== undefined) store.settings.setIdSeed(seed);
    if (!store.database.get("SELECT only FROM account")) createAccount(store, now, region);
    else if (region !== undefined) store.account.setRegion(region);
  });
  return store;
}

function createStore(place: Pick<Store, "folder" | "ownKey">, database: Database): Store {
  const account = new AccountStore(database);
  const contacts = new ContactStore(database);
  return {
    ...place,
    database,
    account,
    keys: new KeyStore(database),
    structures: new StructureStore(database),
    lists: new ListStore(database),
    contacts,
    events: new EventStore(database),
    documents: new DocumentStore(database),
    search: new ContactSearch(database, contacts),
    settings: new SettingsStore(database),
    requests: new RequestLog(database),
    newIds: (now, count) => account.newIds(now, count),
  };
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

export function hasStore(folder: string): boolean {
  return existsSync(databaseFile(folder));
}

function databaseFile(folder: string): string {
  return join(folder, "sandbox.db");
}

/** An empty account as the service gives a new one (specification, Contact structure). */
function createAccount(store: Store, now: number, region = "us"): void {
  const { database } = store;
  database.run(
    "INSERT INTO account (only, region, status, last_id) VALUES (1, ?, 'open', ?)",
    region,
    firstId(store.settings.idSeed()),
  );
  const [structureId] = store.newIds(now, 1) as [string];
  addDefaultStructure(store, structureId, now);
}

/**
 * The structure that every account has, with a first and a last name.
 * @param before the ids of the fields stay those of this structure, as far as it has them
 */
export function addDefaultStructure(store: Store, _id: string, now: number, before?: ContactStructure): void {
  const fieldId = (name: string) =>
    before?.fields.find((field) => field.predefinedField === name)?._id ?? store.newIds(now, 1)[0]!;
  const firstName = fieldId("firstName");
  const lastName = fieldId("lastName");
  store.structures.put({
    _id,
    label: "Default",
    keyName: "Email",
    keyType: "email",
    fields: [
      {
        _id: firstName,
        label: "First Name",
        dataType: "text",
        required: false,
        predefinedField: "firstName",
      },
      { _id: lastName, label: "Last Name", dataType: "text", required: false, predefinedField: "lastName" },
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
    createIfMissingSync(file);
  } catch (error) {
    throw usageError(
      `The sandbox's folder ${folder} cannot be used: ${describeDiskError(error)}`,
      "Name another with --data (commands of ecm sandbox), or with ECM_STATE_DIR",
      { cause: error },
    );
  }
  return file;
}
