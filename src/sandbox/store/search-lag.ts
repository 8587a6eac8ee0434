/** A search that sees each write only after a while. What lists and structures do to contacts it sees at once. */
import type { Clock } from "../../wire.ts";
import type { StoredContact } from "./contacts.ts";
import type { Store } from "./index.ts";
import { isWanted } from "./search.ts";

interface Write {
  /** Milliseconds since the epoch. */
  at: number;
  /** The contact before it; undefined: there was none. */
  before: StoredContact | undefined;
}

/** The same store, whose search shows contacts as they were so long ago. Only writes through this store lag. */
export function laggingBehind(store: Store, milliseconds: number, clock: Clock): Store {
  /** Of each contact the writes that a search does not see yet, the oldest first. */
  const unseen = new Map<string, Write[]>();
  let knownTables: number | undefined;
  /** A reset, or a snapshot that is loaded, makes the tables anew: who was in them before is neither shown nor hidden. */
  const forgetReplaced = () => {
    const tables = store.database.get<{ schema_version: number }>("PRAGMA schema_version")?.schema_version;
    if (tables !== knownTables) unseen.clear();
    knownTables = tables;
  };
  const note = (id: string, before: StoredContact | undefined) => {
    forgetReplaced();
    const writes = unseen.get(id) ?? [];
    unseen.set(id, [...writes, { at: clock.now(), before }]);
  };
  const forgetSeen = () => {
    for (const [id, writes] of unseen) {
      const left = writes.filter(({ at }) => clock.now() - at < milliseconds);
      if (left.length > 0) unseen.set(id, left);
      else unseen.delete(id);
    }
  };
  const { contacts } = store;
  return {
    ...store,
    contacts: {
      ...contacts,
      add(contact) {
        contacts.add(contact);
        note(contact.id, undefined);
      },
      replace(before, after) {
        contacts.replace(before, after);
        note(before.id, before);
      },
      remove(contact) {
        contacts.remove(contact);
        note(contact.id, contact);
      },
    },
    search(alternatives, offset, count) {
      forgetReplaced();
      forgetSeen();
      if (unseen.size === 0) return store.search(alternatives, offset, count);
      const now = store.search(alternatives, 0, Number.POSITIVE_INFINITY).contacts;
      const then = Array.from(unseen.values(), ([oldest]) => oldest?.before).filter(
        (contact) => contact !== undefined && alternatives.some((wanted) => isWanted(contact, wanted)),
      ) as StoredContact[];
      const shown = [...now.filter(({ id }) => !unseen.has(id)), ...then].sort((a, b) =>
        a.id < b.id ? -1 : 1,
      );
      return { total: shown.length, contacts: shown.slice(offset, offset + count) };
    },
  };
}
