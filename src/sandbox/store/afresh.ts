/** A fresh start of a folder, while other processes may have it open. */
import { keptOwnKey } from "../own-key.ts";
import { rebuild } from "../schema/index.ts";
import { firstIdAfterReset } from "./ids.ts";
import type { Store } from "./index.ts";

interface Kept {
  region: string;
  last_id: string;
  monthly_limit_revision: number;
}

/**
 * Leaves an empty account, and has it furnished. The caller is in a transaction. The folder's own key stays, and no id is given a
 * second time, unless the folder has a seed: then they begin again.
 * @param furnish puts a structure in: every account has one
 */
export function startAfresh(store: Store, furnish: () => void): void {
  const { database } = store;
  const kept = database.get<Kept>("SELECT region, last_id, monthly_limit_revision FROM account")!;
  const ownValue = keptOwnKey(store);
  const ownKey = ownValue === undefined ? undefined : store.keys.ofValue(ownValue);
  const seed = store.settings.idSeed();
  rebuild(database);
  database.run(
    `INSERT INTO account (only, region, status, last_id, monthly_limit_revision)
      VALUES (1, ?, 'open', ?, ?)`,
    kept.region,
    seed === null ? kept.last_id : firstIdAfterReset(seed),
    kept.monthly_limit_revision,
  );
  if (ownKey && ownValue !== undefined) store.keys.add(ownKey, ownValue);
  furnish();
}

/** Gives the space that is free now back to the disk, unless another process is at work: then it is used again. */
export function shrink({ database }: Store): void {
  try {
    database.exec("VACUUM");
  } catch {
    // Busy.
  }
}
