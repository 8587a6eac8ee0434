/**
 * What a command knows of the account: its structures and lists, fetched when first asked for and then
 * remembered for the length of the command. Names resolve to ids here.
 */
import { UsageError } from "../errors.ts";
import type { ContactList, ContactStructure, FieldDefinition, Send, TagDefinition } from "../wire.ts";
import { createListRequest, listListsRequest, readList, readLists } from "./lists.ts";
import { findByName, resolveName } from "./names.ts";
import { listStructuresRequest, readStructures, updateStructureRequest } from "./structures.ts";

const listPageSize = 100;

export interface Account {
  structures(): Promise<ContactStructure[]>;
  /** The structure to work in: the named one, else the account's only one. */
  structure(named?: string): Promise<ContactStructure>;
  /** Every list of the structure. */
  lists(structure: ContactStructure): Promise<ContactList[]>;
  list(structure: ContactStructure, wanted: string): Promise<ContactList>;
  /** Forgets what was fetched, after a write that changed it. */
  forget(): void;
}

/** @param preferred the structure named by flag, environment or profile, if any */
export function createAccount(send: Send, preferred?: string): Account {
  let structures: Promise<ContactStructure[]> | undefined;
  const lists = new Map<string, Promise<ContactList[]>>();

  const account: Account = {
    structures() {
      structures ??= send(listStructuresRequest()).then(readStructures);
      return structures;
    },
    async structure(named = preferred) {
      return chooseStructure(await account.structures(), named);
    },
    lists(structure) {
      let known = lists.get(structure._id);
      if (!known) {
        known = fetchAllLists(send, structure._id);
        lists.set(structure._id, known);
      }
      return known;
    },
    async list(structure, wanted) {
      return resolveName(wanted, await account.lists(structure), (list) => list.name, "list");
    },
    forget() {
      structures = undefined;
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

export function resolveField(structure: ContactStructure, wanted: string): FieldDefinition {
  return resolveName(wanted, structure.fields, (field) => field.label, "field");
}

export function resolveTag(structure: ContactStructure, wanted: string): TagDefinition {
  return resolveName(wanted, structure.tags ?? [], (tag) => tag.label, "tag");
}

/** Pages through all lists; stops at the total, at a page that brings nothing new, or at a bare array's end. */
export async function fetchAllLists(send: Send, structureId: string): Promise<ContactList[]> {
  const byId = new Map<string, ContactList>();
  for (let page = 1; ; page++) {
    const answer = readLists(await send(listListsRequest(structureId, page, listPageSize)));
    const before = byId.size;
    for (const list of answer.lists) byId.set(list._id, list);
    const isLast =
      answer.total === undefined ? answer.lists.length < listPageSize : byId.size >= answer.total;
    if (isLast || byId.size === before) return [...byId.values()];
  }
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
  const tags = structure.tags ?? [];
  const missing: string[] = [];
  for (const label of labels) {
    const isNew = !findByName(label, tags, (tag) => tag.label, "tag") && !missing.includes(label);
    if (isNew) missing.push(label);
  }
  if (missing.length === 0) return structure;
  const { structureBody } = await import("./structure-edit.ts");
  const body = structureBody(structure);
  body.tags.push(...missing.map((label) => ({ label })));
  const answer = await send<ContactStructure>(updateStructureRequest(structure._id, body));
  account.forget();
  return answer.body;
}

function uniqueById(): (list: ContactList) => boolean {
  const seen = new Set<string>();
  return (list) => !seen.has(list._id) && Boolean(seen.add(list._id));
}
