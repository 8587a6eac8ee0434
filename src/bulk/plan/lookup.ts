/**
 * Which contacts have these keys? What the account holds of the contacts that a run names, in as few requests
 * as possible: the keys of a block in one search, ids one by one, or every contact page by page where the
 * account is smaller than the input.
 */

import { createEquals, getContactRequest, readContact } from "../../api/contacts.ts";
import { isId } from "../../api/names.ts";
import { isEmailKey } from "../../api/structures.ts";
import { isServiceError, type ServiceError, unreadableAnswerError } from "../../errors.ts";
import type { Behavior } from "../../service/behavior.ts";
import { createContactPages, isRefusal } from "../../service/contact-search.ts";
import type { FoundByKeys, KeySearch } from "../../service/key-search.ts";
import { maxPageSize, openPages } from "../../service/pages.ts";
import { createIdentityReader } from "../../tables/index.ts";
import type { Clock, Contact, Filter, IdRef } from "../../wire.ts";
import { type Item, isSettled } from "../items.ts";
import type { PacedSend } from "../pace/paced-send.ts";
import type { AccountSnapshot } from "./snapshot.ts";

export interface Found {
  contact?: Partial<Contact>;
  /** Read earlier and kept: others may have changed it meanwhile. */
  isRemembered?: true;
  /** Read by its id: as it is, with its version. */
  isById?: boolean;
  /** The service refuses to look this key up. */
  refused?: ServiceError;
  /** Another item names the same contact: one by its key, the other by its id. */
  isRepeated?: boolean;
}

export interface LookupOptions {
  send: PacedSend;
  keys: KeySearch;
  structureId: string;
  keyType: string;
  /** Parts of a contact that decisions need, besides `_id` and `key`. */
  source: string[];
  snapshot?: AccountSnapshot;
  /** Who is not in the snapshot does not exist: it is of the whole account. */
  isAbsentOutside?: boolean;
  behavior: Behavior;
  /** Contacts are named by keys and by ids: one that is named by both is marked as repeated. */
  marksRepeats?: boolean;
  /** Lists whose members matter, for a service whose searches do not tell a contact's lists. */
  listIds?: readonly string[];
}

/** Contacts that are looked up together. */
const maxBlockSize = 100;
/** More lists than this are not asked for one by one: then the lists stay unknown, and the writes tell. */
const maxListSearches = 5;
/**
 * Contacts whose first item is remembered; more would not fit into
 * little memory, and then only those named by id are.
 */
const maxRememberedContacts = 100_000;

export class Lookup {
  readonly structureId: string;
  readonly keyType: string;
  readonly behavior: Behavior;
  readonly keys: KeySearch;
  /** Everyone is known from pages of the account: nobody has to be asked for. */
  readonly knowsAll: boolean;
  /** When the oldest page was read, in milliseconds since the epoch; infinite without pages. */
  readonly takenAt: number;
  private readonly options: LookupOptions;
  private readonly source: string[];
  private readonly readIdentity: (key: string) => string;
  /** Which item named a contact first. */
  private readonly firstRefs = new Map<string, number>();

  constructor(options: LookupOptions) {
    this.options = options;
    this.structureId = options.structureId;
    this.keyType = options.keyType;
    this.behavior = options.behavior;
    this.keys = options.keys;
    this.source = ["_id", "key", ...options.source];
    this.readIdentity = createIdentityReader(options.keyType);
    this.knowsAll = options.isAbsentOutside === true;
    this.takenAt = options.snapshot?.takenAt ?? Number.POSITIVE_INFINITY;
  }

  /**
   * The same with what was read of the account before.
   * @param isOfAll whether it was read for everybody: then who is not in it does not exist
   */
  over(snapshot: AccountSnapshot, isOfAll: boolean): Lookup {
    return new Lookup({ ...this.options, snapshot, isAbsentOutside: isOfAll && snapshot.isWhole() });
  }

  /** Contacts in a block; fewer where the service refuses so many keys. */
  get blockSize(): number {
    return Math.min(maxBlockSize, this.keys.limit);
  }

  /** As a `KeySearch` has it. */
  get readsStatusById(): boolean {
    return this.keys.readsStatusById;
  }

  /** From the snapshot where there is one, else from the service. Keyed by `ref`. */
  async find(items: readonly Item[]): Promise<Map<number, Found>> {
    const found = new Map<number, Found>();
    const missing: Item[] = [];
    for (const item of items) {
      const known = this.recall(item);
      if (known) found.set(item.ref, known);
      else missing.push(item);
    }
    return this.markEach(items, await this.addFresh(missing, found));
  }

  /** From the service, now. */
  async findFresh(items: readonly Item[]): Promise<Map<number, Found>> {
    return this.markEach(items, await this.addFresh(items, new Map()));
  }

  /** A contact that this look-up has missed or could not know of. */
  note(contact: Partial<Contact>): void {
    this.keys.note(contact);
  }

  /** One contact by its id; undefined when it does not exist. */
  async read(contactId: string): Promise<Contact | undefined> {
    const reply = await this.options.send.send(getContactRequest(contactId), "other");
    if (reply.kind === "answered") return readContact(reply.answer);
    if (reply.kind === "refused" && reply.error.details.status === 404) return undefined;
    if (reply.kind === "withheld") throw new Error("only a write is withheld");
    throw reply.error;
  }

  private recall(item: Item): Found | undefined {
    const { snapshot } = this.options;
    const contact =
      (isId(item.key.written) ? snapshot?.findById(item.key.identity) : undefined) ??
      snapshot?.find(item.key.identity, (each) => isWritten(item, each));
    return contact || this.knowsAll ? { contact, isRemembered: true } : undefined;
  }

  private async addFresh(items: readonly Item[], found: Map<number, Found>): Promise<Map<number, Found>> {
    const byId = items.filter(({ key }) => isId(key.written));
    await Promise.all(byId.map((item) => this.addById(item, found)));
    const byKey = items.filter(({ ref }) => !found.has(ref));
    // How many keys fit may change with each block.
    for (let start = 0; start < byKey.length; ) {
      const block = byKey.slice(start, start + this.blockSize);
      start += block.length;
      await this.addBlock(block, found);
    }
    return found;
  }

  /** What looks like an id is read as one; where keys can look so too, it may still be a key. */
  private async addById({ ref, key }: Item, found: Map<number, Found>): Promise<void> {
    const contact = await this.read(key.identity);
    const isOurs = contact && (contact.contactStructureId ?? this.structureId) === this.structureId;
    if (isOurs) found.set(ref, { contact });
    else if (isEmailKey(this.keyType)) found.set(ref, {});
  }

  private async addBlock(block: readonly Item[], found: Map<number, Found>): Promise<void> {
    const { keys, listIds = [] } = this.options;
    const { contacts, refused } = await this.searchBlock(block);
    if (this.source.includes("lists")) {
      const asked = toKeys(block).all;
      await addLists(contacts, listIds, (listId) =>
        keys.find(asked, ["_id", "key"], [createEquals("LIST_ID", [listId])]),
      );
    }
    const matchContact = createMatcher(contacts, this.readIdentity);
    for (const item of block) {
      const { written, identity } = item.key;
      const contact = matchContact(item);
      // Whom one form of the key may mean is not absent because another form finds nobody.
      found.set(item.ref, {
        contact,
        refused: contact ? undefined : (refused.get(written) ?? refused.get(identity)),
      });
    }
  }

  /**
   * Each key as written, and as it is compared (normalised, and an address in lower case): both in one search
   * while they fit, else the second form of those that the first one does not find.
   */
  private async searchBlock(block: readonly Item[]): Promise<FoundByKeys> {
    const { keys } = this.options;
    const { written, all } = toKeys(block);
    if (all.length <= keys.limit) return keys.find(all, this.source);
    const first = await keys.find(written, this.source);
    const known = new Set(first.contacts.map(({ key }) => this.readIdentity(key ?? "")));
    const missing = block.map(({ key }) => key.identity).filter((identity) => !known.has(identity));
    const second = await keys.find(
      missing.filter((identity) => !written.includes(identity)),
      this.source,
    );
    return {
      contacts: [...first.contacts, ...second.contacts],
      refused: new Map([...first.refused, ...second.refused]),
    };
  }

  private markEach(items: readonly Item[], found: Map<number, Found>): Map<number, Found> {
    for (const item of items) {
      const each = found.get(item.ref);
      if (!each?.contact) continue;
      found.set(item.ref, isDeletedOne(item, each.contact) ? {} : this.markRepeated(item, each));
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

/** Whether it is known that this contact was deleted: a search may still show it for a while. No id is given twice. */
function isDeletedOne({ desired }: Item, { _id }: Partial<Contact>): boolean {
  const who = isSettled(desired) ? undefined : desired.who;
  return who !== undefined && "not" in who && _id === who.not;
}

/** The keys of a block as they were written, and these with the forms in which they are compared. */
function toKeys(block: readonly Item[]): { written: string[]; all: string[] } {
  const written = [...new Set(block.map(({ key }) => key.written))];
  return { written, all: [...new Set([...written, ...block.map(({ key }) => key.identity)])] };
}

/** Where the answer left the lists out, one search for each list tells who of the block is in it. */
async function addLists(
  contacts: Partial<Contact>[],
  listIds: readonly string[],
  findIn: (listId: string) => Promise<FoundByKeys>,
): Promise<void> {
  const unknown = contacts.filter(({ lists }) => lists === undefined);
  if (unknown.length === 0 || listIds.length === 0 || listIds.length > maxListSearches) return;
  const members = new Map<string, Set<string>>();
  for (const listId of listIds) {
    const answer = await findIn(listId).catch(toUndefinedIfRefused);
    if (answer === undefined || answer.refused.size > 0) return;
    members.set(listId, new Set(answer.contacts.map(({ _id }) => _id ?? "")));
  }
  for (const contact of unknown) {
    contact.lists = listIds.filter((id) => members.get(id)!.has(contact._id ?? "")).map((_id) => ({ _id }));
  }
}

/** What is asked besides may not be taken: then it stays unknown. */
function toUndefinedIfRefused(error: unknown): undefined {
  if (!isRefusal(error)) throw error;
}

/** The contact that an item means. Of several with its key, the one whose key is as written. */
function createMatcher(contacts: Partial<Contact>[], toIdentity: (key: string) => string) {
  const byIdentity = new Map<string, Partial<Contact>[]>();
  for (const contact of contacts) {
    const identity = toIdentity(contact.key ?? "");
    byIdentity.set(identity, [...(byIdentity.get(identity) ?? []), contact]);
  }
  return (item: Item): Partial<Contact> | undefined => {
    const candidates = byIdentity.get(item.key.identity) ?? [];
    return candidates.find((each) => isWritten(item, each)) ?? candidates[0];
  };
}

function isWritten(item: Item, contact: Partial<Contact>): boolean {
  return contact.key === item.key.written;
}

export interface PagesOptions {
  send: PacedSend;
  behavior: Behavior;
  keys: KeySearch;
  clock: Clock;
  structureId: string;
  source: string[];
  /** As for a search of `contact-search.ts`. */
  readsStatus?: boolean;
  filters?: Filter[];
  /** Pages at once. */
  concurrency: number;
  /** Lists that every contact found is known to be in, should the answer not tell. */
  lists?: IdRef[];
}

/**
 * Reads every contact of the account into the snapshot when that takes
 * fewer requests than looking `contacts` keys up.
 * @param maxRequests pages that may be read now; where there are more,
 *   looking keys up gets on and reading pages does not
 * @returns whether the snapshot can be used
 */
export async function readAccountIfSmaller(
  snapshot: AccountSnapshot,
  contacts: number,
  { readsStatus, ...options }: PagesOptions,
  maxRequests: number,
): Promise<boolean> {
  const lookUps = Math.ceil(contacts / Math.min(maxBlockSize, options.keys.limit));
  // For one block, asking would cost as much as it can save; unless it has to be found out first how to ask.
  const mayAsk = contacts <= 1 || options.behavior.get("keys") !== undefined;
  if (lookUps <= 1 && mayAsk && snapshot.total === undefined) return false;
  if (snapshot.total === undefined && !(await tryReadFirstPage(snapshot, options))) return false;
  // The status of everybody would take a request for each.
  if (readsStatus && options.behavior.get("source") === "common") return false;
  const missing = findMissingPages(snapshot);
  if (missing.length >= Math.max(lookUps, 1) || missing.length > maxRequests) return false;
  await readPages(snapshot, missing, options);
  return true;
}

/** Reads every page that the snapshot does not hold yet. */
export async function readAllPages(snapshot: AccountSnapshot, options: PagesOptions): Promise<void> {
  if (snapshot.total === undefined) await readFirstPage(snapshot, options);
  await readPages(snapshot, findMissingPages(snapshot), options);
}

/** A service may refuse a search without a condition: then the keys are looked up. */
async function tryReadFirstPage(snapshot: AccountSnapshot, options: PagesOptions): Promise<boolean> {
  try {
    await readFirstPage(snapshot, options);
    return true;
  } catch (error) {
    if (isServiceError(error) && error.details.status === 400) return false;
    throw error;
  }
}

function findMissingPages(snapshot: AccountSnapshot): number[] {
  const last = Math.ceil(snapshot.total! / snapshot.pageSize!);
  const pages: number[] = [];
  for (let page = 1; page <= last; page++) if (!snapshot.has(page)) pages.push(page);
  return pages;
}

async function readFirstPage(snapshot: AccountSnapshot, options: PagesOptions): Promise<void> {
  const at = options.clock.now();
  const { size, first } = await openPages(createPageReader(options), {
    size: maxPageSize,
    behavior: options.behavior,
  });
  storePage(snapshot, { page: 1, pageSize: size, at, ...first }, options);
}

async function readPages(snapshot: AccountSnapshot, pages: number[], options: PagesOptions): Promise<void> {
  const pageSize = snapshot.pageSize!;
  const read = createPageReader(options);
  const next = pages[Symbol.iterator]();
  const readNextPage = async () => {
    for (const page of next) {
      const at = options.clock.now();
      storePage(snapshot, { page, pageSize, at, ...(await read(page, pageSize)) }, options);
    }
  };
  await runConcurrently(options.concurrency, readNextPage);
}

function createPageReader({ send, behavior, structureId, source, readsStatus, filters = [] }: PagesOptions) {
  const search = { structureId, filters, source: ["_id", "key", ...source], readsStatus };
  return createContactPages(send.searches, search, behavior);
}

interface ReadAccountPage {
  page: number;
  pageSize: number;
  at: number;
  items: Partial<Contact>[];
  total?: number;
}

function storePage(
  snapshot: AccountSnapshot,
  { items, total, ...place }: ReadAccountPage,
  options: PagesOptions,
): void {
  if (total === undefined) {
    throw unreadableAnswerError("The answer to a search has no totalRecords");
  }
  const { lists } = options;
  if (lists) for (const contact of items) contact.lists ??= lists;
  options.keys.note(items[0]);
  snapshot.add({ ...place, total, contacts: items });
}

/**
 * The same work several times at once. Returns when every one has come to an end, also after a failure: what still runs could write to a file that
 * its owner has closed. @throws the first failure
 */
async function runConcurrently(count: number, work: () => Promise<void>): Promise<void> {
  const ends = await Promise.allSettled(Array.from({ length: count }, work));
  for (const end of ends) if (end.status === "rejected") throw end.reason;
}
