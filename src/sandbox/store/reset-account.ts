/** Emptying the account of a folder, while other processes may have it open. */
import { firstId, firstIdAfterReset, noteId } from "./ids.ts";
import { addDefaultStructure, type Store } from "./index.ts";
import { emptyAccountTables } from "./schema.ts";

interface KeptAccount {
  region: string;
  last_id: string;
  monthly_limit_revision: number;
}

/**
 * Leaves an empty account with one structure. The caller is in a transaction. The folder's own key stays, and
 * no id is given a second time, unless the folder has a seed: then they begin again.
 * @param addStructure every account has one
 */
export function resetAccount(store: Store, addStructure: () => void): void {
  const { database } = store;
  const kept = database.get<KeptAccount>("SELECT region, last_id, monthly_limit_revision FROM account")!;
  const ownValue = store.ownKey.read();
  const ownKey = ownValue === undefined ? undefined : store.keys.findByValue(ownValue);
  const seed = store.settings.idSeed();
  emptyAccountTables(database);
  database.run(
    `INSERT INTO account (only, region, status, last_id, monthly_limit_revision)
      VALUES (1, ?, 'open', ?, ?)`,
    kept.region,
    seed === null ? kept.last_id : firstIdAfterReset(seed),
    kept.monthly_limit_revision,
  );
  if (ownKey && ownValue !== undefined) store.keys.add(ownKey, ownValue);
  addStructure();
}

/**
 * Leaves an empty account with the default structure under the id it had, which is returned. The caller is in
 * a transaction.
 */
export function resetToDefaultStructure(store: Store, now: number): string {
  const structure = store.structures.all()[0]!;
  resetAccount(store, () => addDefaultStructure(store, structure._id, now, structure));
  const idSeed = store.settings.idSeed();
  if (idSeed !== null) {
    // Fields that were made under this seed keep ids that would come again.
    const prefix = firstId(idSeed).slice(0, -6);
    for (const { _id } of store.structures.all()[0]!.fields) {
      if (_id.startsWith(prefix)) noteId(store.database, _id);
    }
  }
  return structure._id;
}

/**
 * Gives the space that is free now back to the disk, unless another process is at work: then the space is
 * used again.
 */
export function vacuum({ database }: Store): void {
  try {
    database.exec("VACUUM");
  } catch {
    // Another process is at work.
  }
}
