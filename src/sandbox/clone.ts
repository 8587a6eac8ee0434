/** Another account's structure, lists and contacts, put into the sandbox under their own ids. */
import { realClock } from "../clock.ts";
import type { Clock, Contact, ContactList, ContactStructure } from "../wire.ts";
import { noteId } from "./store/ids.ts";
import { openStore, type Store } from "./store/index.ts";
import { resetAccount, vacuum } from "./store/reset-account.ts";

export interface ClonedAccount {
  structure: ContactStructure;
  lists: ContactList[];
  contacts: Partial<Contact>[];
}

/**
 * Replaces what the folder holds, all at once. Where the answers left something out, the values of a new
 * contact are used: version 0, created now, active.
 * @returns how many contacts could not be added: their key differs from another's in case alone
 */
export async function replaceByClone(
  { folder, clock = realClock }: { folder: string; clock?: Clock },
  account: ClonedAccount,
): Promise<number> {
  const now = clock.now();
  const store = await openStore(folder, now);
  try {
    const refused = store.database.transaction(() => {
      resetAccount(store, () => addStructure(store, account, now));
      return account.contacts.filter((contact) => !addContact(store, account, contact, now)).length;
    });
    vacuum(store);
    return refused;
  } finally {
    store.database.close();
  }
}

function addStructure(store: Store, { structure, lists }: ClonedAccount, now: number): void {
  const stored = { ...structure, tags: structure.tags ?? [], __v: structure.__v ?? 0 };
  store.structures.put(stored);
  for (const { _id, name } of lists) store.lists.add(structure._id, { _id, name, now });
  // The sandbox's own ids come after all of these.
  for (const { _id } of [structure, ...structure.fields, ...stored.tags, ...lists]) {
    noteId(store.database, _id);
  }
}

/** Returns whether it could be added. */
function addContact(
  store: Store,
  { structure, lists }: ClonedAccount,
  contact: Partial<Contact>,
  now: number,
): boolean {
  const { _id, key } = contact;
  if (_id === undefined || key === undefined || store.contacts.findIdByKey(structure._id, key)) return false;
  store.contacts.add({
    id: _id,
    structureId: structure._id,
    key,
    fields: (contact.fields ?? []).filter(
      (field) => typeof field.value === "string" && structure.fields.some((each) => each._id === field._id),
    ),
    lists: knownIds(contact.lists, lists),
    tags: knownIds(contact.tags, structure.tags ?? []),
    status: contact.status ?? { primary: "active", secondary: "confirmed" },
    createdAt: parseTime(contact.createdAt, now),
    updatedAt: parseTime(contact.updatedAt ?? contact.createdAt, now),
    version: contact.__v ?? 0,
  });
  noteId(store.database, _id);
  return true;
}

function knownIds(refs: { _id: string }[] | undefined, known: { _id: string }[]): string[] {
  const ids = new Set(refs?.map(({ _id }) => _id));
  return known.map(({ _id }) => _id).filter((_id) => ids.has(_id));
}

function parseTime(text: string | undefined, fallback: number): number {
  const time = Date.parse(text ?? "");
  return Number.isNaN(time) ? fallback : time;
}
