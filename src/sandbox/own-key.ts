/** The key that a folder's own processes use: kept in clear in a file that only its owner can read. */
import { UsageError } from "../errors.ts";
import type { Store } from "./store/index.ts";
import { isKeyValue, keyRegion, newKeyValue, scopes } from "./store/keys.ts";

const name = "sandbox";

/**
 * A key with every scope that works now: the one in the folder, or a new one of the account's region.
 * @param given the key to use in place of either; the folder keeps it
 * @throws UsageError when that is no key
 */
export function ensureOwnKey(store: Store, now: number, given?: string): string {
  if (given !== undefined && !isKeyValue(given)) {
    throw new UsageError(
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
    let free = name;
    for (let number = 2; taken.has(free); number++) free = `${name} ${number}`;
    store.keys.add(
      { id, name: free, scopes: [...scopes], isActive: true, expiresAt: null, createdAt: now },
      key,
    );
    store.ownKey.write(key);
    return key;
  });
}
