/** Which keys are looked up together, and in which forms: as written, normalised, in lower case. Pure. */

import { isEmailKey } from "../../api/structures.ts";
import type { KeySearch } from "../../service/key-search.ts";
import type { Contact } from "../../wire.ts";
import type { Item } from "../items.ts";

/** Contacts that are looked up together. */
export const maxBlockSize = 100;

/** How many keys fit may change with each block that is looked up. */
export function* splitIntoBlocks(items: readonly Item[], keys: KeySearch): Generator<readonly Item[]> {
  for (let start = 0; start < items.length; ) {
    const block = items.slice(start, start + Math.min(maxBlockSize, keys.limit));
    start += block.length;
    yield block;
  }
}

/** Both forms of each key: as written, and normalised where that is more than another letter case. */
export function toKeys(items: readonly Item[], keyType: string): string[] {
  const fold = (key: string) => (isEmailKey(keyType) ? key.toLowerCase() : key);
  return items.flatMap(({ key }) =>
    fold(key.sent) === fold(key.written) ? [key.written] : [key.written, key.sent],
  );
}

/** The keys in lower case that are not among those asked for. */
export function toLowerCaseKeys(items: readonly Item[], searchedKeys: readonly string[]): string[] {
  const lowered = new Set(items.map(({ key }) => key.identity));
  for (const key of searchedKeys) lowered.delete(key);
  return [...lowered];
}

/** Whether keys were found in a letter case in which they were not asked for. */
export function areFoundInOtherCase(searchedKeys: readonly string[], contacts: Partial<Contact>[]): boolean {
  const exact = new Set(searchedKeys);
  const folded = new Set(searchedKeys.map((key) => key.toLowerCase()));
  const others = contacts.filter(({ key = "" }) => !exact.has(key) && folded.has(key.toLowerCase()));
  // One of them may be the key that a search for several carries besides.
  return others.length > (searchedKeys.length === 1 ? 0 : 1);
}
