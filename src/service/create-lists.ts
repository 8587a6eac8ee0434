/** Lists that are wanted by their names: what is missing is created, once. */

import { createListRequest, readList } from "../api/lists.ts";
import { findByName, foldCase } from "../api/names.ts";
import type { ContactList, ContactStructure, Send } from "../wire.ts";
import type { Account } from "./account.ts";

interface EnsuredLists {
  /** As the service answered. The specification shows only `_id` in the answer to a creation. */
  lists: Map<string, ContactList>;
  /** Names of the lists that were created now. For the other names, an existing list is used. */
  created: Set<string>;
}

/**
 * Creates the missing ones of these list names. The service takes a name twice: the lists are read again
 * right before, while no other process that shares the state folder creates any.
 */
export async function ensureLists(
  send: Send,
  account: Account,
  structure: ContactStructure,
  names: readonly string[],
): Promise<EnsuredLists> {
  return account.names.creating(structure._id, async () => {
    const known = [...(await account.freshLists(structure))];
    const lists = new Map<string, ContactList>();
    const created = new Set<string>();
    for (const name of names) {
      const ofName = known.filter((each) => foldCase(each.name ?? "") === foldCase(name));
      const existing = findByName(name, ofName, (each) => each.name, "list");
      const list = existing ?? readList(await send(createListRequest(structure._id, name)));
      lists.set(name, list);
      if (existing) continue;
      created.add(name);
      known.push({ ...list, name });
    }
    if (created.size > 0) account.forgetListsBefore(structure, known);
    return { lists, created };
  });
}
