/** A fresh start of a folder, while other processes may have it open. */
import { keptOwnKey } from "../own-key.ts";
import { rebuild } from "../schema/index.ts";
import type { Store } from "./index.ts";

interface Kept {
  region: string;
  last_id: string;
  monthly_limit_revision: number;
}

/**
 * Leaves an empty account, and has it furnished in the same transaction. The folder's own key stays, and no id is given a
 * second time.
 * @param furnish puts a structure in: every account has one
 */
export function startAfresh(store: Store, furnish: () => void): void {
  const { database } = store;
  database.transaction(() => {
    const kept = database.get<Kept>("SELECT region, last_id, monthly_limit_revision FROM account")!;
    const ownValue = keptOwnKey(store);
    const ownKey = ownValue === undefined ? undefined : store.keys.ofValue(ownValue);
    rebuild(database);
    database.run(
      `INSERT INTO account (only, region, status, last_id, monthly_limit_revision)
        VALUES (1, ?, 'open', ?, ?)`,
      kept.region,
      kept.last_id,
      kept.monthly_limit_revision,
    );
    if (ownKey && ownValue !== undefined) store.keys.add(ownKey, ownValue);
    furnish();
  });
  try {
    database.exec("VACUUM");
  } catch {
    // Another process is at work: the space is used again instead of given back.
  }
}
