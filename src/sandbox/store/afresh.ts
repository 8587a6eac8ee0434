/** A fresh start of a folder, while other processes may have it open. */
import { keptOwnKey } from "../own-key.ts";
import { rebuild } from "../schema/index.ts";
import { addDefaultStructure, type Store } from "./index.ts";

interface Kept {
  region: string;
  last_id: string;
}

/**
 * Leaves an account as it was when it was founded. The id of the default structure and the folder's own key stay, and
 * no id is given a second time.
 */
export function startAfresh(store: Store, now: number): void {
  const { database } = store;
  database.transaction(() => {
    const kept = database.get<Kept>("SELECT region, last_id FROM account")!;
    const structureId = store.structures.all()[0]!._id;
    const ownValue = keptOwnKey(store);
    const ownKey = ownValue === undefined ? undefined : store.keys.ofValue(ownValue);
    rebuild(database);
    database.run(
      "INSERT INTO account (only, region, status, last_id) VALUES (1, ?, 'open', ?)",
      kept.region,
      kept.last_id,
    );
    addDefaultStructure(store, structureId, now);
    if (ownKey && ownValue !== undefined) store.keys.add(ownKey, ownValue);
  });
  try {
    database.exec("VACUUM");
  } catch {
    // Another process is at work: the space is used again instead of given back.
  }
}
