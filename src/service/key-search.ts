/**
 * Contacts by their keys, as many in one search as the service takes. Which form of a search it takes is
 * found out (`checked-search.ts`) and learned, and so is how many keys.
 */
import type { ServiceError } from "../errors.ts";
import type { Contact, Criteria } from "../wire.ts";
import type { Behavior } from "./behavior.ts";
import { CheckedSearch, type CheckedSearchOptions, isRefusal } from "./checked-search.ts";
import { KeyForm, type KeyQuery } from "./key-form.ts";

export interface FoundByKeys {
  /** In the order in which the service gave them. */
  contacts: Partial<Contact>[];
  /** Keys that the service refuses to look up, each by itself, although it takes such searches. */
  refused: Map<string, ServiceError>;
}

/** Smaller pages are read one after the other. */
const minPageSize = 50;

export class KeySearch {
  readonly #behavior: Behavior;
  readonly #form: KeyForm;
  readonly #search: CheckedSearch;
  /** Searches that were answered, by all of them but the keys. */
  readonly #taken = new Set<string>();
  /** Most keys that fit into one search, as far as refusals have shown. */
  #most: number;
  /** While it is not known what works, one search finds out and the others wait. */
  #previous: Promise<unknown> = Promise.resolve();

  constructor(options: CheckedSearchOptions) {
    this.#behavior = options.behavior;
    this.#form = new KeyForm(options.behavior);
    this.#search = new CheckedSearch(options, this.#form);
    this.#most = findMaxKeys(options.behavior);
  }

  /** Most keys that are known to fit into one search; 1 where several keys cannot be asked for. */
  get limit(): number {
    // One place is for the key that must be found.
    return this.#form.isOneByOne ? 1 : Math.max(1, Math.min(this.#most, choosePageSize(this.#behavior)) - 1);
  }

  /** A contact that was read: its key must be found by every later search for it. */
  note(contact: Partial<Contact> | undefined): void {
    this.#search.note(contact);
  }

  /**
   * @param further criterias that must hold as well
   * @throws ServiceError when it is no key that the service refuses, but
   *   such a search: then nobody is known to be absent
   * @throws EcmError when the pages never add up to their total
   */
  async find(
    keys: readonly string[],
    source: readonly string[],
    further: Criteria[] = [],
  ): Promise<FoundByKeys> {
    const query = { keys: [...new Set(keys)], source, further };
    const areSeveral = query.keys.length > 1;
    // With other conditions nobody must be found: that several keys count is found out without them.
    if (further.length > 0 && areSeveral && !this.#form.isSettled)
      await this.find(query.keys, ["_id", "key"]);
    if (this.#form.isSettled || !areSeveral) return this.#findAll(query);
    const own = this.#previous.then(() => this.#findAll(query));
    this.#previous = own.catch(() => undefined);
    return own;
  }

  async #findAll(query: KeyQuery): Promise<FoundByKeys> {
    const { keys } = query;
    const found: FoundByKeys = { contacts: [], refused: new Map() };
    for (let start = 0; start < keys.length; ) {
      const size = this.#form.isOneByOne ? 1 : this.#most;
      const part = await this.#findPart({ ...query, keys: keys.slice(start, start + size) });
      start += Math.min(size, keys.length - start);
      found.contacts.push(...part.contacts);
      for (const [key, error] of part.refused) found.refused.set(key, error);
    }
    return { ...found, contacts: removeRepeats(found.contacts) };
  }

  async #findPart(query: KeyQuery): Promise<FoundByKeys> {
    const { keys } = query;
    if (keys.length === 0) return { contacts: [], refused: new Map() };
    if (this.#form.isOneByOne && keys.length > 1) return this.#findAll(query);
    try {
      const contacts = await (keys.length === 1 ? this.#search.ask(query) : this.#search.askSeveral(query));
      if (contacts === undefined) return this.#findAll(query);
      this.note(contacts[0]);
      this.#taken.add(toKind(query));
      return { contacts, refused: new Map() };
    } catch (error) {
      if (!isRefusal(error)) throw error;
      if (keys.length > 1) return this.#findHalves(query);
      await this.#requireTaken(query, error);
      return { contacts: [], refused: new Map([[keys[0]!, error]]) };
    }
  }

  /**
   * A refusal speaks of its key only where the service takes the same search without it.
   * @throws ServiceError
   */
  async #requireTaken(query: KeyQuery, refusal: ServiceError): Promise<void> {
    const kind = toKind(query);
    if (this.#taken.has(kind)) return;
    try {
      await this.#search.askWithoutKeys(query);
    } catch (error) {
      throw isRefusal(error) ? refusal : error;
    }
    this.#taken.add(kind);
  }

  /** Too many keys, or one among them that is refused: only the former is worth keeping. */
  async #findHalves(query: KeyQuery): Promise<FoundByKeys> {
    const { keys } = query;
    const half = Math.ceil(keys.length / 2);
    const left = await this.#findPart({ ...query, keys: keys.slice(0, half) });
    if (left.refused.size === 0 && !this.#form.isOneByOne) {
      this.#most = Math.min(this.#most, half);
      if (this.#most === 1) this.#form.useOneByOne();
    }
    const right = await this.#findAll({ ...query, keys: keys.slice(half) });
    const refused = new Map([...left.refused, ...right.refused]);
    if (refused.size > 0) this.#most = findMaxKeys(this.#behavior);
    else if (!this.#form.isOneByOne) this.#behavior.learn("maxKeys", this.#most);
    return { contacts: [...left.contacts, ...right.contacts], refused };
  }
}

function toKind({ source, further }: KeyQuery): string {
  return JSON.stringify([source, further]);
}

function findMaxKeys(behavior: Behavior): number {
  return behavior.get("maxKeys") ?? Number.POSITIVE_INFINITY;
}

/** Where a page holds about as many contacts as are looked up together, one page is to answer one search. */
function choosePageSize(behavior: Behavior): number {
  const page = behavior.get("maxPage") ?? behavior.get("pageCut");
  return page === undefined || page < minPageSize ? Number.POSITIVE_INFINITY : page;
}

function removeRepeats(contacts: Partial<Contact>[]): Partial<Contact>[] {
  return [...new Map(contacts.map((contact) => [contact._id ?? contact.key ?? "", contact])).values()];
}
