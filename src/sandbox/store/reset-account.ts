/** Replacing what the account of a folder holds, while other processes may have it open. */
import { firstIdAfterReset } from "./ids.ts";
import { addDefaultStructure, type Store } from "./index.ts";
import { emptyAccountTables } from "./schema.ts";

/**
 * The folder's own key and the monthly limit stay. The caller is in a transaction.
 * @param fill the empty account, its row included
 */
export function replaceAccount(store: Store, fill: () => void): void {
  const { monthly_limit } = store.account.read();
  const ownValue = store.ownKey.read();
  const ownKey = ownValue === undefined ? undefined : store.keys.findByValue(ownValue);
  emptyAccountTables(store.database);
  fill();
  store.account.setMonthlyLimit(monthly_limit);
  if (!ownKey || store.keys.findByValue(ownValue!)) return;
  for (const key of store.keys.all()) {
    if (key.id === ownKey.id || key.name === ownKey.name) store.keys.remove(key.id);
  }
  store.keys.add(ownKey, ownValue!);
}

/**
 * Leaves an empty account with one structure. The caller is in a transaction. No id is given a second time,
 * unless the folder has a seed: then they begin again.
 * @param addStructure every account has one
 */
export function resetAccount(store: Store, addStructure: () => void): void {
  const { region, last_id } = store.account.read();
  const seed = store.settings.idSeed();
  replaceAccount(store, () => {
    store.database.run(
      "INSERT INTO account (only, region, status, last_id) VALUES (1, ?, 'open', ?)",
      region,
      seed === null ? last_id : firstIdAfterReset(seed),
    );
    addStructure();
  });
}

/**
 * Leaves an empty account with the default structure under the id it had, which is returned. The caller is in
 * a transaction.
 */
export function resetToDefaultStructure(store: Store): string {
  const { _id } = store.structures.all()[0]!;
  resetAccount(store, () => addDefaultStructure(store, _id));
  return _id;
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
