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
import { readAllLists } from "./lists.ts";
import type { NamesCache } from "./names-cache.ts";

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
  names: NamesCache;
}

/** Something that was read once: what it is, and how it is read again. */
interface Part<T = unknown> {
  found: Promise<T>;
  read(): Promise<T>;
  /** What of it is remembered. */
  toNames(value: T): unknown;
}

export class Account {
  readonly names: NamesCache;
  readonly #send: Send;
  readonly #options: AccountOptions;
  /** As `CachedNames` calls them. */
  readonly #parts = new Map<string, Part>();
  /** Requests that it took to read the lists of a structure. */
  readonly #listRequests = new Map<string, number>();

  constructor(send: Send, options: AccountOptions) {
    this.#send = send;
    this.#options = options;
    this.names = options.names;
  }

  structures(): Promise<ContactStructure[]> {
    const read = () => this.#send(listStructuresRequest()).then(readStructures);
    return this.#find("structures", { read, toNames: (structures) => structures });
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
  async complete(structure: ContactStructure): Promise<ContactStructure> {
    const { tags, __v: version } = structure;
    return tags !== undefined && version !== undefined ? structure : this.#readAlone(structure);
  }

  /**
   * As `complete`, with all that an update sends back: a `required` that a listing left out would be lost.
   */
  async forUpdate(structure: ContactStructure): Promise<ContactStructure> {
    const isComplete = structure.fields.every(({ required }) => required !== undefined);
    return isComplete ? this.complete(structure) : this.#readAlone(structure);
  }

  /** Every list of the structure. */
  lists({ _id: id }: ContactStructure): Promise<ContactList[]> {
    const read = async () => {
      const { lists, requests } = await readAllLists(this.#send, id, this.#options.behaviors(id));
      this.#listRequests.set(id, requests);
      return lists;
    };
    return this.#find<ContactList[]>(`lists ${id}`, { read, toNames: toNamedLists });
  }

  /** The lists, for names that are only shown; undefined where the answer has an unknown form. */
  async readableLists(structure: ContactStructure): Promise<ContactList[] | undefined> {
    return this.lists(structure).catch((error: unknown) => {
      if (isAbout(error, "unknown_lists")) return undefined;
      throw error;
    });
  }

  /** Every list of the structure, fetched now. */
  freshLists(structure: ContactStructure): Promise<ContactList[]> {
    this.#parts.delete(`lists ${structure._id}`);
    this.names.stopRecalling();
    return this.lists(structure);
  }

  /** Forgets the structure's lists, after some were created: completions offer these. */
  forgetListsBefore(structure: ContactStructure, lists: readonly ContactList[]): void {
    this.#parts.delete(`lists ${structure._id}`);
    this.rememberLists(structure, lists, 0);
  }

  /** Keeps all lists of the structure for later commands. @param requestedAt as for `NamesCache.keep` */
  rememberLists({ _id }: ContactStructure, lists: readonly ContactList[], requestedAt: number): void {
    this.names.keep(`lists ${_id}`, toNamedLists(lists), requestedAt);
  }

  /** How many requests it took to read the lists, as far as is known. */
  requestsForLists({ _id }: ContactStructure): number {
    return this.#listRequests.get(_id) ?? 1;
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
    const { _id: id } = structure;
    const alone = await this.#parts.get(`structure ${id}`)?.found;
    return {
      structure: (alone as ContactStructure | undefined) ?? structure,
      lists: (this.#parts.has(`lists ${id}`) && (await this.readableLists(structure))) || [],
    };
  }

  /**
   * Names for all that contacts hold: the structure, with its tags where a contact has any, and the lists
   * where one is in any. Where something that is remembered does not name it all, it is looked up again.
   */
  async naming(structure: ContactStructure, contacts: Partial<Contact>[]): Promise<Naming> {
    const named = async (whole: ContactStructure): Promise<Naming> => ({
      structure: contacts.some(({ tags }) => tags?.length) ? await this.complete(whole) : whole,
      lists: contacts.some(({ lists }) => lists?.length) ? ((await this.readableLists(whole)) ?? []) : [],
    });
    const naming = await named(structure);
    if (!this.names.isUsed || contacts.every((contact) => isMentioned(contact, naming))) return naming;
    this.forget();
    this.names.endRecalling();
    const own = (await this.structures()).find(({ _id }) => _id === contacts[0]?.contactStructureId);
    return named(own ?? (await this.structure(structure._id)));
  }

  /**
   * Performs something with the names that earlier commands saw a short while ago, instead of fetching them.
   * Where it fails because of an unknown name, or an id that the service refuses, the names are fetched; if
   * any of them has changed, it is performed once more. Lists then have names and ids alone, not all that the
   * service answers.
   * @param effect a write relies on names for a shorter time than a read
   * @param perform prints nothing before it can fail
   * @param isDoubtful whether a result may come from an outdated name: it is treated like a failure
   */
  async withRemembered<T>(
    effect: "read" | "write",
    perform: () => Promise<T>,
    isDoubtful: (result: T) => boolean = () => false,
  ): Promise<T> {
    this.names.recall(effect);
    try {
      const result = await perform();
      if (!this.names.isUsed || !isDoubtful(result) || !(await this.#hasChanged())) return result;
      return await perform();
    } catch (error) {
      if (!this.names.isUsed || !mayBeOutdated(error) || !(await this.#hasChanged())) throw error;
      return await perform();
    } finally {
      if (this.names.isUsed) this.forget();
      this.names.endRecalling();
    }
  }

  /** Forgets what was fetched, after an update of a structure, which completions offer as it is now. */
  async forgetBefore(updated: ContactStructure): Promise<void> {
    const before = (await this.#parts.get("structures")?.found) as ContactStructure[] | undefined;
    this.forget();
    const now = before?.map((each) => (each._id === updated._id ? updated : each));
    if (now) this.names.keep("structures", now, 0);
  }

  /** Forgets what was fetched, after a write that changed it. */
  forget(): void {
    this.#parts.clear();
    this.names.stopRecalling();
  }

  #find<T>(part: string, { read, toNames }: Omit<Part<T>, "found">): Promise<T> {
    const known = this.#parts.get(part);
    if (known) return known.found as Promise<T>;
    const cached = this.names.take(part) as T | undefined;
    const found = cached === undefined ? this.#readNow(part, read, toNames) : Promise.resolve(cached);
    this.#parts.set(part, { found, read, toNames } as Part);
    return found;
  }

  async #readNow<T>(part: string, read: Part<T>["read"], toNames: Part<T>["toNames"]): Promise<T> {
    const requestedAt = this.names.now();
    const value = await read();
    this.names.keep(part, toNames(value), requestedAt);
    return value;
  }

  #readAlone(structure: ContactStructure): Promise<ContactStructure> {
    const read = () => fetchWhole(this.#send, structure);
    return this.#find(`structure ${structure._id}`, { read, toNames: (whole) => whole });
  }

  /** Fetches again what is known. @returns whether a name or an id has changed */
  async #hasChanged(): Promise<boolean> {
    const before = [...this.#parts];
    this.forget();
    let hasChanged = false;
    for (const [part, { found, read, toNames }] of before) {
      const [then, now] = [found, this.#find(part, { read, toNames })].map((value) =>
        value.then(
          (known) => JSON.stringify(toNames(known)),
          () => "",
        ),
      );
      hasChanged = (await then) !== (await now) || hasChanged;
    }
    return hasChanged;
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

/** Numbers of contacts are never remembered. */
function toNamedLists(lists: readonly ContactList[]): Pick<ContactList, "_id" | "name">[] {
  return lists.map(({ _id, name }) => ({ _id, name }));
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
