/**
 * Contacts by their keys, as many in one search as the service takes. Which form of a search it takes is
 * found out (`checked-search.ts`) and learned, and so is how many keys.
 */
import type { ServiceError } from "../errors.ts";
import type { Contact, Criteria } from "../wire.ts";
import type { Behavior } from "./behavior.ts";
import {
  type CheckedSearch,
  type CheckedSearchOptions,
  createCheckedSearch,
  isRefusal,
} from "./checked-search.ts";
import { createKeyForm, type KeyQuery } from "./key-form.ts";

export interface FoundByKeys {
  /** In the order in which the service gave them. */
  contacts: Partial<Contact>[];
  /** Keys that the service refuses to look up, each by itself, although it takes such searches. */
  refused: Map<string, ServiceError>;
}

export interface KeySearch extends Pick<CheckedSearch, "meet"> {
  /** Most keys that are known to fit into one search; 1 where several keys cannot be asked for. */
  readonly limit: number;
  /**
   * @param further criterias that must hold as well
   * @throws ServiceError when it is no key that the service refuses, but such a search: then nobody is known
   *   to be absent
   * @throws EcmError when the pages never add up to their total
   */
  find(keys: readonly string[], source: readonly string[], further?: Criteria[]): Promise<FoundByKeys>;
}

/** Smaller pages are read one after the other. */
const minPageSize = 50;

export function createKeySearch(options: CheckedSearchOptions): KeySearch {
  const { behavior } = options;
  const form = createKeyForm(behavior);
  const { ask, askSeveral, askWithoutKeys, meet } = createCheckedSearch(options, form);
  /** Searches that were answered, by all of them but the keys. */
  const acceptedKinds = new Set<string>();
  /** Most keys that fit into one search, as far as refusals have shown. */
  let maxKeys = findMaxKeys(behavior);
  /** While it is not known what works, one search finds out and the others wait. */
  let previous: Promise<unknown> = Promise.resolve();

  const find: KeySearch["find"] = async (keys, source, further = []) => {
    const query = { keys: [...new Set(keys)], source, further };
    const areSeveral = query.keys.length > 1;
    // With other conditions nobody must be found: that several keys count is found out without them.
    if (further.length > 0 && areSeveral && !form.isSettled()) await find(query.keys, ["_id", "key"]);
    if (form.isSettled() || !areSeveral) return findAll(query);
    const own = previous.then(() => findAll(query));
    previous = own.catch(() => undefined);
    return own;
  };

  async function findAll(query: KeyQuery): Promise<FoundByKeys> {
    const { keys } = query;
    const found: FoundByKeys = { contacts: [], refused: new Map() };
    for (let start = 0; start < keys.length; ) {
      const size = form.isOneByOne() ? 1 : maxKeys;
      const part = await findPart({ ...query, keys: keys.slice(start, start + size) });
      start += Math.min(size, keys.length - start);
      found.contacts.push(...part.contacts);
      for (const [key, error] of part.refused) found.refused.set(key, error);
    }
    return { ...found, contacts: removeRepeats(found.contacts) };
  }

  async function findPart(query: KeyQuery): Promise<FoundByKeys> {
    const { keys } = query;
    if (keys.length === 0) return { contacts: [], refused: new Map() };
    if (form.isOneByOne() && keys.length > 1) return findAll(query);
    try {
      const contacts = await (keys.length === 1 ? ask(query) : askSeveral(query));
      if (contacts === undefined) return findAll(query);
      meet(contacts[0]);
      acceptedKinds.add(toKind(query));
      return { contacts, refused: new Map() };
    } catch (error) {
      if (!isRefusal(error)) throw error;
      if (keys.length > 1) return findHalves(query);
      await requireTaken(query, error);
      return { contacts: [], refused: new Map([[keys[0]!, error]]) };
    }
  }

  /**
   * A refusal speaks of its key only where the service takes the same search without it.
   * @throws ServiceError
   */
  async function requireTaken(query: KeyQuery, refusal: ServiceError): Promise<void> {
    const kind = toKind(query);
    if (acceptedKinds.has(kind)) return;
    try {
      await askWithoutKeys(query);
    } catch (error) {
      throw isRefusal(error) ? refusal : error;
    }
    acceptedKinds.add(kind);
  }

  /** Too many keys, or one among them that is refused: only the former is worth keeping. */
  async function findHalves(query: KeyQuery): Promise<FoundByKeys> {
    const { keys } = query;
    const half = Math.ceil(keys.length / 2);
    const left = await findPart({ ...query, keys: keys.slice(0, half) });
    if (left.refused.size === 0 && !form.isOneByOne()) {
      maxKeys = Math.min(maxKeys, half);
      if (maxKeys === 1) form.useOneByOne();
    }
    const right = await findAll({ ...query, keys: keys.slice(half) });
    const refused = new Map([...left.refused, ...right.refused]);
    if (refused.size > 0) maxKeys = findMaxKeys(behavior);
    else if (!form.isOneByOne()) behavior.learn("maxKeys", maxKeys);
    return { contacts: [...left.contacts, ...right.contacts], refused };
  }

  return {
    get limit() {
      // One place is for the key that must be found.
      return form.isOneByOne() ? 1 : Math.max(1, Math.min(maxKeys, choosePageSize(behavior)) - 1);
    },
    find,
    meet,
  };
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
