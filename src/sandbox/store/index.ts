/** Everything that the sandbox keeps, in one file of its folder. */
import { mkdir, open } from "node:fs/promises";
import { join } from "node:path";
import { UsageError } from "../../errors.ts";
import { type Database, openDatabase } from "../database.ts";
import { bringUpToDate } from "../schema/index.ts";
import { type AccountStore, accountIn } from "./account.ts";
import { type Contacts, contactsIn } from "./contacts.ts";
import { type Events, eventsIn } from "./events.ts";
import { firstId, takeIds } from "./ids.ts";
import { type Keys, keysIn } from "./keys.ts";
import { type Lists, listsIn } from "./lists.ts";
import { type Search, searchIn } from "./search.ts";
import { type Structures, structuresIn } from "./structures.ts";

export interface Store {
  folder: string;
  database: Database;
  account: AccountStore;
  keys: Keys;
  structures: Structures;
  lists: Lists;
  contacts: Contacts;
  events: Events;
  search: Search;
  /** New ids, each greater than all before. @param now milliseconds since the epoch */
  newIds(now: number, count: number): string[];
}

/**
 * Opens the folder, which only its owner can read; a new one gets an account with its default structure.
 * @param region two letters, for the keys to come; default: what the folder has, else `us`
 * @throws UsageError when the folder cannot be used
 */
export async function openStore(folder: string, now: number, region?: string): Promise<Store> {
  const file = await makePrivate(folder);
  const database = await openDatabase(file);
  try {
    bringUpToDate(database);
    const contacts = contactsIn(database);
    const store: Store = {
      folder,
      database,
      account: accountIn(database),
      keys: keysIn(database),
      structures: structuresIn(database),
      lists: listsIn(database),
      contacts,
      events: eventsIn(database),
      search: searchIn(database, contacts),
      newIds: (time, count) => takeIds(database, time, count),
    };
    database.transaction(() => {
      if (!database.get("SELECT only FROM account")) foundAccount(store, now, region);
      else if (region !== undefined) store.account.setRegion(region);
    });
    return store;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** An empty account as the service gives a new one (specification, Contact structure). */
function foundAccount(store: Store, now: number, region = "us"): void {
  const { database } = store;
  database.run(
    "INSERT INTO account (only, region, status, last_id) VALUES (1, ?, 'open', ?)",
    region,
    firstId(),
  );
  const [structureId] = store.newIds(now, 1) as [string];
  addDefaultStructure(store, structureId, now);
}

/** The structure that every account has, with a first and a last name. */
export function addDefaultStructure(store: Store, _id: string, now: number): void {
  const [firstName, lastName] = store.newIds(now, 2) as [string, string];
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

/** The database's file. Its side files take over its rights, wherever the folder lies. */
async function makePrivate(folder: string): Promise<string> {
  const file = join(folder, "sandbox.db");
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await (await open(file, "a", 0o600)).close();
  } catch (error) {
    throw new UsageError(
      `the sandbox's folder ${folder} cannot be used: ${(error as Error).message}`,
      "name another with --data, or with ECM_STATE_DIR",
      { cause: error },
    );
  }
  return file;
}
