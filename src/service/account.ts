/**
 * What a command knows of the account: its structures and lists, fetched when first asked for
 * and then kept for the length of the command. Names resolve to ids here. What earlier
 * commands saw is taken only within `withRemembered`.
 */

import { resolveName } from "../api/names.ts";
import {
  getStructureRequest,
  listStructuresRequest,
  readStructure,
  readStructures,
} from "../api/structures.ts";
import { hasStatus, isAbout, isKind, isNotOffered, isServiceError, usageError } from "../errors.ts";
import { advise, ecm } from "../hint.ts";
import type { Contact, ContactList, ContactStructure, Send } from "../wire.ts";
import type { Behaviors } from "./behavior.ts";
import { findProvenListFilters, type ListFilters } from "./contact-search.ts";
import { countLists, type ListReading, readAllLists } from "./lists.ts";
import { NamesCache } from "./names-cache.ts";

/** One process at a time creates names in an account, as far as processes share a state folder. */
export type NamesLock = <T>(structureId: string, perform: () => Promise<T>) => Promise<T>;

/** Names for all that contacts hold. */
export interface Naming {
  structure: ContactStructure;
  lists: ContactList[];
}

export interface AccountOptions {
  /** The structure named by flag, environment or profile, if any. */
  preferred?: string;
  /** What is known of how the service behaves. */
  behaviors: Behaviors;
  /** Without it nothing is remembered. */
  names?: NamesCache;
  creatingNames: NamesLock;
}

export class Account {
  /**
   * Keeps other processes of this machine from creating names meanwhile.
   * @throws LockedError when one takes too long
   */
  readonly creatingNames: NamesLock;
  readonly #send: Send;
  readonly #options: AccountOptions;
  readonly #names: NamesCache;
  readonly #whole: ReturnType<typeof createWholeStructures>;
  #structures: Promise<ContactStructure[]> | undefined;
  readonly #lists = new Map<string, Promise<ContactList[]>>();
  readonly #readings = new Map<string, ListReading>();

  constructor(send: Send, options: AccountOptions) {
    this.#send = send;
    this.#options = options;
    this.creatingNames = options.creatingNames;
    this.#names = options.names ?? new NamesCache();
    this.#whole = createWholeStructures(send, this.#names);
  }

  structures(): Promise<ContactStructure[]> {
    const known = this.#structures ? undefined : this.#names.take((names) => names.structures?.items);
    this.#structures ??= known
      ? Promise.resolve(known)
      : this.#send(listStructuresRequest()).then(readStructures);
    return this.#structures;
  }

  /** The structure to work in: the named one, else the account's only one. */
  async structure(nameOrId = this.#options.preferred): Promise<ContactStructure> {
    return chooseStructure(await this.structures(), nameOrId);
  }

  /**
   * The structure with its tags. A listing that follows the specification to the letter leaves
   * them out; then it is read alone. Where that is not possible either, `tags` stays
   * undefined: unknown, which is not the same as none.
   */
  complete(structure: ContactStructure): Promise<ContactStructure> {
    return this.#whole.complete(structure);
  }

  /**
   * As `complete`, with all that an update sends back: a `required` that a listing left out would be lost.
   */
  forUpdate(structure: ContactStructure): Promise<ContactStructure> {
    return this.#whole.forUpdate(structure);
  }

  /** Every list of the structure. */
  lists({ _id: id }: ContactStructure): Promise<ContactList[]> {
    const known = this.#lists.get(id);
    if (known) return known;
    const all = this.#names.take(({ lists }) => lists?.[id]?.items);
    const lists = all ? Promise.resolve(all) : this.#readLists(id).then((reading) => reading.lists);
    this.#lists.set(id, lists);
    return lists;
  }

  /** The lists, for names that are only shown; undefined where the answer has an unknown form. */
  async readableLists(structure: ContactStructure): Promise<ContactList[] | undefined> {
    return this.lists(structure).catch((error: unknown) => {
      if (isAbout(error, "unknown_lists")) return undefined;
      throw error;
    });
  }

  /** Every list of the structure, fetched now, with what it took. */
  freshLists({ _id: id }: ContactStructure): Promise<ListReading> {
    const reading = this.#readLists(id);
    const fresh = reading.then((read) => read.lists);
    // The caller gets the failure; the next one who asks reads them again.
    fresh.catch(() => this.#lists.delete(id));
    this.#lists.set(id, fresh);
    return reading;
  }

  /** How this command last read the lists; undefined where it used remembered names. */
  lastReading({ _id }: ContactStructure): ListReading | undefined {
    return this.#readings.get(_id);
  }

  /** How many lists there are, in one request; undefined where the service does not say. */
  countLists({ _id }: ContactStructure): Promise<number | undefined> {
    return countLists(this.#send, _id, this.#options.behaviors(_id));
  }

  async list(structure: ContactStructure, nameOrId: string): Promise<ContactList> {
    return resolveName(nameOrId, await this.lists(structure), (list) => list.name, "list");
  }

  /**
   * How members of any of these lists are searched for.
   * @throws EcmError where no form of it finds them all
   */
  anyOfLists({ _id }: ContactStructure, listIds: readonly string[]): Promise<ListFilters> {
    return findProvenListFilters(this.#send, _id, listIds, this.#options.behaviors(_id));
  }

  /** The names that were fetched so far; sends no request. */
  async readCachedNames(structure: ContactStructure): Promise<Naming> {
    return {
      structure: (await this.#whole.byId.get(structure._id)) ?? structure,
      lists: (this.#lists.has(structure._id) && (await this.readableLists(structure))) || [],
    };
  }

  /**
   * Names for all that contacts hold: the structure, with its tags where a contact has any, and the lists
   * where one is in any. Where something that is remembered does not name it all, it is looked up again.
   */
  async naming(structure: ContactStructure, contacts: Partial<Contact>[]): Promise<Naming> {
    const named = async (whole: ContactStructure): Promise<Naming> => ({
      structure: contacts.some(({ tags }) => tags?.length) ? await this.complete(whole) : whole,
      lists: contacts.some((contact) => contact.lists?.length)
        ? ((await this.readableLists(whole)) ?? [])
        : [],
    });
    const naming = await named(structure);
    if (!this.#names.isUsed || contacts.every((contact) => isMentioned(contact, naming))) return naming;
    this.forget();
    this.#names.endRecalling();
    const own = await this.#structureById(contacts[0]?.contactStructureId);
    return named(own ?? (await this.structure(structure._id)));
  }

  /**
   * Performs something with the names that earlier commands saw a short while ago, instead of fetching them.
   * Where it fails because of an unknown name, or an id that the service refuses, the names are fetched; if
   * any of them has changed, it is performed once more. Structures and lists then have names and ids alone,
   * not all that the service answers.
   * @param effect a write relies on names for a shorter time than a read
   * @param perform prints nothing before it can fail
   * @param isDoubtful whether a result may come from an outdated name: it is treated like a failure
   */
  async withRemembered<T>(
    effect: "read" | "write",
    perform: () => Promise<T>,
    isDoubtful: (result: T) => boolean = () => false,
  ): Promise<T> {
    this.#names.recall(effect);
    try {
      const result = await perform();
      if (!this.#names.isUsed || !isDoubtful(result) || !(await this.#lookAgain())) return result;
      return await perform();
    } catch (error) {
      if (!this.#names.isUsed || !mayBeOutdated(error) || !(await this.#lookAgain())) throw error;
      return await perform();
    } finally {
      if (this.#names.isUsed) this.forget();
      this.#names.endRecalling();
    }
  }

  /** Forgets what was fetched, after a write that changed it. */
  forget(): void {
    this.#structures = undefined;
    this.#whole.byId.clear();
    this.#lists.clear();
    this.#names.stopRecalling();
  }

  async #readLists(structureId: string): Promise<ListReading> {
    const { behaviors } = this.#options;
    const requestedAt = this.#names.now();
    const reading = await readAllLists(this.#send, structureId, behaviors(structureId));
    this.#names.keepLists(structureId, reading.lists, requestedAt);
    this.#readings.set(structureId, reading);
    return reading;
  }

  async #structureById(id: string | undefined): Promise<ContactStructure | undefined> {
    return (await this.structures()).find(({ _id }) => _id === id);
  }

  /** Fetches again what was taken from memory. @returns whether any name or id has changed */
  async #lookAgain(): Promise<boolean> {
    const [before, tags, inLists] = [await this.#structures, [...this.#whole.byId], [...this.#lists]];
    this.forget();
    let isSame = before === undefined || isEqual(collectNames(before), collectNames(await this.structures()));
    for (const [id, isTaken] of tags) {
      const now = await this.#structureById(id);
      isSame &&=
        now !== undefined && isEqual(collectNames([await isTaken]), collectNames([await this.complete(now)]));
    }
    for (const [id, isTaken] of inLists) {
      const now = await this.#structureById(id);
      isSame &&=
        now !== undefined &&
        isEqual(await collectListNames(isTaken), await collectListNames(this.lists(now)));
    }
    return !isSame;
  }
}

/** @throws UsageError when the account has several structures and none is named; NotFoundError. */
export function chooseStructure(structures: ContactStructure[], nameOrId?: string): ContactStructure {
  if (nameOrId !== undefined)
    return resolveName(nameOrId, structures, (structure) => structure.label, "structure");
  if (structures.length === 1) return structures[0]!;
  const choices = structures
    .map((structure) => `${structure._id} (${JSON.stringify(structure.label)})`)
    .join(", ");
  throw usageError(
    structures.length === 0
      ? "The account has no contact structure"
      : `The account has several structures: ${choices}`,
    advise`Choose one with --structure, ECM_STRUCTURE, or ${ecm`auth login --structure`}`,
  );
}

/** Completes structures with what a listing may leave out: each is read by itself when needed, once. */
function createWholeStructures(send: Send, names: NamesCache) {
  const byId = new Map<string, Promise<ContactStructure>>();
  /** Structures that were read by themselves: no request tells more of them. */
  const wholes = new WeakSet<ContactStructure>();

  async function readWhole(structure: ContactStructure): Promise<ContactStructure> {
    const whole = await fetchWhole(send, structure);
    wholes.add(whole);
    return whole;
  }

  function keep(structureId: string, whole: Promise<ContactStructure>): Promise<ContactStructure> {
    byId.set(structureId, whole);
    return whole;
  }

  async function complete(structure: ContactStructure): Promise<ContactStructure> {
    const { _id: id, tags, __v: version } = structure;
    if (tags !== undefined && version !== undefined) return structure;
    const cached = byId.get(id);
    if (cached) return cached;
    const cachedWhole = names.take(({ whole }) => whole?.[id]?.item);
    return keep(id, cachedWhole ? Promise.resolve({ ...structure, ...cachedWhole }) : readWhole(structure));
  }

  async function forUpdate(structure: ContactStructure): Promise<ContactStructure> {
    const isComplete = structure.fields.every(({ required }) => required !== undefined);
    if (isComplete || wholes.has(structure)) return complete(structure);
    const cached = await byId.get(structure._id);
    return cached && wholes.has(cached) ? cached : keep(structure._id, readWhole(structure));
  }

  return { byId, complete, forUpdate };
}

/** One structure, read by itself; unchanged where the service does not let a key read it. */
async function fetchWhole(send: Send, structure: ContactStructure): Promise<ContactStructure> {
  try {
    return { ...structure, ...readStructure(await send(getStructureRequest(structure._id))) };
  } catch (error) {
    if (hasStatus(error, 403, 404) || isNotOffered(error)) return structure;
    // The listing has every documented member, so the unreadable answer is not needed.
    if (isKind(error, "unreadable answer") && structure.tags && structure.__v !== undefined) return structure;
    throw error;
  }
}

// Whether remembered names and ids are still those of the account.

/** Whether outdated names or ids may be the cause of a failure. */
function mayBeOutdated(error: unknown): boolean {
  if (isServiceError(error)) {
    const { type, field } = error.details;
    if (type === "DuplicateFieldError" || type === "ConcurrencyError") return false;
    return hasStatus(error, 404) || (hasStatus(error, 400) && !ownParts.has(field ?? ""));
  }
  return isKind(error, "usage", "not found");
}

/** Members of bodies that hold no name, and no id of something named. */
const ownParts = new Set(["key", "page", "pageSize", "source", "status", "__v"]);

/** Whether names are known for all that a contact holds. */
function isMentioned(contact: Partial<Contact>, { structure, lists }: Naming): boolean {
  const among = (contactParts: { _id: string }[] = [], cachedParts: { _id: string }[] = []) =>
    contactParts.every(({ _id }) => cachedParts.some((each) => each._id === _id));
  return (
    among(contact.fields, structure.fields) &&
    (structure.tags === undefined || among(contact.tags, structure.tags)) &&
    among(contact.lists, lists)
  );
}

/** The ids and names of structures, as plain data to compare. */
function collectNames(structures: ContactStructure[]): unknown {
  const toNames = (parts: { _id: string; label: string }[] = []) =>
    parts.map(({ _id, label }) => [_id, label]);
  return structures.map(({ _id, label, fields, tags }) => [_id, label, toNames(fields), toNames(tags)]);
}

async function collectListNames(lists: Promise<ContactList[]>): Promise<unknown> {
  return (await lists).map(({ _id, name }) => [_id, name]).sort();
}

function isEqual(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
