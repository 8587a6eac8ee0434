/**
 * What the account holds of the contacts that a run names, in as few requests as possible: the keys of a block in one
 * search, or every contact page by page where the account is smaller than the input.
 */
import type { ServiceError } from "../../errors.ts";
import type { Behavior } from "../../service/behavior.ts";
import { equals, getContactRequest, isInactive, readContact } from "../../service/contacts.ts";
import type { KeySearch } from "../../service/key-search.ts";
import type { Clock, Contact } from "../../wire.ts";
import { createKeyReader, isId } from "../input/keys.ts";
import type { Item } from "../items.ts";
import type { PacedSend } from "../pacing/paced-send.ts";
import type { Snapshot } from "./snapshot.ts";

/** Contacts that are looked up together. */
export const largestBlock = 100;
/** Contacts on one page when all are read. */
export const largestPage = 1000;

export interface Found {
  contact?: Partial<Contact>;
  /** Read earlier and kept: others may have changed it meanwhile. */
  isKept: boolean;
  /** The service refuses to look this key up. */
  refused?: ServiceError;
}

/** A contact that only a search for inactive contacts shows. */
export interface HiddenContact extends Partial<Contact> {
  isHidden: true;
}

export function isHidden(contact: Partial<Contact> | undefined): contact is HiddenContact {
  return (contact as Partial<HiddenContact> | undefined)?.isHidden === true;
}

export interface Lookup {
  /** Contacts in a block; fewer where the service refuses so many keys. */
  readonly blockSize: number;
  /** What is known without a request; undefined when the service has to be asked. */
  known(item: Item): Found | undefined;
  /** Whether anything is known without a request. */
  readonly hasSnapshot: boolean;
  /** What was kept is too old to be believed where it says that nothing is to be done. */
  isOutdated(): boolean;
  /** What was kept is too old to base a change on: its undo would put back what others have changed since. */
  isAging(): boolean;
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

export interface LookupOptions {
  send: PacedSend;
  keys: KeySearch;
  clock: Clock;
  structureId: string;
  keyType: string;
  /** Parts of a contact that decisions need, besides `_id` and `key`. */
  source: string[];
  snapshot?: Snapshot;
  /** The snapshot was taken before this invocation: the run's own writes may have changed contacts since. */
  isFromEarlier?: boolean;
  /** Who is not in the snapshot does not exist: it is of the whole account, or of everyone who is asked for. */
  isAbsentOutside?: boolean;
  behavior: Behavior;
  /**
   * A key that is not found is asked for once more among the inactive contacts, which an account may hide. "known":
   * whom the snapshot does not hold was asked for in this way already.
   */
  hidden?: "ask" | "known";
  /** Lists whose members matter, for a service whose searches do not tell a contact's lists. */
  listIds?: readonly string[];
}

/** The same run may be gone on with after days. */
export const longestKeptMilliseconds = 3_600_000;
const longestForChangesMilliseconds = 300_000;
/** More lists than this are not asked for one by one: then the lists stay unknown, and the writes tell. */
const mostListsAsked = 5;

export function createLookup(options: LookupOptions): Lookup {
  const { send, keys, structureId, snapshot, clock, behavior } = options;
  const source = ["_id", "key", ...options.source];
  const identityOf = identityReader(options.keyType);
  const isKnownAbsent = options.isAbsentOutside === true;

  function ageOfSnapshot(): number {
    return snapshot === undefined ? 0 : clock.now() - snapshot.takenAt;
  }

  function known(item: Item): Found | undefined {
    const contact =
      (isId(item.key.written) ? snapshot?.findById(item.key.identity) : undefined) ??
      snapshot?.find(item.key.identity, (each) => isWritten(item, each));
    const isAbsent = isKnownAbsent && (options.hidden !== "ask" || behavior.get("inactive") === "shown");
    return contact || isAbsent ? { contact, isKept: true } : undefined;
  }

  /** Keys that no plain search has found: somebody may have them who is inactive. */
  async function tellHidden(items: readonly Item[], found: Map<number, Found>): Promise<void> {
    if (options.hidden === undefined) return;
    const missing = items.filter(({ ref }) => !found.get(ref)?.contact && !found.get(ref)?.refused);
    for (let start = 0; start < missing.length && behavior.get("inactive") !== "shown"; ) {
      const block = missing.slice(start, start + Math.min(largestBlock, keys.limit));
      start += block.length;
      const forms = keysOf(block, options.keyType);
      const { contacts } = await keys.find(forms, source, [equals("CONTACT_STATUS", ["inactive"])]);
      if (contacts.length > 0) behavior.learn("inactive", "hidden");
      for (const { ref, key } of block) {
        const contact = contacts.find((each) => identityOf(each.key ?? "") === key.identity);
        if (contact)
          found.set(ref, { contact: { ...contact, isHidden: true } as HiddenContact, isKept: false });
      }
    }
  }

  async function findFresh(items: readonly Item[]): Promise<Map<number, Found>> {
    const found = await findByIds(items.filter(({ key }) => isId(key.written)));
    const byKey = found.size === 0 ? items : items.filter(({ ref }) => !found.has(ref));
    for (let start = 0; start < byKey.length; ) {
      const block = byKey.slice(start, start + Math.min(largestBlock, keys.limit));
      start += block.length;
      await findBlock(block, found);
    }
    await tellHidden(byKey, found);
    return found;
  }

  /** What looks like an id is read as one; where keys can look so too, it may still be a key. */
  async function findByIds(items: readonly Item[]): Promise<Map<number, Found>> {
    const found = new Map<number, Found>();
    await Promise.all(
      items.map(async ({ ref, key }) => {
        const contact = await read(key.identity);
        const isOurs = contact && (contact.contactStructureId ?? structureId) === structureId;
        if (isOurs || isEmailKey(options.keyType)) {
          found.set(ref, { contact: isOurs ? contact : undefined, isKept: false });
        }
      }),
    );
    return found;
  }

  async function read(contactId: string): Promise<Contact | undefined> {
    const reply = await send.send(getContactRequest(contactId), "other");
    if (reply.kind === "answered") return readContact(reply.answer);
    if (reply.kind === "refused" && reply.error.status === 404) return undefined;
    throw reply.error;
  }

  async function findBlock(block: readonly Item[], found: Map<number, Found>): Promise<void> {
    const forms = formsOf(block);
    const { contacts, refused } = await keys.find(forms, source);
    if (contacts.some(isInactive)) behavior.learn("inactive", "shown");
    const lowered = await findLowered(block, forms, contacts);
    contacts.push(...lowered);
    const byIdentity = new Map<string, Partial<Contact>[]>();
    for (const contact of contacts) {
      const identity = identityOf(contact.key ?? "");
      byIdentity.set(identity, [...(byIdentity.get(identity) ?? []), contact]);
    }
    await tellLists(forms, contacts);
    for (const item of block) {
      const candidates = byIdentity.get(item.key.identity) ?? [];
      const contact = candidates.find((each) => isWritten(item, each)) ?? candidates[0];
      const refusal = contact ? undefined : (refused.get(item.key.written) ?? refused.get(item.key.sent));
      found.set(item.ref, { contact, isKept: false, refused: refusal });
    }
  }

  /** The keys of a block, and in lower case too while they fit: letter case may make them different keys. */
  function formsOf(block: readonly Item[]): string[] {
    const forms = keysOf(block, options.keyType);
    const room = Math.min(keys.limit, 2 * largestBlock) - forms.length;
    return room > 0 ? [...forms, ...loweredOf(block, forms).slice(0, room)] : forms;
  }

  function loweredOf(block: readonly Item[], forms: readonly string[]): string[] {
    if (!isEmailKey(options.keyType) || behavior.get("keyCase") === "fold") return [];
    const asked = new Set(forms);
    return [...new Set(block.map(({ key }) => key.identity))].filter((key) => !asked.has(key));
  }

  /** Those in lower case that did not fit, and whom no other form has found. What is seen of letter case is learned. */
  async function findLowered(
    block: readonly Item[],
    forms: readonly string[],
    contacts: readonly Partial<Contact>[],
  ): Promise<Partial<Contact>[]> {
    const asked = new Set(forms);
    const folded = new Set(forms.map((form) => form.toLowerCase()));
    const isOtherCase = ({ key = "" }) => !asked.has(key) && folded.has(key.toLowerCase());
    // One of them may be the key that a search for several carries besides.
    const isFolded = contacts.filter(isOtherCase).length > (forms.length === 1 ? 0 : 1);
    if (isFolded && isEmailKey(options.keyType)) behavior.learn("keyCase", "fold");
    const known = new Set(contacts.map(({ key }) => identityOf(key ?? "")));
    const missing = block.filter(({ key }) => !known.has(key.identity));
    const lowered = loweredOf(missing, forms);
    if (lowered.length === 0) return [];
    const found = (await keys.find(lowered, source)).contacts;
    if (found.length > 0) behavior.learn("keyCase", "exact");
    return found;
  }

  /** Where the answer left the lists out, one search for each list tells who of the block is in it. */
  async function tellLists(forms: string[], contacts: Partial<Contact>[]): Promise<void> {
    const silent = contacts.filter((contact) => contact.lists === undefined);
    const listIds = options.listIds ?? [];
    if (!source.includes("lists") || silent.length === 0) return;
    if (listIds.length === 0 || listIds.length > mostListsAsked) return;
    const members = new Map<string, Set<string>>();
    for (const listId of listIds) {
      const answer = await keys.find(forms, ["_id", "key"], [equals("LIST_ID", [listId])]);
      if (answer.refused.size > 0) return;
      members.set(listId, new Set(answer.contacts.map((contact) => contact._id ?? "")));
    }
    for (const contact of silent) {
      const own = listIds.filter((listId) => members.get(listId)!.has(contact._id ?? ""));
      contact.lists = own.map((_id) => ({ _id }));
    }
  }

  return {
    get blockSize() {
      return Math.min(largestBlock, keys.limit);
    },
    hasSnapshot: snapshot !== undefined,
    isOutdated: () => ageOfSnapshot() > longestKeptMilliseconds,
    isAging: () => options.isFromEarlier === true || ageOfSnapshot() > longestForChangesMilliseconds,
    known,
    findFresh,
    async find(items) {
      if (!snapshot) return findFresh(items);
      const found = new Map<number, Found>();
      const missing: Item[] = [];
      for (const item of items) {
        const each = known(item);
        if (each) found.set(item.ref, each);
        else missing.push(item);
      }
      if (missing.length === 0) return found;
      if (isKnownAbsent) {
        for (const { ref } of missing) found.set(ref, { isKept: true });
        await tellHidden(missing, found);
      } else for (const [ref, each] of await findFresh(missing)) found.set(ref, each);
      return found;
    },
    async findHidden(item) {
      const isInactive = equals("CONTACT_STATUS", ["inactive"]);
      const { contacts } = await keys.find([item.key.sent], source, [isInactive]);
      return contacts.find(({ key }) => key !== undefined && identityOf(key) === item.key.identity);
    },
    meet: keys.meet,
    read,
  };
}

function isEmailKey(keyType: string): boolean {
  return keyType.toLowerCase() === "email";
}

/** A function from a key as the account holds it to what makes two keys one contact. */
export function identityReader(keyType: string): (key: string) => string {
  const read = createKeyReader(keyType);
  const isEmail = keyType.toLowerCase() === "email";
  return (key) => {
    const reading = read(key);
    if ("key" in reading) return reading.key.identity;
    return isEmail ? key.toLowerCase() : key;
  };
}

/** Both forms of each key: as written, and normalised where that is more than another letter case. */
export function keysOf(items: readonly Item[], keyType: string): string[] {
  const fold = keyType.toLowerCase() === "email" ? (key: string) => key.toLowerCase() : (key: string) => key;
  const keys: string[] = [];
  for (const { key } of items) {
    keys.push(key.written);
    if (fold(key.sent) !== fold(key.written)) keys.push(key.sent);
  }
  return keys;
}

function isWritten(item: Item, contact: Partial<Contact>): boolean {
  return contact.key === item.key.written;
}
