/**
 * Which contacts have these keys? What the account holds of the contacts that a run names, in as few requests
 * as possible: the keys of a block in one search, ids one by one; without a request where its pages were
 * read.
 */
import { createEquals, getContactRequest, readContact } from "../../api/contacts.ts";
import { isId, toStandInName } from "../../api/names.ts";
import { isEmailKey } from "../../api/structures.ts";
import type { ServiceError } from "../../errors.ts";
import type { Behavior } from "../../service/behavior.ts";
import { isRefusal } from "../../service/contact-search.ts";
import type { FoundByKeys, KeySearch } from "../../service/key-search.ts";
import { createIdentityReader } from "../../tables/index.ts";
import type { Clock, Contact } from "../../wire.ts";
import { isSettled } from "../decide.ts";
import type { Item } from "../desired.ts";
import type { PacedSend } from "../pace/paced-send.ts";
import { type AccountSnapshot, maxBlockSize } from "./snapshot.ts";

/** What a look-up tells of one contact. */
export interface Found {
  contact?: Partial<Contact>;
  /** When it was looked up, in milliseconds since the epoch. */
  at: number;
  /** Read by its id: as it is, with its version. */
  isById?: true;
  /** The service refuses to look this key up. */
  refused?: ServiceError;
  /** Another item names the same contact: one by its key, the other by its id. */
  isRepeated?: true;
}

type FoundContacts = Map<number, Pick<Found, "contact" | "refused">>;

export interface LookupOptions {
  send: PacedSend;
  clock: Clock;
  keys: KeySearch;
  structureId: string;
  keyType: string;
  /** Parts of a contact that decisions need, besides `_id` and `key`. */
  source: string[];
  snapshot?: AccountSnapshot;
  /** Everybody is known from pages of the account: no key has to be asked for. */
  coversAccount?: boolean;
  behavior: Behavior;
  /** Contacts are named by keys and by ids: one that is named by both is marked as repeated. */
  marksRepeats?: boolean;
  /** Lists by which the contacts were chosen. */
  selectedLists?: readonly string[];
}

/** Where searches leave out a contact's lists, these are asked for one by one; of more, the writes tell. */
const maxListSearches = 5;
/** For so many contacts it is remembered which item named them first; beyond, only for those named by id. */
const maxRememberedContacts = 100_000;

export class Lookup {
  /** Contacts that a look-up has missed, one after another: the service refused their creation. */
  missedInARow = 0;
  readonly toIdentity: (key: string) => string;
  private readonly options: LookupOptions;
  private readonly source: string[];
  /** Which item named a contact first. */
  private readonly refByContactId = new Map<string, number>();

  constructor(options: LookupOptions) {
    this.options = options;
    this.source = ["_id", "key", ...options.source];
    this.toIdentity = createIdentityReader(options.keyType);
  }

  get behavior(): Behavior {
    return this.options.behavior;
  }

  get keys(): KeySearch {
    return this.options.keys;
  }

  get coversAccount(): boolean {
    return this.options.coversAccount === true;
  }

  /**
   * This look-up with pages that were read of the account before.
   * @param isOfAll whether all of the account was read: then a contact that is not in it does not exist
   */
  over(snapshot: AccountSnapshot, isOfAll: boolean): Lookup {
    return new Lookup({ ...this.options, snapshot, coversAccount: isOfAll && snapshot.isWhole() });
  }

  /** Contacts in a block; fewer where the service refuses so many keys. */
  get blockSize(): number {
    return Math.min(maxBlockSize, this.keys.limit);
  }

  /** From the snapshot where there is one, else from the service. Keyed by `ref`. */
  async find(items: readonly Item[]): Promise<Map<number, Found>> {
    const at = this.options.snapshot?.takenAt ?? Number.POSITIVE_INFINITY;
    const found = new Map<number, Found>();
    for (const item of items) {
      const contact = item.found ?? this.findOnPage(item);
      // A page may leave lists out, which can be asked for one by one.
      const isTold = contact
        ? contact.lists !== undefined || this.listsOf([item]).length === 0
        : this.coversAccount;
      if (isTold) found.set(item.ref, this.mark(item, { contact, at }));
    }
    const others = await this.findFresh(items.filter(({ ref }) => !found.has(ref)));
    return new Map([...found, ...others]);
  }

  /** From the service, now. */
  async findFresh(items: readonly Item[]): Promise<Map<number, Found>> {
    const found: FoundContacts = new Map();
    await Promise.all(items.filter(({ key }) => isId(key.written)).map((item) => this.addById(item, found)));
    const byKey = items.filter(({ ref }) => !found.has(ref));
    // How many keys fit may change with each block.
    for (let start = 0, size = 0; start < byKey.length; start += size) {
      size = this.blockSize;
      await this.addBlock(byKey.slice(start, start + size), found);
    }
    const at = this.options.clock.now();
    return new Map(items.map((item) => [item.ref, this.mark(item, { ...found.get(item.ref), at })]));
  }

  /** One contact, looked up by its key now. */
  async findOne(item: Item): Promise<Found> {
    return (await this.findFresh([item])).get(item.ref)!;
  }

  /** One contact by its id. */
  async read(contactId: string): Promise<Found> {
    const contact = await this.readContact(contactId);
    return { contact, at: this.options.clock.now(), isById: true };
  }

  private async readContact(contactId: string): Promise<Contact | undefined> {
    const reply = await this.options.send.send(getContactRequest(contactId), "other");
    if (reply.kind === "answered") return readContact(reply.answer);
    if (reply.kind === "refused" && reply.error.details.status === 404) return undefined;
    if (reply.kind === "withheld") throw new Error("only a write is withheld");
    throw reply.error;
  }

  private findOnPage({ key: { written, identity } }: Item): Partial<Contact> | undefined {
    const { snapshot } = this.options;
    const byId = isId(written) ? snapshot?.findById(identity) : undefined;
    return byId ?? snapshot?.find(identity, ({ key }) => key === written);
  }

  /** What looks like an id is read as one; where keys can look so too, it may still be a key. */
  private async addById({ ref, key }: Item, found: FoundContacts): Promise<void> {
    const contact = await this.readContact(key.identity);
    const { structureId, keyType } = this.options;
    const isOurs = contact && (contact.contactStructureId ?? structureId) === structureId;
    if (isOurs) found.set(ref, { contact });
    else if (isEmailKey(keyType)) found.set(ref, {});
  }

  private async addBlock(block: readonly Item[], found: FoundContacts): Promise<void> {
    const { contacts, refused } = await this.searchBlock(block);
    if (this.source.includes("lists")) await this.addLists(contacts, block);
    const identities = contacts.map((contact) => this.toIdentity(contact.key ?? ""));
    for (const { ref, key } of block) {
      const ofKey = contacts.filter((_, place) => identities[place] === key.identity);
      const contact = ofKey.find((each) => each.key === key.written) ?? ofKey[0];
      // A key of which one form is refused is not absent because another form finds nobody.
      const refusal = contact ? undefined : (refused.get(key.written) ?? refused.get(key.identity));
      found.set(ref, { contact, ...(refusal && { refused: refusal }) });
    }
  }

  /**
   * Each key as written, and as it is compared (normalised, and an address in lower case): both in one search
   * while they fit, else the second form of those that the first one does not find.
   */
  private async searchBlock(block: readonly Item[]): Promise<FoundByKeys> {
    const { keys, source } = this;
    const { written, all } = toKeys(block);
    if (all.length <= keys.limit) return keys.find(all, source);
    const first = await keys.find(written, source);
    const known = new Set([...written, ...first.contacts.map(({ key = "" }) => this.toIdentity(key))]);
    const second = await keys.find(
      block.map(({ key }) => key.identity).filter((identity) => !known.has(identity)),
      source,
    );
    return {
      contacts: [...first.contacts, ...second.contacts],
      refused: new Map([...first.refused, ...second.refused]),
    };
  }

  /**
   * Where the answer left the lists out, as the published sample of a search does, one search for each list
   * tells which contacts of the block are in it; what is refused stays unknown.
   */
  private async addLists(contacts: Partial<Contact>[], block: readonly Item[]): Promise<void> {
    const unknown = contacts.filter(({ lists }) => lists === undefined);
    const listIds = unknown.length === 0 ? [] : this.listsOf(block);
    if (listIds.length === 0 || listIds.length > maxListSearches) return;
    const members = new Map<string, Set<string | undefined>>();
    for (const listId of listIds) {
      const inList = [createEquals("LIST_ID", [listId])];
      const answer = await this.keys
        .find(toKeys(block).all, ["_id", "key"], inList)
        .catch((error: unknown) => {
          if (!isRefusal(error)) throw error;
        });
      if (!answer || answer.refused.size > 0) return;
      members.set(listId, new Set(answer.contacts.map(({ _id }) => _id)));
    }
    for (const contact of unknown) {
      contact.lists = listIds.filter((id) => members.get(id)!.has(contact._id)).map((_id) => ({ _id }));
    }
  }

  /** Lists of the account whose members decide what becomes of these contacts. */
  private listsOf(items: readonly Item[]): string[] {
    const { selectedLists = [] } = this.options;
    const values = items.flatMap(({ desired }) => (isSettled(desired) ? [] : desired.values));
    const ids = values.flatMap(({ what, id }) => (what === "list" ? [id] : []));
    return [...new Set([...selectedLists, ...ids])].filter((id) => toStandInName(id) === undefined);
  }

  /** A search may still show a contact that is known to be deleted; and two items may name one contact. */
  private mark({ ref, key, desired }: Item, found: Found): Found {
    const id = found.contact?._id;
    const who = isSettled(desired) ? undefined : desired.who;
    if (who && "not" in who && id === who.not) return { at: found.at };
    if (!this.options.marksRepeats || id === undefined) return found;
    const first = this.refByContactId.get(id);
    if (first !== undefined && first !== ref) return { ...found, isRepeated: true };
    if (this.refByContactId.size < maxRememberedContacts || isId(key.written))
      this.refByContactId.set(id, ref);
    return found;
  }
}

/** The keys of a block as they were written, and these with the forms in which they are compared. */
function toKeys(block: readonly Item[]): { written: string[]; all: string[] } {
  const written = [...new Set(block.map(({ key }) => key.written))];
  return { written, all: [...new Set([...written, ...block.map(({ key }) => key.identity)])] };
}
