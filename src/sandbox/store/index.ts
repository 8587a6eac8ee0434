/** Everything that the sandbox keeps, in one file of its folder. */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { createIfMissingSync } from "../../disk/atomic-file.ts";
import { UsageError } from "../../errors.ts";
import { shellWord } from "../../shell-word.ts";
import type { Clock, ContactStructure } from "../../wire.ts";
import { type Database, damageIn, discardDatabase, openDatabase } from "../database.ts";
import { bringUpToDate } from "../schema/index.ts";
import { type AccountStore, accountIn } from "./account.ts";
import { type Contacts, contactsIn } from "./contacts.ts";
import { type Documents, documentsIn } from "./documents.ts";
import { type Events, eventsIn } from "./events.ts";
import { firstId } from "./ids.ts";
import { type Keys, keysIn } from "./keys.ts";
import { type Lists, listsIn } from "./lists.ts";
import { type MailEvents, mailEventsIn } from "./mail-figures.ts";
import { type RequestLog, requestLogIn } from "./request-log.ts";
import { type Search, searchIn } from "./search.ts";
import { type SettingsStore, settingsIn, timeBy } from "./settings.ts";
import { type Structures, structuresIn } from "./structures.ts";
import { type Upcoming, upcomingIn } from "./upcoming.ts";

export interface Store {
  folder: string;
  database: Database;
  account: AccountStore;
  keys: Keys;
  structures: Structures;
  lists: Lists;
  contacts: Contacts;
  events: Events;
  documents: Documents;
  upcoming: Upcoming;
  mailEvents: MailEvents;
  search: Search;
  settings: SettingsStore;
  requests: RequestLog;
  /** New ids, each greater than all before. @param now milliseconds since the epoch */
  newIds(now: number, count: number): string[];
}

/**
 * Opens the folder, which only its owner can read; a new one gets an account with its default structure.
 * @param made `region`: two letters, for the keys to come; default: what the folder has, else `us`. `seed`: ids of a new
 *   folder, and of every folder after a reset, are the same for the same seed
 * @throws UsageError when the folder cannot be used; DamagedError
 */
export async function openStore(
  folder: string,
  now: number,
  { region, seed }: { region?: string; seed?: number } = {},
): Promise<Store> {
  const file = await makePrivate(folder);
  let database: Database | undefined;
  try {
    database = await openDatabase(file);
    bringUpToDate(database);
    const store = storeIn(folder, database);
    database.transaction(() => {
      if (seed !== undefined) store.settings.setIdSeed(seed);
      if (!store.database.get("SELECT only FROM account")) foundAccount(store, now, region);
      else if (region !== undefined) store.account.setRegion(region);
    });
    return store;
  } catch (error) {
    database?.close();
    const damage = damageIn(error);
    throw damage === undefined ? error : new DamagedError(folder, damage, error);
  }
}

function storeIn(folder: string, database: Database): Store {
  const account = accountIn(database);
  const contacts = contactsIn(database);
  return {
    folder,
    database,
    account,
    keys: keysIn(database),
    structures: structuresIn(database),
    lists: listsIn(database),
    contacts,
    events: eventsIn(database),
    documents: documentsIn(database),
    upcoming: upcomingIn(database),
    mailEvents: mailEventsIn(database),
    search: searchIn(database, contacts),
    settings: settingsIn(database),
    requests: requestLogIn(database),
    newIds: account.newIds,
  };
}

/** The data of a folder cannot be read. */
export class DamagedError extends UsageError {
  constructor(folder: string, reason: string, cause: unknown) {
    super(
      `The sandbox's data in ${folder} is damaged: ${reason}`,
      `Delete it and start over with: ecm sandbox reset --data ${shellWord(folder)}`,
      { cause },
    );
  }
}

/** Deletes the data of a folder that cannot be opened. */
export function discardStore(folder: string): void {
  discardDatabase(databaseFile(folder));
}

function databaseFile(folder: string): string {
  return join(folder, "sandbox.db");
}

/** An empty account as the service gives a new one (specification, Contact structure). */
function foundAccount(store: Store, now: number, region = "us"): void {
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
  const idOf = (name: string) =>
    before?.fields.find((field) => field.predefinedField === name)?._id ?? store.newIds(now, 1)[0]!;
  const firstName = idOf("firstName");
  const lastName = idOf("lastName");
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

/** The service's time, in milliseconds since the epoch: the clock's, as far from it as it was set, or standing still. */
export function serviceTime(store: Store, clock: Clock): number {
  return timeBy(store.settings.clock(), clock.now());
}

/** The database's file. Its side files take over its rights, wherever the folder lies. */
async function makePrivate(folder: string): Promise<string> {
  const file = databaseFile(folder);
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    createIfMissingSync(file);
  } catch (error) {
    throw new UsageError(
      `The sandbox's folder ${folder} cannot be used: ${(error as Error).message}`,
      "Name another with --data, or with ECM_STATE_DIR",
      { cause: error },
    );
  }
  return file;
}
