/**
 * What a command knows of the account: its structures and lists, fetched when first asked for and then kept
 * for the length of the command. Names resolve to ids here. What earlier commands saw is taken only within
 * `withRemembered`.
 */

import { resolveName } from "../api/names.ts";
import { listStructuresRequest, readStructures } from "../api/structures.ts";
import { UsageError } from "../errors.ts";
import type { Contact, ContactList, ContactStructure, Send } from "../wire.ts";
import type { Behaviors } from "./behavior.ts";
import { countLists, type ListReading, readAllLists } from "./list-pages.ts";
import {
  collectListNames,
  collectNames,
  isEqual,
  isMentioned,
  mayBeOutdated,
  type Naming,
} from "./outdated-names.ts";
import { type AccountMemory, createRecalledNames } from "./recalled-names.ts";
import { findProvenListFilters, type ListFilters } from "./several-lists.ts";
import { createWholeStructures } from "./whole-structures.ts";

export interface Account {
  structures(): Promise<ContactStructure[]>;
  /** The structure to work in: the named one, else the account's only one. */
  structure(nameOrId?: string): Promise<ContactStructure>;
  /**
   * The structure with its tags. A listing that follows the specification to the letter leaves them out; then
   * it is read alone. Where that is not possible either, `tags` stays undefined: unknown, which is not the
   * same as none.
   */
  complete(structure: ContactStructure): Promise<ContactStructure>;
  /**
   * As `complete`, with all that an update sends back: a `required` that a listing left out would be lost.
   */
  forUpdate(structure: ContactStructure): Promise<ContactStructure>;
  /** Every list of the structure. */
  lists(structure: ContactStructure): Promise<ContactList[]>;
  /** The same, fetched now, with what it took. */
  freshLists(structure: ContactStructure): Promise<ListReading>;
  /** The last such reading of this command; undefined where remembered names were taken. */
  lastReading(structure: ContactStructure): ListReading | undefined;
  /** How many lists there are, in one request; undefined where the service does not say. */
  countLists(structure: ContactStructure): Promise<number | undefined>;
  list(structure: ContactStructure, nameOrId: string): Promise<ContactList>;
  /**
   * How members of any of these lists are searched for.
   * @throws EcmError where no form of it finds them all
   */
  anyOfLists(structure: ContactStructure, listIds: readonly string[]): Promise<ListFilters>;
  /**
   * Keeps other processes of this machine from creating names meanwhile.
   * @throws LockedError when one takes too long
   */
  readonly creatingNames: NamesLock;
  /** What was fetched so far, without a request: names for what is shown. */
  readCachedNames(
    structure: ContactStructure,
  ): Promise<{ structure: ContactStructure; lists: ContactList[] }>;
  /**
   * Names for all that contacts hold: the structure, with its tags where a contact has any, and the lists
   * where one is in any. Where something that is remembered does not name it all, it is looked up again.
   */
  naming(structure: ContactStructure, contacts: Partial<Contact>[]): Promise<Naming>;
  /**
   * Performs something with names that earlier commands saw a short while ago, in place of fetching them.
   * Where that fails for a name that is not known or an id that the service refuses, the names are fetched,
   * and if they are others now it is performed once more. What is returned within has names and ids alone: it
   * is not what the service answers.
   * @param effect a write relies on names for a shorter time than a read
   * @param perform prints nothing before it can fail
   */
  withRemembered<T>(effect: "read" | "write", perform: () => Promise<T>): Promise<T>;
  /** Forgets what was fetched, after a write that changed it. */
  forget(): void;
}

/** One process at a time creates names in an account, as far as processes share a state folder. */
export type NamesLock = <T>(structureId: string, perform: () => Promise<T>) => Promise<T>;

/**
 * @param preferred the structure named by flag, environment or profile, if any
 * @param behaviors what is known of how the service behaves
 * @param memory without it nothing is remembered
 * @param creatingNames without it nobody is kept out
 */
export function createAccount(
  send: Send,
  preferred?: string,
  behaviors?: Behaviors,
  memory?: AccountMemory,
  creatingNames: NamesLock = (_structureId, perform) => perform(),
): Account {
  let structures: Promise<ContactStructure[]> | undefined;
  const lists = new Map<string, Promise<ContactList[]>>();
  const readings = new Map<string, ListReading>();
  const recalled = createRecalledNames(memory);
  const { byId: completed, complete, forUpdate } = createWholeStructures(send, recalled);

  function dropAll(): void {
    structures = undefined;
    completed.clear();
    lists.clear();
    recalled.stop();
  }

  async function readLists(structureId: string): Promise<ListReading> {
    const requestedAt = memory?.now() ?? 0;
    const reading = await readAllLists(send, structureId, behaviors?.(structureId));
    memory?.keepLists(structureId, reading.lists, requestedAt);
    readings.set(structureId, reading);
    return reading;
  }

  async function findStructure(id: string | undefined): Promise<ContactStructure | undefined> {
    return (await account.structures()).find(({ _id }) => _id === id);
  }

  /** Fetches again all that has been taken. @returns whether any name or id is another now */
  async function refresh(): Promise<boolean> {
    const [before, tags, inLists] = [await structures, [...completed], [...lists]];
    dropAll();
    let isSame =
      before === undefined || isEqual(collectNames(before), collectNames(await account.structures()));
    for (const [id, isTaken] of tags) {
      const now = await findStructure(id);
      isSame &&=
        now !== undefined && isEqual(collectNames([await isTaken]), collectNames([await complete(now)]));
    }
    for (const [id, isTaken] of inLists) {
      const now = await findStructure(id);
      isSame &&=
        now !== undefined &&
        isEqual(await collectListNames(isTaken), await collectListNames(account.lists(now)));
    }
    return !isSame;
  }

  const account: Account = {
    structures() {
      const cached = structures ? undefined : recalled.take((names) => names.structures?.items);
      structures ??= cached ? Promise.resolve(cached) : send(listStructuresRequest()).then(readStructures);
      return structures;
    },
    async naming(structure, contacts) {
      const toNaming = async (whole: ContactStructure): Promise<Naming> => ({
        structure: contacts.some(({ tags }) => tags?.length) ? await complete(whole) : whole,
        lists: contacts.some((contact) => contact.lists?.length) ? await account.lists(whole) : [],
      });
      const naming = await toNaming(structure);
      if (!recalled.isUsed() || contacts.every((contact) => isMentioned(contact, naming))) return naming;
      dropAll();
      recalled.end();
      const own = await findStructure(contacts[0]?.contactStructureId);
      return toNaming(own ?? (await account.structure(structure._id)));
    },
    async withRemembered(effect, perform) {
      recalled.start(effect);
      try {
        return await perform();
      } catch (error) {
        if (!recalled.isUsed() || !mayBeOutdated(error) || !(await refresh())) throw error;
        return await perform();
      } finally {
        if (recalled.isUsed()) dropAll();
        recalled.end();
      }
    },
    async structure(nameOrId = preferred) {
      return chooseStructure(await account.structures(), nameOrId);
    },
    complete,
    forUpdate,
    lists({ _id: id }) {
      let cached = lists.get(id);
      if (!cached) {
        const all = recalled.take(({ lists: seen }) => (seen?.[id]?.isAll ? seen[id].items : undefined));
        cached = all ? Promise.resolve(all) : readLists(id).then((reading) => reading.lists);
        lists.set(id, cached);
      }
      return cached;
    },
    freshLists({ _id: id }) {
      const reading = readLists(id);
      const fresh = reading.then((read) => read.lists);
      // The caller is told of a failure; whoever asks next reads them again.
      fresh.catch(() => lists.delete(id));
      lists.set(id, fresh);
      return reading;
    },
    anyOfLists: ({ _id }, listIds) => findProvenListFilters(send, _id, listIds, behaviors?.(_id)),
    lastReading: ({ _id }) => readings.get(_id),
    countLists: ({ _id }) => countLists(send, _id, behaviors?.(_id)),
    creatingNames,
    async list(structure, nameOrId) {
      return resolveName(nameOrId, await account.lists(structure), (list) => list.name, "list");
    },
    async readCachedNames(structure) {
      return {
        structure: (await completed.get(structure._id)) ?? structure,
        lists: (await lists.get(structure._id)) ?? [],
      };
    },
    forget: dropAll,
  };
  return account;
}

/** @throws UsageError when the account has several structures and none is named; NotFoundError. */
export function chooseStructure(structures: ContactStructure[], nameOrId?: string): ContactStructure {
  if (nameOrId !== undefined)
    return resolveName(nameOrId, structures, (structure) => structure.label, "structure");
  if (structures.length === 1) return structures[0]!;
  const choices = structures
    .map((structure) => `${structure._id} (${JSON.stringify(structure.label)})`)
    .join(", ");
  throw new UsageError(
    structures.length === 0
      ? "The account has no contact structure"
      : `The account has several structures: ${choices}`,
    "Choose one with --structure, ECM_STRUCTURE, or ecm auth login --structure",
  );
}
