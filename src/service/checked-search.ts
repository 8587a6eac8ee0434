/**
 * Several keys in one search whose answer is checked. Whether `EQ` with several values means "any of them" is
 * not documented, and a service that honours only the first value would make contacts that exist look as if
 * they did not. So every search carries, where one is known, the key of a contact that must be found; when it
 * is missing, the keys are asked for as alternatives (a filter for each), and then one by one.
 */

import { createFilter } from "../api/contacts.ts";
import { hasStatus, type ServiceError } from "../errors.ts";
import type { Contact, Send } from "../wire.ts";
import type { Behavior } from "./behavior.ts";
import { createContactPages } from "./contact-search.ts";
import type { KeyForm, KeyQuery } from "./key-form.ts";
import { isSizeRefusal, readComplete } from "./pages.ts";

type FoundParts = Partial<Contact>[];

export interface CheckedSearchOptions {
  send: Send;
  behavior: Behavior;
  structureId: string;
  /** What makes two keys one contact. */
  toIdentity(key: string): string;
  /** As for a search of `contact-search.ts`. */
  readsStatus?: boolean;
}

export class CheckedSearch {
  readonly #options: CheckedSearchOptions;
  readonly #form: KeyForm;
  /** The key of a contact that must be found. */
  #expected: string | undefined;

  constructor(options: CheckedSearchOptions, form: KeyForm) {
    this.#options = options;
    this.#form = form;
  }

  /** One search as it is, unchecked. */
  ask(query: KeyQuery): Promise<FoundParts> {
    const { send, behavior, structureId, readsStatus } = this.#options;
    const filters = this.#form.toFilters(query);
    const search = { structureId, filters, source: [...query.source], readsStatus };
    const read = createContactPages(send, search, behavior);
    return readComplete(read, { size: Math.max(query.keys.length, 1), behavior }, ({ _id }) => _id);
  }

  /** @returns undefined when it turned out that keys have to be asked for one by one */
  async askSeveral(query: KeyQuery): Promise<FoundParts | undefined> {
    const form = this.#form;
    const { toIdentity } = this.#options;
    // With other conditions nobody must be found.
    const isCheckable = query.further.length === 0;
    const carried = isCheckable ? this.#expected : undefined;
    const keys = addLast(query.keys, carried, toIdentity);
    let contacts: FoundParts;
    try {
      contacts = await this.ask({ ...query, keys });
    } catch (error) {
      if (!form.isFirstTry || !isRefusal(error)) throw error;
      return this.#askAlternatives(query, error);
    }
    if (!isCheckable || keys.length === 1) return contacts;
    if (provesSeveral(query.keys, contacts, carried, toIdentity)) {
      form.prove();
      return carried === undefined ? contacts : keepOnly(query.keys, contacts, toIdentity);
    }
    if (carried !== undefined) return this.#askAfterMissing(carried, query, contacts);
    return form.isTrusted ? contacts : this.#askWithSomeone(query, contacts);
  }

  /** Somebody whom the other criterias find; undefined where there is nobody. */
  async askWithoutKeys({ source, further }: Omit<KeyQuery, "keys">): Promise<Partial<Contact> | undefined> {
    const { send, behavior, structureId } = this.#options;
    const search = { structureId, filters: createFilter(...further), source: [...source] };
    return (await createContactPages(send, search, behavior)(1, 1)).items[0];
  }

  /** A contact that was read: its key must be found by every later search for it. */
  note(contact: Partial<Contact> | undefined): void {
    this.#expected ??= contact?.key;
  }

  /** The usual form was refused, with nothing known of it. */
  async #askAlternatives(query: KeyQuery, refusal: ServiceError): Promise<FoundParts | undefined> {
    this.#form.current = "alternatives";
    try {
      return await this.askSeveral(query);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      // Neither form is taken: it is the number of keys, or one of them.
      this.#form.current = "any";
      throw refusal;
    }
  }

  /** The answer proves nothing, and nobody is known who must be found: whoever there is becomes that. */
  async #askWithSomeone(query: KeyQuery, contacts: FoundParts): Promise<FoundParts | undefined> {
    const someone =
      contacts[0]?.key ?? (await this.askWithoutKeys({ source: ["_id", "key"], further: [] }))?.key;
    if (someone === undefined) {
      this.#form.isTrusted = true;
      return contacts;
    }
    this.#expected = someone;
    return this.askSeveral(query);
  }

  /** Either the contact that must be found is gone, or only some of the keys count. */
  async #askAfterMissing(
    missing: string,
    query: KeyQuery,
    contacts: FoundParts,
  ): Promise<FoundParts | undefined> {
    this.#expected = undefined;
    if (holdsKey(await this.ask({ keys: [missing], source: ["_id", "key"], further: [] }), missing)) {
      this.#expected = missing;
      this.#form.disprove();
      return this.#form.isOneByOne ? undefined : this.askSeveral(query);
    }
    if (this.#form.isSettled) return contacts;
    this.note(contacts[0]);
    return this.askSeveral(query);
  }
}

/** A refusal of the keys, of one of them or of the form; not of the size of a page. */
export function isRefusal(error: unknown): error is ServiceError {
  return hasStatus(error, 400) && !isSizeRefusal(error);
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
