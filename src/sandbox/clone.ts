/** Another account's structure, lists and contacts, put into the sandbox under their own ids. */
import { realClock } from "../clock.ts";
import type { Clock, Contact, ContactList, ContactStructure } from "../wire.ts";
import { shrink, startAfresh } from "./store/afresh.ts";
import type { StoredContact } from "./store/contacts.ts";
import { noteId } from "./store/ids.ts";
import { openStore, type Store } from "./store/index.ts";

export interface Clone {
  /** Adds contacts as a search gave them. Returns how many could not be: their key differs from another's in case alone. */
  addContacts(contacts: Partial<Contact>[]): number;
  /** Puts contacts that were added into a list. */
  join(listId: string, contactIds: string[]): void;
  close(): void;
}

/**
 * Empties the folder and furnishes it with the structure and the lists. What the answers did not say is taken as the
 * service would begin: version 0, created now, active.
 */
export async function openClone(
  { folder, clock = realClock }: { folder: string; clock?: Clock },
  structure: ContactStructure,
  lists: ContactList[],
): Promise<Clone> {
  const now = clock.now();
  const store = await openStore(folder, now);
  const furnish = () => {
    const stored = { ...structure, tags: structure.tags ?? [], __v: structure.__v ?? 0 };
    store.structures.put(stored);
    noteAll(store, [structure, ...structure.fields, ...stored.tags, ...lists]);
    for (const { _id, name } of lists) store.lists.add(structure._id, { _id, name, now });
  };
  store.database.transaction(() => startAfresh(store, furnish));
  shrink(store);
  const known = {
    fields: new Set(structure.fields.map((field) => field._id)),
    tags: new Set(structure.tags?.map((tag) => tag._id)),
    lists: new Set(lists.map((list) => list._id)),
  };
  const idsIn = (refs: { _id: string }[] | undefined, ids: Set<string>) => [
    ...new Set(refs?.map((ref) => ref._id).filter((_id) => ids.has(_id))),
  ];

  const storedOf = (id: string, key: string, contact: Partial<Contact>): StoredContact => ({
    id,
    structureId: structure._id,
    key,
    fields: (contact.fields ?? []).filter(
      (field) => known.fields.has(field._id) && typeof field.value === "string",
    ),
    lists: idsIn(contact.lists, known.lists),
    tags: idsIn(contact.tags, known.tags),
    status: statusOf(contact),
    createdAt: timeOf(contact.createdAt, now),
    updatedAt: timeOf(contact.updatedAt ?? contact.createdAt, now),
    version: contact.__v ?? 0,
  });

  return {
    addContacts: (contacts) =>
      store.database.transaction(() => {
        let refused = 0;
        for (const contact of contacts) {
          const { _id, key } = contact;
          const isNew = _id !== undefined && key !== undefined && !store.contacts.idOfKey(structure._id, key);
          if (isNew) store.contacts.add(storedOf(_id, key, contact));
          else refused += 1;
        }
        noteAll(store, contacts);
        return refused;
      }),
    join: (listId, contactIds) =>
      store.database.transaction(() => {
        for (const before of store.contacts.some(contactIds)) {
          if (!before.lists.includes(listId)) {
            store.contacts.replace(before, { ...before, lists: [...before.lists, listId] });
          }
        }
      }),
    close: () => store.database.close(),
  };
}

/** In one object, or in the two parts of a search; what tells none is taken for active. */
function statusOf({ status, contactStatus, contactSubStatus }: Partial<Contact>): StoredContact["status"] {
  if (status) return status;
  if (contactStatus === undefined) return { primary: "active", secondary: "confirmed" };
  return contactSubStatus === undefined
    ? { primary: contactStatus }
    : { primary: contactStatus, secondary: contactSubStatus };
}

/** The sandbox's own ids come after all of these. */
function noteAll(store: Store, things: { _id?: string }[]): void {
  for (const { _id } of things) if (_id !== undefined) noteId(store.database, _id);
}

function timeOf(text: string | undefined, otherwise: number): number {
  const time = Date.parse(text ?? "");
  return Number.isNaN(time) ? otherwise : time;
}
