/**
 * What the account holds of the contacts that a run names, in as few requests as possible: the keys of a
 * block in one search, or every contact page by page where the account is smaller than the input.
 */
import { isId } from "../../api/names.ts";
import type { Behavior } from "../../service/behavior.ts";
import type { Contact } from "../../wire.ts";
import type { Item } from "../items.ts";
import { maxBlockSize } from "./block-keys.ts";
import { BlockSearch, isWritten } from "./block-search.ts";
import type { Found, LookupOptions } from "./found.ts";

/**
 * Contacts whose first item is remembered; more would not fit into
 * little memory, and then only those named by id are.
 */
const maxRememberedContacts = 100_000;

export class Lookup {
  readonly structureId: string;
  readonly keyType: string;
  readonly behavior: Behavior;
  /** Everyone is known from pages of the account: nobody has to be asked for. */
  readonly knowsAll: boolean;
  /** When the oldest page was read, in milliseconds since the epoch; infinite without pages. */
  readonly takenAt: number;
  private readonly options: LookupOptions;
  private readonly search: BlockSearch;
  /** Which item named a contact first. */
  private readonly firstRefs = new Map<string, number>();

  constructor(options: LookupOptions) {
    this.options = options;
    this.structureId = options.structureId;
    this.keyType = options.keyType;
    this.behavior = options.behavior;
    this.search = new BlockSearch(options);
    this.knowsAll = options.isAbsentOutside === true;
    this.takenAt = options.snapshot?.takenAt ?? Number.POSITIVE_INFINITY;
  }

  /** Contacts in a block; fewer where the service refuses so many keys. */
  get blockSize(): number {
    return Math.min(maxBlockSize, this.options.keys.limit);
  }

  /** From the snapshot where there is one, else from the service. Keyed by `ref`. */
  async find(items: readonly Item[]): Promise<Map<number, Found>> {
    if (!this.options.snapshot) return this.findFresh(items);
    const found = new Map<number, Found>();
    const missing: Item[] = [];
    for (const item of items) {
      const each = this.recall(item);
      if (each) found.set(item.ref, each);
      else missing.push(item);
    }
    if (missing.length === 0) return this.markEach(items, found);
    for (const [ref, each] of await this.search.findFresh(missing)) found.set(ref, each);
    return this.markEach(items, found);
  }

  /** From the service, now. */
  async findFresh(items: readonly Item[]): Promise<Map<number, Found>> {
    return this.markEach(items, await this.search.findFresh(items));
  }

  /** A contact that this look-up has missed or could not know of. */
  note(contact: Partial<Contact>): void {
    this.options.keys.note(contact);
  }

  /** One contact by its id; undefined when it does not exist. */
  read(contactId: string): Promise<Contact | undefined> {
    return this.search.read(contactId);
  }

  private recall(item: Item): Found | undefined {
    const { snapshot } = this.options;
    const contact =
      (isId(item.key.written) ? snapshot?.findById(item.key.identity) : undefined) ??
      snapshot?.find(item.key.identity, (each) => isWritten(item, each));
    return contact || this.knowsAll ? { contact, isRemembered: true } : undefined;
  }

  private markEach(items: readonly Item[], found: Map<number, Found>): Map<number, Found> {
    for (const item of items) {
      const each = found.get(item.ref);
      if (!each?.contact) continue;
      found.set(item.ref, this.options.isGone?.(item, each.contact) ? {} : this.markRepeated(item, each));
    }
    return found;
  }

  /** Where contacts are named by keys and by ids, one may be named by both. */
  private markRepeated(item: Item, found: Found): Found {
    const id = found.contact?._id;
    if (!this.options.marksRepeats || id === undefined) return found;
    const first = this.firstRefs.get(id);
    if (first !== undefined && first !== item.ref) return { ...found, isRepeated: true };
    if (this.firstRefs.size < maxRememberedContacts || isId(item.key.written))
      this.firstRefs.set(id, item.ref);
    return found;
  }
}
