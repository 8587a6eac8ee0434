/**
 * What a command knows of the account: its structures and lists, fetched when first asked for and then
 * remembered for the length of the command. Names resolve to ids here.
 */
import { ServiceError, UsageError } from "../errors.ts";
import type { ContactList, ContactStructure, Send } from "../wire.ts";
import type { Behavior, Behaviors } from "./behavior.ts";
import { createListRequest, listListsRequest, readList, readLists } from "./lists.ts";
import { findByName, resolveName } from "./names.ts";
import { openPages, pagesInOrder, type ReadPage } from "./pages.ts";
import { addTags } from "./structure-edit.ts";
import {
  getStructureRequest,
  listStructuresRequest,
  readStructure,
  readStructures,
  updateStructureRequest,
} from "./structures.ts";

const listPageSize = 100;

export interface Account {
  structures(): Promise<ContactStructure[]>;
  /** The structure to work in: the named one, else the account's only one. */
  structure(named?: string): Promise<ContactStructure>;
  /**
   * The structure with its tags. A listing that follows the specification to the letter leaves them out; then it is read
   * alone. Where that is not possible either, `tags` stays undefined: unknown, which is not the same as none.
   */
  complete(structure: ContactStructure): Promise<ContactStructure>;
  /** Every list of the structure. */
  lists(structure: ContactStructure): Promise<ContactList[]>;
  list(structure: ContactStructure, wanted: string): Promise<ContactList>;
  /** What was fetched so far, without a request: names for what is shown. */
  known(structure: ContactStructure): Promise<{ structure: ContactStructure; lists: ContactList[] }>;
  /** Forgets what was fetched, after a write that changed it. */
  forget(): void;
}

/**
 * @param preferred the structure named by flag, environment or profile, if any
 * @param behaviors what is known of how the service behaves
 */
export function createAccount(send: Send, preferred?: string, behaviors?: Behaviors): Account {
  let structures: Promise<ContactStructure[]> | undefined;
  const completed = new Map<string, Promise<ContactStructure>>();
  const lists = new Map<string, Promise<ContactList[]>>();

  const account: Account = {
    structures() {
      structures ??= send(listStructuresRequest()).then(readStructures);
      return structures;
    },
    async structure(named = preferred) {
      return chooseStructure(await account.structures(), named);
    },
    async complete(structure) {
      if (structure.tags !== undefined && structure.__v !== undefined) return structure;
      let whole = completed.get(structure._id);
      if (!whole) {
        whole = fetchWhole(send, structure);
        completed.set(structure._id, whole);
      }
      return whole;
    },
    lists(structure) {
      let known = lists.get(structure._id);
      if (!known) {
        known = fetchAllLists(send, structure._id, behaviors?.(structure._id));
        lists.set(structure._id, known);
      }
      return known;
    },
    async list(structure, wanted) {
      return resolveName(wanted, await account.lists(structure), (list) => list.name, "list");
    },
    async known(structure) {
      return {
        structure: (await completed.get(structure._id)) ?? structure,
        lists: (await lists.get(structure._id)) ?? [],
      };
    },
    forget() {
      structures = undefined;
      completed.clear();
      lists.clear();
    },
  };
  return account;
}

/** @throws UsageError when the account has several structures and none is named; NotFoundError. */
export function chooseStructure(structures: ContactStructure[], named?: string): ContactStructure {
  if (named !== undefined) return resolveName(named, structures, (structure) => structure.label, "structure");
  if (structures.length === 1) return structures[0]!;
  const known = structures
    .map((structure) => `${structure._id} (${JSON.stringify(structure.label)})`)
    .join(", ");
  throw new UsageError(
    structures.length === 0
      ? "the account has no contact structure"
      : `the account has several structures: ${known}`,
    "choose one with --structure, ECM_STRUCTURE, or ecm auth login --structure",
  );
}

/** One structure by itself; as it is when the service does not let a key read one. */
async function fetchWhole(send: Send, structure: ContactStructure): Promise<ContactStructure> {
  try {
    return { ...structure, ...readStructure(await send(getStructureRequest(structure._id))) };
  } catch (error) {
    if (error instanceof ServiceError && (error.status === 403 || error.status === 404)) return structure;
    throw error;
  }
}

/** Reads the pages of a structure's lists. */
export function listPages(send: Send, structureId: string, behavior?: Behavior): ReadPage<ContactList> {
  return async (page, size) => {
    const { lists, total } = readLists(await send(listListsRequest(structureId, page, size)));
    behavior?.learn("lists", total === undefined ? "array" : "records");
    return { items: lists, total };
  };
}

/** Every list, page after page; a bare array has no total, so that it ends with a page that brings nothing new. */
export async function fetchAllLists(
  send: Send,
  structureId: string,
  behavior?: Behavior,
): Promise<ContactList[]> {
  const read = listPages(send, structureId, behavior);
  const opened = await openPages(read, { size: listPageSize, behavior, of: "lists" });
  const byId = new Map<string, ContactList>();
  for await (const lists of pagesInOrder(read, opened, ({ _id }) => _id)) {
    for (const list of lists) byId.set(list._id, list);
  }
  return [...byId.values()];
}

/** Creates the missing ones of these list names; returns name → list for all of them. */
export async function ensureLists(
  send: Send,
  account: Account,
  structure: ContactStructure,
  names: string[],
): Promise<Map<string, ContactList>> {
  const known = await account.lists(structure);
  const result = new Map<string, ContactList>();
  for (const name of names) {
    let list = findByName(
      name,
      [...known, ...result.values()].filter(uniqueById()),
      (each) => each.name,
      "list",
    );
    list ??= readList(await send(createListRequest(structure._id, name)));
    // The specification shows only `_id` in the answer to a creation.
    result.set(name, { ...list, name: list.name ?? name });
  }
  if (result.size > 0) account.forget();
  return result;
}

/** Adds the missing ones of these tag labels to the structure in one update; returns the structure as it is then. */
export async function ensureTags(
  send: Send,
  account: Account,
  structure: ContactStructure,
  labels: string[],
): Promise<ContactStructure> {
  const whole = await account.complete(structure);
  const body = addTags(whole, labels);
  if (!body) return whole;
  const answer = await send<ContactStructure>(updateStructureRequest(structure._id, body));
  account.forget();
  return readStructure(answer);
}

function uniqueById(): (list: ContactList) => boolean {
  const seen = new Set<string>();
  return (list) => !seen.has(list._id) && Boolean(seen.add(list._id));
}
