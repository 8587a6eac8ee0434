/**
 * What the account holds of the contacts that a run names, in as few requests as possible: the keys of a
 * block in one search, or every contact page by page where the account is smaller than the input.
 */
import { isId } from "../../api/names.ts";
import type { Contact } from "../../wire.ts";
import type { Item } from "../items.ts";
import { maxBlockSize } from "./block-keys.ts";
import { BlockSearch, isWritten } from "./block-search.ts";
import type { Found, LookupOptions } from "./found.ts";

export interface Lookup {
  /** Contacts in a block; fewer where the service refuses so many keys. */
  readonly blockSize: number;
  /** Everyone is known from pages of the account: nobody has to be asked for. */
  readonly knowsAll: boolean;
  /** When the oldest page was read, in milliseconds since the epoch; infinite without pages. */
  readonly takenAt: number;
  /** From the snapshot where there is one, else from the service. Keyed by `ref`. */
  find(items: readonly Item[]): Promise<Map<number, Found>>;
  /** From the service, now. */
  findFresh(items: readonly Item[]): Promise<Map<number, Found>>;
  /** A contact that a plain search does not show, found among the inactive ones. */
  findHidden(item: Item): Promise<Partial<Contact> | undefined>;
  /** A contact that this look-up has missed or could not know of. */
  meet(contact: Partial<Contact>): void;
  /** One contact by its id; undefined when it does not exist. */
  read(contactId: string): Promise<Contact | undefined>;
}

/**
 * Contacts whose first item is remembered; more would not fit into
 * little memory, and then only those named by id are.
 */
const maxRememberedContacts = 100_000;

export function createLookup(options: LookupOptions): Lookup {
  const { keys, snapshot, behavior } = options;
  const search = new BlockSearch(options);
  const isKnownAbsent = options.isAbsentOutside === true;
  const takenAt = snapshot?.takenAt ?? Number.POSITIVE_INFINITY;
  /** Which item named a contact first. */
  const firstRefs = new Map<string, number>();

  /** Where contacts are named by keys and by ids, one may be named by both. */
  function markRepeated(item: Item, found: Found): Found {
    const id = found.contact?._id;
    if (!options.asksHidden || id === undefined) return found;
    const first = firstRefs.get(id);
    if (first !== undefined && first !== item.ref) return { ...found, isRepeated: true };
    if (firstRefs.size < maxRememberedContacts || isId(item.key.written)) firstRefs.set(id, item.ref);
    return found;
  }

  function markEach(items: readonly Item[], found: Map<number, Found>): Map<number, Found> {
    for (const item of items) {
      const each = found.get(item.ref);
      if (each) found.set(item.ref, markRepeated(item, each));
    }
    return found;
  }

  function recall(item: Item): Found | undefined {
    const contact =
      (isId(item.key.written) ? snapshot?.findById(item.key.identity) : undefined) ??
      snapshot?.find(item.key.identity, (each) => isWritten(item, each));
    const isAsked = options.asksHidden || item.isAskedHidden;
    const isAbsent = isKnownAbsent && (!isAsked || behavior.get("inactive") === "shown");
    return contact || isAbsent ? { contact, isRemembered: true } : undefined;
  }

  return {
    get blockSize() {
      return Math.min(maxBlockSize, keys.limit);
    },
    knowsAll: isKnownAbsent,
    takenAt,
    findFresh: async (items) => markEach(items, await search.findFresh(items)),
    async find(items) {
      if (!snapshot) return markEach(items, await search.findFresh(items));
      const found = new Map<number, Found>();
      const missing: Item[] = [];
      for (const item of items) {
        const each = recall(item);
        if (each) found.set(item.ref, each);
        else missing.push(item);
      }
      if (missing.length === 0) return markEach(items, found);
      if (isKnownAbsent) {
        for (const { ref } of missing) found.set(ref, { isRemembered: true });
        await search.hidden.tellHidden(missing, found);
      } else for (const [ref, each] of await search.findFresh(missing)) found.set(ref, each);
      return markEach(items, found);
    },
    findHidden: (item) => search.hidden.findHidden(item),
    meet: keys.meet,
    read: (contactId) => search.read(contactId),
  };
}
