/** What an account's owner does in the settings, and no API key can: keys, standing, a fresh start. */
import { realClock } from "../clock.ts";
import { EcmError, exitCodes, NotFoundError, UsageError } from "../errors.ts";
import type { Clock } from "../wire.ts";
import { type FolderOperations, folderOperations } from "./admin-api/operations.ts";
import { damageIn } from "./database.ts";
import { keptOwnKey, ownKeyOf } from "./own-key.ts";
import type { ResetOptions } from "./public-types.ts";
import { defaultMonthlyLimit, endOfMonth } from "./rules/limits.ts";
import { shrink } from "./store/afresh.ts";
import { discardStore, openStore, type Store, serviceTime } from "./store/index.ts";
import { isKeyValue, newKeyValue, regionOf, type Scope, type StoredKey, scopes } from "./store/keys.ts";

/** A key as its owner sees it. `key` is whole once, when it is made; afterwards all but its ends is covered. */
export interface KeyView {
  _id: string;
  name: string;
  key: string;
  scopes: string[];
  state: "active" | "inactive" | "expired";
  /** Absent: never. */
  expiresAt?: string;
}

export interface AccountView {
  status: string;
  monthlyLimit: number;
  /** Requests of this calendar month, UTC. */
  monthlyUsed: number;
}

const accountStatuses = ["open", "pending_cancel", "suspended", "past_due", "terminated"] as const;

/** Everything acts at once on every process that uses the folder. Keys are named by id or name. */
export interface Owner {
  /** @throws EcmError (exit 6) when the name is in use; UsageError for an unknown scope */
  createKey(wanted: { name: string; scopes: string[]; expiresAt?: Date }): KeyView;
  listKeys(): KeyView[];
  /** @throws EcmError (exit 1) when the key has expired */
  activateKey(idOrName: string): KeyView;
  deactivateKey(idOrName: string): KeyView;
  /** A new value; name, scopes, expiry and state stay. A key that has expired is valid for as long again. */
  regenerateKey(idOrName: string): KeyView;
  deleteKey(idOrName: string): void;
  /** The key that is meant. @throws NotFoundError; UsageError when two match */
  key(idOrName: string): KeyView;
  account(): AccountView;
  /** @throws UsageError for an unknown status */
  setAccount(change: { status?: string; monthlyLimit?: number }): AccountView;
  /**
   * Takes all contacts, lists, custom fields, tags, other keys, counters and the log away. What `sandbox start` printed stays
   * true: the address, the id of the default structure, and the folder's own key.
   */
  reset(options?: ResetOptions): void;
  /** What a test does to the sandbox beside using it. */
  operations: FolderOperations;
  close(): void;
}

/** @throws UsageError when the database binding is not installed */
export async function openOwner({
  folder,
  clock = realClock,
}: {
  folder: string;
  clock?: Clock;
}): Promise<Owner> {
  const store = await openStore(folder, clock.now());
  const now = () => serviceTime(store, clock);
  const { keys, database } = store;
  const act = database.transaction;

  const change = (idOrName: string, apply: (key: StoredKey) => void): KeyView =>
    act(() => {
      const { id } = findKey(keys.all(), idOrName);
      apply(findKey(keys.all(), id));
      return viewOf(findKey(keys.all(), id), now());
    });

  return {
    createKey: ({ name, scopes: wanted, expiresAt }) =>
      act(() => {
        if (keys.all().some((key) => key.name === name)) throw nameInUse(name);
        const value = newKeyValue(store.account.read().region);
        const [id] = store.newIds(now(), 1) as [string];
        const created = {
          id,
          name: checkedName(name),
          scopes: checkedScopes(wanted),
          isActive: true,
          expiresAt: expiresAt?.getTime() ?? null,
          createdAt: now(),
        };
        keys.add(created, value);
        return viewOf({ ...created, shown: value }, now());
      }),
    listKeys: () => keys.all().map((key) => viewOf(key, now())),
    key: (idOrName) => viewOf(findKey(keys.all(), idOrName), now()),
    activateKey: (idOrName) =>
      change(idOrName, (key) => {
        if (hasExpired(key, now())) {
          throw new EcmError(exitCodes.failed, `The key ${JSON.stringify(key.name)} has expired`, {
            type: "KeyExpiredError",
            hint: "Create another with: ecm sandbox keys create",
          });
        }
        keys.setActive(key.id, true);
      }),
    deactivateKey: (idOrName) => change(idOrName, (key) => keys.setActive(key.id, false)),
    regenerateKey(idOrName) {
      const value = newKeyValue(store.account.read().region);
      const view = change(idOrName, (key) => keys.setValue(key.id, value, renewedExpiry(key, now())));
      return { ...view, key: value };
    },
    deleteKey: (idOrName) => act(() => keys.remove(findKey(keys.all(), idOrName).id)),
    account: () => accountView(store, now()),
    setAccount: ({ status, monthlyLimit }) =>
      act(() => {
        if (status !== undefined) store.account.setStatus(checkedStatus(status));
        if (monthlyLimit !== undefined) store.account.setMonthlyLimit(monthlyLimit);
        return accountView(store, now());
      }),
    reset(options) {
      folderOperations(store, clock).reset(options);
      shrink(store);
    },
    operations: folderOperations(store, clock),
    close: () => database.close(),
  };
}

/**
 * As `reset`, also where the data cannot be read any more: then it is deleted, and of what was there only the folder's own key stays.
 * @returns whether it was deleted
 */
export async function resetFolder(
  place: { folder: string; clock?: Clock },
  options: ResetOptions,
): Promise<{ wasDamaged: boolean }> {
  try {
    await resetStore(place, options);
    return { wasDamaged: false };
  } catch (error) {
    if (damageIn(error) === undefined) throw error;
  }
  discardStore(place.folder);
  const { folder, clock = realClock } = place;
  const kept = keptOwnKey(place) ?? "";
  const key = isKeyValue(kept) ? kept : undefined;
  const store = await openStore(folder, clock.now(), { region: key && regionOf(key) });
  try {
    ownKeyOf(store, clock.now(), key);
  } finally {
    store.database.close();
  }
  await resetStore(place, options);
  return { wasDamaged: true };
}

async function resetStore(place: { folder: string; clock?: Clock }, options: ResetOptions): Promise<void> {
  const owner = await openOwner(place);
  try {
    owner.reset(options);
  } finally {
    owner.close();
  }
}

function viewOf(key: StoredKey, now: number): KeyView {
  return {
    _id: key.id,
    name: key.name,
    key: key.shown,
    scopes: key.scopes,
    state: !key.isActive ? "inactive" : hasExpired(key, now) ? "expired" : "active",
    ...(key.expiresAt === null ? {} : { expiresAt: new Date(key.expiresAt).toISOString() }),
  };
}

/** The new value of an expired key must work: it gets the lifetime that the key had when it was created. */
function renewedExpiry(key: StoredKey, now: number): number | null {
  const { expiresAt, createdAt } = key;
  if (expiresAt === null || !hasExpired(key, now)) return expiresAt;
  return now + Math.max(expiresAt - createdAt, 0);
}

function hasExpired(key: StoredKey, now: number): boolean {
  return key.expiresAt !== null && key.expiresAt <= now;
}

function findKey(keys: StoredKey[], idOrName: string): StoredKey {
  const exact = keys.find((key) => key.id === idOrName) ?? keys.find((key) => key.name === idOrName);
  if (exact) return exact;
  const alike = keys.filter((key) => key.name.toLowerCase() === idOrName.toLowerCase());
  if (alike.length === 1) return alike[0]!;
  if (alike.length === 0) {
    throw new NotFoundError(
      `There is no API key ${JSON.stringify(idOrName)}`,
      "See them with: ecm sandbox keys list",
    );
  }
  throw new UsageError(
    `Several API keys are named ${JSON.stringify(idOrName)}: ${alike.map((key) => key.id).join(", ")}`,
    "Name it by its id",
  );
}

function checkedName(name: string): string {
  if (name.trim() !== "" && !/[\p{Cc}\p{Cs}]/u.test(name)) return name;
  throw new UsageError(`${JSON.stringify(name)} is not a valid name for an API key`, "Give one with letters");
}

function checkedScopes(wanted: string[]): Scope[] {
  const unknown = wanted.find((scope) => !scopes.includes(scope as Scope));
  if (unknown === undefined && wanted.length > 0) return scopes.filter((scope) => wanted.includes(scope));
  throw new UsageError(
    unknown === undefined
      ? "An API key needs a scope"
      : `--scope: there is no scope ${JSON.stringify(unknown)}`,
    `Scopes: ${scopes.join(", ")}`,
  );
}

function checkedStatus(status: string): string {
  const known = accountStatuses.find((each) => each === status.toLowerCase());
  if (known) return known;
  throw new UsageError(
    `--status: there is no account status ${JSON.stringify(status)}`,
    `Use one of: ${accountStatuses.join(", ")}`,
  );
}

function nameInUse(name: string): EcmError {
  return new EcmError(exitCodes.conflict, `An API key named ${JSON.stringify(name)} already exists`, {
    type: "DuplicateFieldError",
    field: "name",
    hint: "Choose another name",
  });
}

function accountView(store: Store, now: number): AccountView {
  const account = store.account.read();
  return {
    status: account.status,
    monthlyLimit: account.monthly_limit ?? defaultMonthlyLimit,
    monthlyUsed: account.month_ends_at === endOfMonth(now) ? account.month_used : 0,
  };
}
