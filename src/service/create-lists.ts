/** Lists that are wanted by their names: what is missing is created, once. */

import { createEquals, createFilter, readSearch, searchContactsRequest } from "../api/contacts.ts";
import { createListRequest, readList } from "../api/lists.ts";
import { findByName, foldCase } from "../api/names.ts";
import { conflictError } from "../errors.ts";
import { advise, ecm } from "../hint.ts";
import type { ContactList, ContactStructure, Send } from "../wire.ts";
import type { Account } from "./account.ts";
import { deleteList, type ListReading } from "./lists.ts";

export interface EnsuredLists {
  /** As the service answered. The specification shows only `_id` in the answer to a creation. */
  lists: Map<string, ContactList>;
  /** Names of the lists that were created now. For the other names, an existing list is used. */
  created: Set<string>;
}

/**
 * Creates the missing ones of these list names. The service takes a name twice, so that the lists are read
 * again right before and after: of two creators at once, the older list stays and the other one, which is
 * empty, is deleted again.
 * @throws EcmError (exit 6) when there are two lists of a name now and neither is empty
 */
export async function ensureLists(
  send: Send,
  account: Account,
  structure: ContactStructure,
  names: readonly string[],
): Promise<EnsuredLists> {
  return account.names.creating(structure._id, async () => {
    const before = await account.freshLists(structure);
    const found = await findOrCreate(send, structure._id, before.lists, names);
    const creations = found.made.size;
    if (creations > 0) {
      if (!(await isAlone(account, structure, before, creations))) {
        const { lists: all } = await account.freshLists(structure);
        await yieldToOlder(send, structure._id, found, all);
      }
      account.forgetListsBefore(structure, [...before.lists, ...found.made.values()]);
    }
    return { lists: found.lists, created: new Set(found.made.keys()) };
  });
}

/** Lists by the names that were wanted. */
interface FoundLists {
  lists: Map<string, ContactList>;
  /** Those of them that were created now. */
  made: Map<string, ContactList>;
}

async function findOrCreate(
  send: Send,
  structureId: string,
  before: readonly ContactList[],
  names: readonly string[],
): Promise<FoundLists> {
  const lists = new Map<string, ContactList>();
  const made = new Map<string, ContactList>();
  for (const name of names) {
    const earlier = [...made].find(([other]) => foldCase(other) === foldCase(name))?.[1];
    const ofName = before.filter((each) => foldCase(each.name ?? "") === foldCase(name));
    const existing = earlier ?? findByName(name, ofName, (each) => each.name, "list");
    const list = existing ?? readList(await send(createListRequest(structureId, name)));
    lists.set(name, list);
    if (!existing) made.set(name, { ...list, name });
  }
  return { lists, made };
}

/** Replaces lists that were created now by older ones of the same name, which another creator made. */
async function yieldToOlder(
  send: Send,
  structureId: string,
  { lists, made }: FoundLists,
  all: readonly ContactList[],
): Promise<void> {
  for (const [name, own] of made) {
    const older = findOlderList(own, all);
    if (!older) continue;
    await deleteIfEmpty(send, structureId, own, older);
    made.delete(name);
    for (const [each, list] of lists) if (list._id === own._id) lists.set(each, older);
  }
}

/**
 * Whether nobody else has created a list meanwhile. Where the service says how many there are, one request
 * tells.
 */
async function isAlone(account: Account, structure: ContactStructure, before: ListReading, created: number) {
  return before.hasTotal && (await account.countLists(structure)) === before.lists.length + created;
}

/** The oldest other list of the same name; undefined when this one is the oldest. */
function findOlderList(own: ContactList, all: readonly ContactList[]): ContactList | undefined {
  const listed = all.find(({ _id }) => _id === own._id) ?? own;
  const others = all.filter(
    (list) => list._id !== own._id && foldCase(list.name ?? "") === foldCase(own.name),
  );
  const [oldest] = [listed, ...others].sort(compareAge);
  return oldest === listed ? undefined : oldest;
}

/**
 * Ids decide where the service does not say when a list was created, or says the same time: everybody decides
 * alike.
 */
function compareAge(one: ContactList, other: ContactList): number {
  const [first, second] = [one, other].map(({ createdAt }) => Date.parse(createdAt ?? ""));
  if (first !== second && !Number.isNaN(first! - second!)) return first! - second!;
  return one._id < other._id ? -1 : 1;
}

async function deleteIfEmpty(send: Send, structureId: string, own: ContactList, older: ContactList) {
  const members = searchContactsRequest({
    structureId,
    filters: createFilter(createEquals("LIST_ID", [own._id])),
    page: 1,
    pageSize: 1,
    source: ["_id"],
  });
  if (readSearch(await send(members)).totalRecords === 0) return deleteList(send, structureId, own._id);
  throw conflictError(
    `There are two lists named ${JSON.stringify(own.name)} now (${older._id} and ${own._id})`,
    advise`Rename one of them with: ${ecm`lists rename ${own._id} NAME`}`,
    { type: "DuplicateFieldError", field: "name", applied: "yes" },
  );
}
