/**
 * Contacts by their keys, as many in one search as the service takes.
 *
 * Whether `EQ` with several values means "any of them" is not documented, and a service that honours only the
 * first value would make contacts that exist look as if they did not. So every search for several keys
 * carries, where one is known, the key of a contact that must be found: the proof that all keys count. When
 * it is missing, the keys are asked for as alternatives (a filter for each), and then one by one. What works
 * is learned, and so is how many keys fit.
 */
import { createEquals, createFilter } from "../api/contacts.ts";
import type { ServiceError } from "../errors.ts";
import type { Contact, Criteria, Filter, Send } from "../wire.ts";
import type { Behavior, BehaviorPoints } from "./behavior.ts";
import { createContactPages, isRefusal, isStatusUntold } from "./contact-search.ts";
import { readComplete } from "./pages.ts";

type FoundParts = Partial<Contact>[];

export interface FoundByKeys {
  /** In the order in which the service gave them. */
  contacts: FoundParts;
  /** Keys that the service refuses to look up, each by itself, although it takes such searches. */
  refused: Map<string, ServiceError>;
}

interface KeySearchOptions {
  send: Send;
  behavior: Behavior;
  structureId: string;
  /** What makes two keys one contact. */
  toIdentity(key: string): string;
  /** See `ContactSearch`. */
  readsStatus?: boolean;
}

interface KeyQuery {
  keys: readonly string[];
  source: readonly string[];
  /** Criterias that must hold as well. */
  further: readonly Criteria[];
}

/** How several keys are asked for in one search. */
interface KeyForm {
  as: BehaviorPoints["keys"];
  /**
   * `assumed`: known from earlier, or there is no contact to prove it by. `proven`: an answer to this process
   * held a contact that only the form as it is meant finds.
   */
  certainty: "unknown" | "assumed" | "proven";
}

/** Smaller pages are read one after the other. */
const minPageSize = 50;

export class KeySearch {
  readonly #options: KeySearchOptions;
  #form: KeyForm;
  /** The key of a contact that was read: each search for several keys must find it. */
  #canaryKey: string | undefined;
  /** The kinds of searches that were answered: all of a search but its keys. */
  readonly #acceptedKinds = new Set<string>();
  /** Most keys that fit into one search, as far as refusals have shown. */
  #maxKeys: number;
  /** While it is not known what works, one search finds out and the others wait. */
  #previous: Promise<unknown> = Promise.resolve();

  constructor(options: KeySearchOptions) {
    const known = options.behavior.get("keys");
    this.#options = options;
    this.#form = { as: known ?? "any", certainty: known ? "assumed" : "unknown" };
    this.#maxKeys = findMaxKeys(options.behavior);
  }

  /** Most keys that are known to fit into one search; 1 where several keys cannot be asked for. */
  get limit(): number {
    if (this.#form.as === "one") return 1;
    // One place is for the key that must be found.
    return Math.max(1, Math.min(this.#maxKeys, choosePageSize(this.#options.behavior)) - 1);
  }

  /** Whether each contact that is found costs a request more: no search tells the status that is needed. */
  get readsStatusById(): boolean {
    const { readsStatus = false, behavior } = this.#options;
    return readsStatus && isStatusUntold(behavior);
  }

  /** Remembers a contact that was read: every later search for its key must find it. */
  note(contact: Partial<Contact> | undefined): void {
    this.#canaryKey ??= contact?.key;
  }

  /** The contact was deleted: no search has to find it. */
  forget(contact: Partial<Contact> | undefined): void {
    if (contact?.key === this.#canaryKey) this.#canaryKey = undefined;
  }

  /**
   * @param further criterias that must hold as well
   * @throws ServiceError when it is no key that the service refuses, but
   *   such a search: then no contact is known to be absent
   * @throws EcmError when the pages never add up to their total
   */
  async find(
    keys: readonly string[],
    source: readonly string[],
    further: Criteria[] = [],
  ): Promise<FoundByKeys> {
    const query = { keys: [...new Set(keys)], source, further };
    const isOpen = query.keys.length > 1 && this.#form.certainty === "unknown";
    // With other conditions no contact has to be found, so that several keys count is found out without them.
    if (isOpen && further.length > 0) await this.find(query.keys, ["_id", "key"]);
    if (!isOpen || this.#form.certainty !== "unknown") return this.#findAll(query);
    const own = this.#previous.then(() => this.#findAll(query));
    this.#previous = own.catch(() => undefined);
    return own;
  }

  async #findAll(query: KeyQuery): Promise<FoundByKeys> {
    const { keys } = query;
    const found: FoundByKeys = { contacts: [], refused: new Map() };
    for (let start = 0; start < keys.length; ) {
      const size = this.#form.as === "one" ? 1 : this.#maxKeys;
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
    if (keys.length > 1 && this.#form.as === "one") return this.#findAll(query);
    try {
      const contacts = await (keys.length === 1 ? this.#ask(query) : this.#askSeveral(query));
      if (contacts === undefined) return this.#findAll(query);
      this.note(contacts[0]);
      this.#acceptedKinds.add(toKind(query));
      return { contacts, refused: new Map() };
    } catch (error) {
      if (!isRefusal(error)) throw error;
      if (keys.length > 1) return this.#findHalves(query);
      await this.#requireTaken(query, error);
      return { contacts: [], refused: new Map([[keys[0]!, error]]) };
    }
  }

  /** Too many keys, or one among them that is refused: only the former is worth keeping. */
  async #findHalves(query: KeyQuery): Promise<FoundByKeys> {
    const { keys } = query;
    const { behavior } = this.#options;
    const half = Math.ceil(keys.length / 2);
    const left = await this.#findPart({ ...query, keys: keys.slice(0, half) });
    if (left.refused.size === 0 && this.#form.as !== "one") {
      this.#maxKeys = Math.min(this.#maxKeys, half);
      if (this.#maxKeys === 1) this.#prove("one");
    }
    const right = await this.#findAll({ ...query, keys: keys.slice(half) });
    const refused = new Map([...left.refused, ...right.refused]);
    if (refused.size > 0) this.#maxKeys = findMaxKeys(behavior);
    else if (this.#form.as !== "one") behavior.learn("maxKeys", this.#maxKeys);
    return { contacts: [...left.contacts, ...right.contacts], refused };
  }

  /**
   * A refusal speaks of its key only where the service takes the same search without it.
   * @throws ServiceError
   */
  async #requireTaken(query: KeyQuery, refusal: ServiceError): Promise<void> {
    const kind = toKind(query);
    if (this.#acceptedKinds.has(kind)) return;
    try {
      await this.#askWithoutKeys(query);
    } catch (error) {
      throw isRefusal(error) ? refusal : error;
    }
    this.#acceptedKinds.add(kind);
  }

  /** @returns undefined when it turned out that keys have to be asked for one by one */
  async #askSeveral(query: KeyQuery): Promise<FoundParts | undefined> {
    const { toIdentity } = this.#options;
    // With other conditions no contact has to be found.
    const isCheckable = query.further.length === 0;
    const proof = isCheckable ? this.#canaryKey : undefined;
    const keys = addLast(query.keys, proof, toIdentity);
    let contacts: FoundParts;
    try {
      contacts = await this.#ask({ ...query, keys });
    } catch (error) {
      const isFirstTry = this.#form.as === "any" && this.#form.certainty !== "proven";
      if (!isFirstTry || !isRefusal(error)) throw error;
      return this.#askAlternatives(query, error);
    }
    if (!isCheckable || keys.length === 1) return contacts;
    if (provesSeveral(query.keys, contacts, proof, toIdentity)) {
      this.#prove(this.#form.as);
      return proof === undefined ? contacts : keepOnly(query.keys, contacts, toIdentity);
    }
    if (proof !== undefined) return this.#askAfterMissing(proof, query, contacts);
    return this.#form.certainty === "unknown" ? this.#askWithSomeone(query, contacts) : contacts;
  }

  /** The usual form was refused, with nothing known of it. */
  async #askAlternatives(query: KeyQuery, refusal: ServiceError): Promise<FoundParts | undefined> {
    const before = this.#form;
    this.#form = { as: "alternatives", certainty: "unknown" };
    try {
      return await this.#askSeveral(query);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      // Neither form is taken: it is the number of keys, or one of them.
      this.#form = before;
      throw refusal;
    }
  }

  /** The answer proves nothing, and no contact is known that must be found: one is looked for. */
  async #askWithSomeone(query: KeyQuery, contacts: FoundParts): Promise<FoundParts | undefined> {
    const someone =
      contacts[0]?.key ?? (await this.#askWithoutKeys({ source: ["_id", "key"], further: [] }))?.key;
    if (someone === undefined) {
      this.#form = { ...this.#form, certainty: "assumed" };
      return contacts;
    }
    this.#canaryKey = someone;
    return this.#askSeveral(query);
  }

  /** Either the contact that must be found is gone, or only some of the keys count. */
  async #askAfterMissing(
    missing: string,
    query: KeyQuery,
    contacts: FoundParts,
  ): Promise<FoundParts | undefined> {
    this.#canaryKey = undefined;
    if (holdsKey(await this.#ask({ keys: [missing], source: ["_id", "key"], further: [] }), missing)) {
      this.#canaryKey = missing;
      if (this.#form.as !== "any") {
        this.#prove("one");
        return undefined;
      }
      this.#form = { as: "alternatives", certainty: "unknown" };
      return this.#askSeveral(query);
    }
    if (this.#form.certainty !== "unknown") return contacts;
    this.note(contacts[0]);
    return this.#askSeveral(query);
  }

  #prove(as: KeyForm["as"]): void {
    this.#form = { as, certainty: "proven" };
    this.#options.behavior.learn("keys", as);
  }

  /** One search as it is, unchecked. */
  #ask({ keys, source, further }: KeyQuery): Promise<FoundParts> {
    const { send, behavior, structureId, readsStatus } = this.#options;
    const filters = this.#toFilters(keys, further);
    const read = createContactPages(
      send,
      { structureId, filters, source: [...source], readsStatus },
      behavior,
    );
    return readComplete(read, { size: Math.max(keys.length, 1), behavior }, ({ _id }) => _id);
  }

  /** A contact that the other criterias find; undefined where there is none. */
  async #askWithoutKeys({ source, further }: Omit<KeyQuery, "keys">): Promise<Partial<Contact> | undefined> {
    const { send, behavior, structureId } = this.#options;
    const search = { structureId, filters: createFilter(...further), source: [...source] };
    return (await createContactPages(send, search, behavior)(1, 1)).items[0];
  }

  #toFilters(keys: readonly string[], further: readonly Criteria[]): Filter[] {
    if (this.#form.as !== "alternatives" || keys.length === 1)
      return createFilter(createEquals("KEY", [...keys]), ...further);
    return keys.flatMap((key) => createFilter(createEquals("KEY", [key]), ...further));
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

function removeRepeats(contacts: FoundParts): FoundParts {
  return [...new Map(contacts.map((contact) => [contact._id ?? contact.key ?? "", contact])).values()];
}

/** The keys with this one at the end, once: a service that honours only some keys honours the first ones. */
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
  proof: string | undefined,
  toIdentity: (key: string) => string,
): boolean {
  if (proof !== undefined) return holdsKey(contacts, proof);
  const first = toIdentity(keys[0]!);
  return contacts.some(({ key }) => key !== undefined && toIdentity(key) !== first);
}

function holdsKey(contacts: FoundParts, key: string): boolean {
  return contacts.some((contact) => contact.key === key);
}

/** The contacts without the one that was asked for only as a proof. */
function keepOnly(
  keys: readonly string[],
  contacts: FoundParts,
  toIdentity: (key: string) => string,
): FoundParts {
  const identities = new Set(keys.map(toIdentity));
  return contacts.filter(({ key }) => key === undefined || identities.has(toIdentity(key)));
}
