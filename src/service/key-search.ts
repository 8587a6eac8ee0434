/**
 * Contacts by their keys, many in one search. Whether `EQ` with several values means "any of them" is not documented,
 * and a service that honours only the first value would make contacts that exist look as if they did not. So every
 * search carries, where one is known, the key of a contact that must be found; when it is missing, the keys are asked
 * for as alternatives (a filter for each), and then one by one. What works is learned.
 */
import { EcmError, exitCodes, ServiceError } from "../errors.ts";
import type { Contact, Criteria, Filter, Send, SendOptions } from "../wire.ts";
import { type Behavior, createBehavior } from "./behavior.ts";
import { type ContactSearch, contactPages } from "./contact-search.ts";
import { allOf, equals } from "./contacts.ts";
import { isSizeRefusal, openPages, pagesInOrder, type ReadPage } from "./pages.ts";

export interface FoundByKeys {
  /** In the order in which the service gave them. */
  contacts: Partial<Contact>[];
  /** Keys that the service refuses to look up, each by itself. */
  refused: Map<string, ServiceError>;
}

export interface KeySearch {
  /** Most keys that are known to fit into one search; 1 where several keys cannot be asked for. */
  readonly limit: number;
  /**
   * @param further criterias that must hold as well
   * @throws EcmError when the pages never add up to their total
   */
  find(keys: readonly string[], source: readonly string[], further?: Criteria[]): Promise<FoundByKeys>;
  /** A contact that was read: its key must be found by every later search for it. */
  meet(contact: Partial<Contact> | undefined): void;
}

export interface KeySearchOptions {
  send: Send;
  behavior: Behavior;
  structureId: string;
  /** What makes two keys one contact. */
  identityOf(key: string): string;
}

type Mode = "any" | "alternatives" | "one";

/** Smaller pages are read one after the other. */
const leastPage = 50;

/** A search whose pages do not add up is repeated: others add and remove meanwhile. */
const mostReadings = 3;

export function createKeySearch({ send, behavior, structureId, identityOf }: KeySearchOptions): KeySearch {
  let mode: Mode = behavior.get("keys") ?? "any";
  /** Answers of this process have shown that several keys count. */
  let isProven = false;
  /** Known from earlier, or nobody is there to prove it by: taken as it is. */
  let isTrusted = behavior.get("keys") !== undefined;
  let most = behavior.get("maxKeys") ?? Number.POSITIVE_INFINITY;
  let expected: string | undefined;
  /** While it is not known what works, one search finds out and the others wait. */
  let turn: Promise<unknown> = Promise.resolve();

  async function find(
    keys: readonly string[],
    source: readonly string[],
    further: Criteria[] = [],
  ): Promise<FoundByKeys> {
    const asked = [...new Set(keys)];
    // With other conditions nobody must be found: that several keys count is found out without them.
    const mustFindOut = further.length > 0 && asked.length > 1 && !isProven && !isTrusted;
    if (mustFindOut) await find(asked, ["_id", "key"]);
    if (isProven || isTrusted || asked.length <= 1) return findAll(asked, source, further);
    const own = turn.then(() => findAll(asked, source, further));
    turn = own.catch(() => undefined);
    return own;
  }

  async function findAll(
    keys: readonly string[],
    source: readonly string[],
    further: Criteria[],
  ): Promise<FoundByKeys> {
    const found: FoundByKeys = { contacts: [], refused: new Map() };
    for (let start = 0; start < keys.length; ) {
      const size = mode === "one" ? 1 : most;
      const part = await findPart(keys.slice(start, start + size), source, further);
      start += Math.min(size, keys.length - start);
      found.contacts.push(...part.contacts);
      for (const [key, error] of part.refused) found.refused.set(key, error);
    }
    return { ...found, contacts: withoutRepeats(found.contacts) };
  }

  async function findPart(
    keys: readonly string[],
    source: readonly string[],
    further: Criteria[],
  ): Promise<FoundByKeys> {
    const [first] = keys;
    if (first === undefined) return { contacts: [], refused: new Map() };
    if (mode === "one" && keys.length > 1) return findAll(keys, source, further);
    try {
      const contacts = await (keys.length === 1
        ? ask([first], source, further)
        : askSeveral(keys, source, further));
      meet(contacts[0]);
      return { contacts, refused: new Map() };
    } catch (error) {
      if (!isRefusal(error)) throw error;
      if (keys.length === 1) return { contacts: [], refused: new Map([[first, error]]) };
    }
    return findHalves(keys, source, further);
  }

  /** Too many keys, or one among them that is refused: only the former is worth keeping. */
  async function findHalves(
    keys: readonly string[],
    source: readonly string[],
    further: Criteria[],
  ): Promise<FoundByKeys> {
    const half = Math.ceil(keys.length / 2);
    const left = await findPart(keys.slice(0, half), source, further);
    if (left.refused.size === 0 && mode !== "one") {
      most = Math.min(most, half);
      if (most === 1) setMode("one");
    }
    const right = await findAll(keys.slice(half), source, further);
    const refused = new Map([...left.refused, ...right.refused]);
    if (refused.size > 0) most = behavior.get("maxKeys") ?? Number.POSITIVE_INFINITY;
    else if (mode !== "one") behavior.learn("maxKeys", most);
    return { contacts: withoutRepeats([...left.contacts, ...right.contacts]), refused };
  }

  /** Several keys in one search, in a way that is shown to find more than the first of them. */
  async function askSeveral(
    keys: readonly string[],
    source: readonly string[],
    further: Criteria[],
  ): Promise<Partial<Contact>[]> {
    const witness = further.length === 0 ? expected : undefined;
    let contacts: Partial<Contact>[];
    try {
      contacts = await ask(witnessLast(keys, witness), source, further);
    } catch (error) {
      if (mode !== "any" || isProven || !isRefusal(error)) throw error;
      return asAlternatives(keys, source, further, error);
    }
    if (further.length > 0) return contacts;
    if (witness !== undefined && !holds(contacts, witness))
      return withoutWitness(keys, witness, contacts, source);
    if (witness === undefined && !provesSeveral(keys, contacts)) {
      if (isTrusted) return contacts;
      const someone = await anyone(contacts);
      if (someone === undefined) return contacts;
      expected = someone;
      return askSeveral(keys, source, further);
    }
    isProven = true;
    behavior.learn("keys", mode);
    return only(keys, contacts, witness);
  }

  async function asAlternatives(
    keys: readonly string[],
    source: readonly string[],
    further: Criteria[],
    refusal: ServiceError,
  ): Promise<Partial<Contact>[]> {
    mode = "alternatives";
    try {
      return await askSeveral(keys, source, further);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      // Neither form is taken: it is the number of keys, or one of them.
      mode = "any";
      throw refusal;
    }
  }

  /** Somebody who must be found was not: either is gone, or only some of the keys count. */
  async function withoutWitness(
    keys: readonly string[],
    witness: string,
    contacts: Partial<Contact>[],
    source: readonly string[],
  ): Promise<Partial<Contact>[]> {
    expected = undefined;
    if (!holds(await ask([witness], ["_id", "key"], []), witness)) {
      if (isProven || isTrusted) return contacts;
      meet(contacts[0]);
      return askSeveral(keys, source, []);
    }
    expected = witness;
    isProven = false;
    isTrusted = false;
    setMode(mode === "any" ? "alternatives" : "one");
    if (mode === "one") return (await findAll(keys, source, [])).contacts;
    return askSeveral(keys, source, []);
  }

  function setMode(next: Mode): void {
    mode = next;
    if (next === "one") {
      isProven = true;
      behavior.learn("keys", "one");
    }
  }

  /** The key of somebody in the account; undefined when there is nobody. Costs a request unless the answer has one. */
  async function anyone(contacts: Partial<Contact>[]): Promise<string | undefined> {
    const [met] = contacts;
    if (met?.key !== undefined) return met.key;
    const read = contactPages(send, { structureId, filters: [], source: ["_id", "key"] }, behavior);
    const { items } = await read(1, 1);
    if (items[0]?.key === undefined) isTrusted = true;
    return items[0]?.key;
  }

  /** More than the first key was honoured. */
  function provesSeveral(keys: readonly string[], contacts: Partial<Contact>[]): boolean {
    const first = identityOf(keys[0]!);
    return contacts.some(({ key }) => key !== undefined && identityOf(key) !== first);
  }

  function holds(contacts: Partial<Contact>[], key: string): boolean {
    return contacts.some((contact) => contact.key === key);
  }

  /** The last of all: a service that honours some keys honours the first ones. */
  function witnessLast(keys: readonly string[], witness: string | undefined): string[] {
    return witness === undefined ? [...keys] : [...keys.filter((key) => key !== witness), witness];
  }

  function only(keys: readonly string[], contacts: Partial<Contact>[], witness: string | undefined) {
    if (witness === undefined) return contacts;
    const wanted = new Set(keys.map(identityOf));
    return contacts.filter(({ key }) => key === undefined || wanted.has(identityOf(key)));
  }

  /** Every page of a search for keys. A key counts as absent only when the pages add up. */
  async function ask(
    keys: readonly string[],
    source: readonly string[],
    further: Criteria[],
  ): Promise<Partial<Contact>[]> {
    const search = { structureId, filters: filtersFor(keys, further), source: [...source] };
    const read = contactPages(send, search, behavior);
    for (let readings = 1; readings <= mostReadings; readings++) {
      const opened = await openPages(read, { size: Math.max(keys.length, 1), behavior });
      const contacts = new Map<string, Partial<Contact>>();
      let total = opened.first.total ?? 0;
      const counted = async (page: number, size: number) => {
        const next = await read(page, size);
        total = next.total ?? total;
        return next;
      };
      for await (const page of pagesInOrder(counted, opened, ({ _id }) => _id)) {
        for (const contact of page) contacts.set(contact._id ?? "", contact);
      }
      if (contacts.size >= total) return [...contacts.values()];
    }
    throw new EcmError(exitCodes.failed, "The pages of a search never add up to its totalRecords", {
      type: "UnreadableAnswerError",
      hint: "Check the service with: ecm doctor",
    });
  }

  function filtersFor(keys: readonly string[], further: Criteria[]): Filter[] {
    if (mode !== "alternatives" || keys.length === 1) return allOf(equals("KEY", [...keys]), ...further);
    return keys.flatMap((key) => allOf(equals("KEY", [key]), ...further));
  }

  function meet(contact: Partial<Contact> | undefined): void {
    expected ??= contact?.key;
  }

  return {
    get limit() {
      // One place is for the key that must be found.
      return mode === "one" ? 1 : Math.max(1, Math.min(most, pageOf(behavior)) - 1);
    },
    find,
    meet,
  };
}

/**
 * Reads the pages of any search. Several keys are looked up at the first page, all of them: the pages are parts of what
 * was found.
 */
export function searchPages(
  send: Send,
  search: ContactSearch,
  behavior: Behavior = createBehavior(),
  options?: SendOptions,
): ReadPage<Partial<Contact>> {
  const { keys, structureId, filters, keeps } = search;
  if (!keys) return contactPages(send, search, behavior, options);
  const keySearch = createKeySearch({
    send: (request) => send(request, options),
    behavior,
    structureId,
    identityOf: keys.areEmails ? (key) => key.toLowerCase() : (key) => key,
  });
  const source = [...new Set(["_id", "key", ...search.source, ...(keeps?.needs ?? [])])];
  const further = filters.flatMap(({ criterias }) => criterias);
  let found: Promise<Partial<Contact>[]> | undefined;
  return async (page, size) => {
    found ??= keySearch.find(keys.values, source, further).then(({ contacts, refused }) => {
      const [refusal] = refused.values();
      if (refusal) throw refusal;
      return contacts.map((contact) => withoutKey(contact, search.source));
    });
    const contacts = await found;
    return { items: contacts.slice((page - 1) * size, page * size), total: contacts.length };
  };
}

/** The key was asked for to know what was found. */
function withoutKey(contact: Partial<Contact>, source: readonly string[]): Partial<Contact> {
  if (source.includes("key")) return contact;
  const { key: _key, ...rest } = contact;
  return rest;
}

/** Where a page holds about as many contacts as are looked up together, one page is to answer one search. */
function pageOf(behavior: Behavior): number {
  const page = behavior.get("maxPage") ?? behavior.get("pageCut");
  return page === undefined || page < leastPage ? Number.POSITIVE_INFINITY : page;
}

function isRefusal(error: unknown): error is ServiceError {
  return error instanceof ServiceError && error.status === 400 && !isSizeRefusal(error);
}

function withoutRepeats(contacts: Partial<Contact>[]): Partial<Contact>[] {
  return [...new Map(contacts.map((contact) => [contact._id ?? contact.key ?? "", contact])).values()];
}
