/**
 * A search that sees each write only after a while. Effects of
 * lists and structures on contacts it sees at once.
 */
import type { Clock } from "../../wire.ts";
import { ContactStore, type StoredContact } from "./contacts.ts";
import type { Store } from "./index.ts";
import { type FoundContacts, matches, type StoredContactQuery, type StoredContactSearch } from "./search.ts";

interface Write {
  /** Milliseconds since the epoch. */
  at: number;
  /** The contact before it; undefined: there was none. */
  before: StoredContact | undefined;
}

/** The same store with a search that is `milliseconds` behind. Only writes through this store lag. */
export function withSearchLag(store: Store, milliseconds: number, clock: Clock): Store {
  const search = new LaggingSearch(store, milliseconds, clock);
  return { ...store, search, contacts: new NotingContacts(store, search) };
}

class NotingContacts extends ContactStore {
  private readonly search: LaggingSearch;

  constructor({ database }: Store, search: LaggingSearch) {
    super(database);
    this.search = search;
  }

  override add(contact: StoredContact): void {
    super.add(contact);
    this.search.note(contact.id, undefined);
  }

  override replace(before: StoredContact, after: StoredContact): void {
    super.replace(before, after);
    this.search.note(before.id, before);
  }

  override remove(contact: StoredContact): void {
    super.remove(contact);
    this.search.note(contact.id, contact);
  }
}

class LaggingSearch implements StoredContactSearch {
  private readonly store: Store;
  private readonly milliseconds: number;
  private readonly clock: Clock;
  /** Of each contact the writes that a search does not see yet, the oldest first. */
  private readonly unseen = new Map<string, Write[]>();
  private knownTables: number | undefined;

  constructor(store: Store, milliseconds: number, clock: Clock) {
    this.store = store;
    this.milliseconds = milliseconds;
    this.clock = clock;
  }

  note(id: string, before: StoredContact | undefined): void {
    this.forgetReplaced();
    const writes = this.unseen.get(id) ?? [];
    this.unseen.set(id, [...writes, { at: this.clock.now(), before }]);
  }

  find(alternatives: StoredContactQuery[], offset: number, count: number): FoundContacts {
    this.forgetReplaced();
    this.forgetSeen();
    const { search } = this.store;
    if (this.unseen.size === 0) return search.find(alternatives, offset, count);
    const unchanged = search
      .find(alternatives, 0, Number.POSITIVE_INFINITY)
      .contacts.filter(({ id }) => !this.unseen.has(id));
    const earlier = Array.from(this.unseen.values(), ([oldest]) => oldest?.before)
      .filter((contact) => contact !== undefined)
      .filter((contact) => alternatives.some((query) => matches(contact, query)));
    const shown = [...unchanged, ...earlier].sort((a, b) => (a.id < b.id ? -1 : 1));
    return { total: shown.length, contacts: shown.slice(offset, offset + count) };
  }

  /** A reset or a loaded snapshot replaces the tables: contacts of before are neither shown nor hidden. */
  private forgetReplaced(): void {
    const row = this.store.database.get<{ schema_version: number }>("PRAGMA schema_version");
    if (row?.schema_version !== this.knownTables) this.unseen.clear();
    this.knownTables = row?.schema_version;
  }

  private forgetSeen(): void {
    for (const [id, writes] of this.unseen) {
      const left = writes.filter(({ at }) => this.clock.now() - at < this.milliseconds);
      if (left.length > 0) this.unseen.set(id, left);
      else this.unseen.delete(id);
    }
  }
}
