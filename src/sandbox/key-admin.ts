/** The API keys of the account, as its owner manages them in the settings. No API key may do this. */
import { conflictError, failedError, notFoundError, usageError } from "../errors.ts";
import { advise, ecm } from "../hint.ts";
import type { Store } from "./store/index.ts";
import { isKeyValue, keyRegion, newKeyValue, type Scope, type StoredKey, scopes } from "./store/keys.ts";

/**
 * A key as its owner sees it. `key` is whole once, when it is made; afterwards all but its ends is masked.
 */
export interface KeyView {
  _id: string;
  name: string;
  key: string;
  scopes: string[];
  state: "active" | "inactive" | "expired";
  /** Absent: never. */
  expiresAt?: string;
}

/** Everything acts at once on every process that uses the folder. Keys are named by id or name. */
export class KeyAdmin {
  private readonly store: Store;
  private readonly now: () => number;

  /** @param now the service's time */
  constructor(store: Store, now: () => number) {
    this.store = store;
    this.now = now;
  }

  list(): KeyView[] {
    return this.store.keys.all().map((key) => describeKey(key, this.now()));
  }

  /** @throws NotFoundError */
  get(idOrName: string): KeyView {
    return describeKey(this.find(idOrName), this.now());
  }

  /** @throws EcmError (exit 6) when the name is in use; UsageError for an unknown scope */
  create(wanted: { name: string; scopes: string[]; expiresAt?: Date }): KeyView {
    const { keys, database, account } = this.store;
    return database.transaction(() => {
      if (keys.all().some((key) => key.name === wanted.name)) {
        throw conflictError(
          `An API key named ${JSON.stringify(wanted.name)} already exists`,
          "Choose another name",
          { type: "DuplicateFieldError", field: "name" },
        );
      }
      const value = newKeyValue(account.read().region);
      const [id] = this.store.newIds(this.now(), 1) as [string];
      const created = {
        id,
        name: checkedName(wanted.name),
        scopes: checkedScopes(wanted.scopes),
        isActive: true,
        expiresAt: wanted.expiresAt?.getTime() ?? null,
      };
      keys.add(created, value);
      return describeKey({ ...created, shown: value }, this.now());
    });
  }

  /** @throws EcmError (exit 1) when the key has expired */
  activate(idOrName: string): KeyView {
    return this.change(idOrName, (key) => {
      if (hasExpired(key, this.now())) {
        throw failedError(
          `The key ${JSON.stringify(key.name)} has expired`,
          advise`Create another with: ${ecm`sandbox keys create`}`,
          { type: "KeyExpiredError" },
        );
      }
      this.store.keys.setActive(key.id, true);
    });
  }

  deactivate(idOrName: string): KeyView {
    return this.change(idOrName, (key) => this.store.keys.setActive(key.id, false));
  }

  /** A new value; name, scopes, expiry and state stay. */
  regenerate(idOrName: string): KeyView {
    const value = newKeyValue(this.store.account.read().region);
    const view = this.change(idOrName, (key) => this.store.keys.setValue(key.id, value));
    return { ...view, key: value };
  }

  delete(idOrName: string): void {
    this.store.database.transaction(() => this.store.keys.remove(this.find(idOrName).id));
  }

  private change(idOrName: string, apply: (key: StoredKey) => void): KeyView {
    return this.store.database.transaction(() => {
      const key = this.find(idOrName);
      apply(key);
      return this.get(key.id);
    });
  }

  private find(idOrName: string): StoredKey {
    const key = this.store.keys.all().find(({ id, name }) => id === idOrName || name === idOrName);
    if (key) return key;
    throw notFoundError(
      `There is no API key ${JSON.stringify(idOrName)}`,
      advise`See them with: ${ecm`sandbox keys list`}`,
    );
  }
}

function describeKey(key: StoredKey, now: number): KeyView {
  return {
    _id: key.id,
    name: key.name,
    key: key.shown,
    scopes: key.scopes,
    state: !key.isActive ? "inactive" : hasExpired(key, now) ? "expired" : "active",
    ...(key.expiresAt === null ? {} : { expiresAt: new Date(key.expiresAt).toISOString() }),
  };
}

function hasExpired(key: StoredKey, now: number): boolean {
  return key.expiresAt !== null && key.expiresAt <= now;
}

function checkedName(name: string): string {
  if (name.trim() !== "" && !/[\p{Cc}\p{Cs}]/u.test(name)) return name;
  throw usageError(`${JSON.stringify(name)} is not a valid name for an API key`, "Give one with letters");
}

function checkedScopes(wanted: string[]): Scope[] {
  const unknown = wanted.find((scope) => !scopes.includes(scope as Scope));
  if (unknown === undefined && wanted.length > 0) return scopes.filter((scope) => wanted.includes(scope));
  throw usageError(
    unknown === undefined
      ? "An API key needs a scope"
      : `--scope: there is no scope ${JSON.stringify(unknown)}`,
    `Scopes: ${scopes.join(", ")}`,
  );
}

/**
 * The name of the key that a folder's own processes use; it stands in clear in a file that only its owner can
 * read.
 */
const ownKeyName = "sandbox";

/**
 * A key with every scope that works now: the one in the folder, or a new one of the account's region.
 * @param given the key to use in place of either; the folder keeps it
 * @throws UsageError when that is no key
 */
export function ensureOwnKey(store: Store, now: number, given?: string): string {
  if (given !== undefined && !isKeyValue(given)) {
    throw usageError(
      "The API key given for the sandbox (ECM_SANDBOX_API_KEY) is not valid",
      "Give 50 characters: ecm_us_ and 43 letters or digits",
    );
  }
  return store.database.transaction(() => {
    const inFolder = store.ownKey.read();
    const kept = given ?? inFolder;
    const known = kept === undefined ? undefined : store.keys.findByValue(kept);
    const works =
      known?.isActive && known.expiresAt === null && scopes.every((scope) => known.scopes.includes(scope));
    const { region } = store.account.read();
    if (kept !== undefined && kept === inFolder && works && keyRegion(kept) === region) return kept;
    if (given !== undefined && known) store.keys.remove(known.id);
    const key = given ?? newKeyValue(region);
    const [id] = store.newIds(now, 1) as [string];
    const taken = new Set(store.keys.all().map((each) => each.name));
    let free = ownKeyName;
    for (let number = 2; taken.has(free); number++) free = `${ownKeyName} ${number}`;
    store.keys.add({ id, name: free, scopes: [...scopes], isActive: true, expiresAt: null }, key);
    store.ownKey.write(key);
    return key;
  });
}
