/** Lists, fields and tags that are wanted by their names: what is missing is created. */
import type { ContactList, ContactStructure, Send } from "../wire.ts";
import type { Account } from "./account.ts";
import { createListRequest, readList } from "./lists.ts";
import { findByName } from "./names.ts";
import { addParts } from "./structure-edit.ts";
import { readStructure, updateStructureRequest } from "./structures.ts";

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

/** Adds the missing ones of these fields and tags to the structure in one update; returns the structure as it is then. */
export async function ensureParts(
  send: Send,
  account: Account,
  structure: ContactStructure,
  parts: { fields: { label: string; dataType: string }[]; tags: string[] },
): Promise<ContactStructure> {
  const whole = await account.forUpdate(structure);
  const body = addParts(whole, parts);
  if (!body) return whole;
  const answer = await send<ContactStructure>(updateStructureRequest(structure._id, body));
  account.forget();
  return readStructure(answer);
}

function uniqueById(): (list: ContactList) => boolean {
  const seen = new Set<string>();
  return (list) => !seen.has(list._id) && Boolean(seen.add(list._id));
}
