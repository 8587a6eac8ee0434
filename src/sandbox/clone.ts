/** Another account's structure, lists and contacts, put into the sandbox under their own ids. */
import { realClock } from "../clock.ts";
import type { Clock, Contact, ContactList, ContactStructure } from "../wire.ts";
import type { StoredContact } from "./store/contacts.ts";
import { noteId } from "./store/ids.ts";
import { openStore, type Store } from "./store/index.ts";
import { resetAccount, vacuum } from "./store/reset-account.ts";

/**
 * Empties the folder and fills it with the structure and the lists. Where the answers left something out,
 * the values of a new contact are used: version 0, created now, active.
 */
export async function openClone(
  { folder, clock = realClock }: { folder: string; clock?: Clock },
  structure: ContactStructure,
  lists: ContactList[],
): Promise<Clone> {
  const now = clock.now();
  const store = await openStore(folder, now);
  store.database.transaction(() => resetAccount(store, () => addStructure(store, { structure, lists, now })));
  vacuum(store);
  return new Clone(store, { structure, lists, now });
}

interface ClonedAccount {
  structure: ContactStructure;
  lists: ContactList[];
  /** Milliseconds since the epoch. */
  now: number;
}

function addStructure(store: Store, { structure, lists, now }: ClonedAccount): void {
  const stored = { ...structure, tags: structure.tags ?? [], __v: structure.__v ?? 0 };
  store.structures.put(stored);
  noteIds(store, [structure, ...structure.fields, ...stored.tags, ...lists]);
  for (const { _id, name } of lists) store.lists.add(structure._id, { _id, name, now });
}

export class Clone {
  private readonly store: Store;
  private readonly structureId: string;
  private readonly now: number;
  private readonly known: { fields: Set<string>; tags: Set<string>; lists: Set<string> };

  constructor(store: Store, { structure, lists, now }: ClonedAccount) {
    this.store = store;
    this.structureId = structure._id;
    this.now = now;
    this.known = {
      fields: new Set(structure.fields.map((field) => field._id)),
      tags: new Set(structure.tags?.map((tag) => tag._id)),
      lists: new Set(lists.map((list) => list._id)),
    };
  }

  /**
   * Adds contacts; one without a status is taken for active. Returns how many could not be added: their key
   * differs from another's in case alone.
   */
  addContacts(contacts: Partial<Contact>[]): number {
    return this.store.database.transaction(() => {
      let refused = 0;
      for (const contact of contacts) {
        const { _id, key } = contact;
        const isNew =
          _id !== undefined && key !== undefined && !this.store.contacts.findIdByKey(this.structureId, key);
        if (isNew) this.store.contacts.add(this.toStored(_id, key, contact));
        else refused += 1;
      }
      noteIds(this.store, contacts);
      return refused;
    });
  }

  /** Puts contacts that were added into a list. */
  join(listId: string, contactIds: string[]): void {
    this.store.database.transaction(() => {
      for (const before of this.store.contacts.getAll(contactIds)) {
        if (before.lists.includes(listId)) continue;
        this.store.contacts.replace(before, { ...before, lists: [...before.lists, listId] });
      }
    });
  }

  close(): void {
    this.store.database.close();
  }

  private toStored(id: string, key: string, contact: Partial<Contact>): StoredContact {
    return {
      id,
      structureId: this.structureId,
      key,
      fields: (contact.fields ?? []).filter(
        (field) => this.known.fields.has(field._id) && typeof field.value === "string",
      ),
      lists: knownIds(contact.lists, this.known.lists),
      tags: knownIds(contact.tags, this.known.tags),
      status: contact.status ?? { primary: "active", secondary: "confirmed" },
      createdAt: parseTime(contact.createdAt, this.now),
      updatedAt: parseTime(contact.updatedAt ?? contact.createdAt, this.now),
      version: contact.__v ?? 0,
    };
  }
}

function knownIds(refs: { _id: string }[] | undefined, known: Set<string>): string[] {
  return [...new Set(refs?.map((ref) => ref._id).filter((_id) => known.has(_id)))];
}

/** The sandbox's own ids come after all of these. */
function noteIds(store: Store, things: { _id?: string }[]): void {
  for (const { _id } of things) if (_id !== undefined) noteId(store.database, _id);
}

function parseTime(text: string | undefined, fallback: number): number {
  const time = Date.parse(text ?? "");
  return Number.isNaN(time) ? fallback : time;
}
