/** What an owner does with a folder whose sandbox may be running in another process, or in none. */

import { realClock } from "../clock.ts";
import { isKind } from "../errors.ts";
import type { Clock } from "../wire.ts";
import { SandboxAdmin } from "./admin.ts";
import { findDamage } from "./database.ts";
import { Faults } from "./faults.ts";
import { ensureOwnKey } from "./key-admin.ts";
import type { ResetOptions } from "./public-types.ts";
import { AccountLimits, defaultLimits } from "./rules/limits.ts";
import { discardStore, openStore, type Store } from "./store/index.ts";
import { isKeyValue, keyRegion, ownKeyInFolder } from "./store/keys.ts";
import { vacuum } from "./store/reset-account.ts";

export interface SandboxPlace {
  folder: string;
  clock?: Clock;
}

export interface OpenedAdmin {
  admin: SandboxAdmin;
  store: Store;
  close(): void;
}

/** @throws UsageError when the database binding is not installed */
export async function openAdmin({ folder, clock = realClock }: SandboxPlace): Promise<OpenedAdmin> {
  const store = await openStore(folder, clock.now());
  const limits = new AccountLimits(store, defaultLimits);
  const admin = new SandboxAdmin(store, clock, { limits, faults: new Faults([]) });
  return { admin, store, close: () => store.database.close() };
}

/**
 * Empties the account also where the data cannot be read any more: then it is deleted, and of what was there
 * only the folder's own key stays.
 * @returns why it was deleted, if it was: `damaged`
 */
export async function resetFolder(place: SandboxPlace, options: ResetOptions): Promise<string | undefined> {
  let state = "damaged";
  try {
    await resetReadable(place, options);
    return undefined;
  } catch (error) {
    if (isKind(error, "unreadable data")) state = error.details.about!;
    else if (findDamage(error) === undefined) throw error;
  }
  await replaceData(place);
  await resetReadable(place, options);
  return state;
}

async function resetReadable(place: SandboxPlace, options: ResetOptions): Promise<void> {
  const { admin, store, close } = await openAdmin(place);
  try {
    admin.reset(options);
    vacuum(store);
  } finally {
    close();
  }
}

async function replaceData({ folder, clock = realClock }: SandboxPlace): Promise<void> {
  discardStore(folder);
  const kept = ownKeyInFolder(folder).read() ?? "";
  const key = isKeyValue(kept) ? kept : undefined;
  const store = await openStore(folder, clock.now(), { region: key && keyRegion(key) });
  try {
    ensureOwnKey(store, clock.now(), key);
  } finally {
    store.database.close();
  }
}
