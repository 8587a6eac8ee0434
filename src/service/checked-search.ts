/**
 * Several keys in one search whose answer is checked. Whether `EQ` with several values means "any of them" is
 * not documented, and a service that honours only the first value would make contacts that exist look as if
 * they did not. So every search carries, where one is known, the key of a contact that must be found; when it
 * is missing, the keys are asked for as alternatives (a filter for each), and then one by one.
 */

import { createFilter } from "../api/contacts.ts";
import { ServiceError } from "../errors.ts";
import type { Contact, Send } from "../wire.ts";
import type { Behavior } from "./behavior.ts";
import { createContactPages } from "./contact-search.ts";
import type { KeyForm, KeyQuery } from "./key-form.ts";
import { isSizeRefusal, readComplete } from "./pages.ts";

type FoundParts = Partial<Contact>[];

export interface CheckedSearch {
  /** One search as it is, unchecked. */
  ask(query: KeyQuery): Promise<FoundParts>;
  /** @returns undefined when it turned out that keys have to be asked for one by one */
  askSeveral(query: KeyQuery): Promise<FoundParts | undefined>;
  /** Somebody whom the other criterias find; undefined where there is nobody. */
  askWithoutKeys(query: Omit<KeyQuery, "keys">): Promise<Partial<Contact> | undefined>;
  /** A contact that was read: its key must be found by every later search for it. */
  meet(contact: Partial<Contact> | undefined): void;
}

export interface CheckedSearchOptions {
  send: Send;
  behavior: Behavior;
  structureId: string;
  /** What makes two keys one contact. */
  toIdentity(key: string): string;
  /** As for a search of `contact-search.ts`. */
  readsStatus?: boolean;
}

export function createCheckedSearch(options: CheckedSearchOptions, form: KeyForm): CheckedSearch {
  const { send, behavior, structureId, toIdentity, readsStatus } = options;
  let expected: string | undefined;

  function ask(query: KeyQuery): Promise<FoundParts> {
    const search = { structureId, filters: form.toFilters(query), source: [...query.source], readsStatus };
    const read = createContactPages(send, search, behavior);
    return readComplete(read, { size: Math.max(query.keys.length, 1), behavior }, ({ _id }) => _id);
  }

  async function askSeveral(query: KeyQuery): Promise<FoundParts | undefined> {
    // With other conditions nobody must be found.
    const isCheckable = query.further.length === 0;
    const carried = isCheckable ? expected : undefined;
    const keys = addLast(query.keys, carried, toIdentity);
    let contacts: FoundParts;
    try {
      contacts = await ask({ ...query, keys });
    } catch (error) {
      if (!form.isFirstTry() || !isRefusal(error)) throw error;
      return askAlternatives(query, error);
    }
    if (!isCheckable || keys.length === 1) return contacts;
    if (provesSeveral(query.keys, contacts, carried, toIdentity)) {
      form.prove();
      return carried === undefined ? contacts : keepOnly(query.keys, contacts, toIdentity);
    }
    if (carried !== undefined) return askAfterMissing(carried, query, contacts);
    if (form.isTrusted()) return contacts;
    const someone = contacts[0]?.key ?? (await askWithoutKeys({ source: ["_id", "key"], further: [] }))?.key;
    if (someone === undefined) {
      form.trust();
      return contacts;
    }
    expected = someone;
    return askSeveral(query);
  }

  async function askAlternatives(query: KeyQuery, refusal: ServiceError): Promise<FoundParts | undefined> {
    form.use("alternatives");
    try {
      return await askSeveral(query);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      // Neither form is taken: it is the number of keys, or one of them.
      form.use("any");
      throw refusal;
    }
  }

  /** Either the contact that must be found is gone, or only some of the keys count. */
  async function askAfterMissing(
    missing: string,
    query: KeyQuery,
    contacts: FoundParts,
  ): Promise<FoundParts | undefined> {
    expected = undefined;
    if (holdsKey(await ask({ keys: [missing], source: ["_id", "key"], further: [] }), missing)) {
      expected = missing;
      form.disprove();
      return form.isOneByOne() ? undefined : askSeveral(query);
    }
    if (form.isSettled()) return contacts;
    meet(contacts[0]);
    return askSeveral(query);
  }

  async function askWithoutKeys({
    source,
    further,
  }: Omit<KeyQuery, "keys">): ReturnType<CheckedSearch["askWithoutKeys"]> {
    const search = { structureId, filters: createFilter(...further), source: [...source] };
    return (await createContactPages(send, search, behavior)(1, 1)).items[0];
  }

  function meet(contact: Partial<Contact> | undefined): void {
    expected ??= contact?.key;
  }

  return { ask, askSeveral, askWithoutKeys, meet };
}

/** A refusal of the keys, of one of them or of the form; not of the size of a page. */
export function isRefusal(error: unknown): error is ServiceError {
  return error instanceof ServiceError && error.status === 400 && !isSizeRefusal(error);
}

/** At the end alone, in any letter case: a service that honours some keys honours the first ones. */
function addLast(
  keys: readonly string[],
  last: string | undefined,
  toIdentity: (key: string) => string,
): readonly string[] {
  if (last === undefined) return keys;
  const identity = toIdentity(last);
  return [...keys.filter((key) => toIdentity(key) !== identity), last];
}

/** Whether an answer shows that more than the first key was honoured. */
function provesSeveral(
  keys: readonly string[],
  contacts: FoundParts,
  carried: string | undefined,
  toIdentity: (key: string) => string,
): boolean {
  if (carried !== undefined) return holdsKey(contacts, carried);
  const first = toIdentity(keys[0]!);
  return contacts.some(({ key }) => key !== undefined && toIdentity(key) !== first);
}

function holdsKey(contacts: FoundParts, key: string): boolean {
  return contacts.some((contact) => contact.key === key);
}

/** Without the contact that was asked for only as a check. */
function keepOnly(
  keys: readonly string[],
  contacts: FoundParts,
  toIdentity: (key: string) => string,
): FoundParts {
  const identities = new Set(keys.map(toIdentity));
  return contacts.filter(({ key }) => key === undefined || identities.has(toIdentity(key)));
}
