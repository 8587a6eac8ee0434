/**
 * What the account holds of the contacts that a run names, in as few requests as possible: the keys of a block in one
 * search, or every contact page by page where the account is smaller than the input.
 */
import { EcmError, exitCodes, type ServiceError } from "../../errors.ts";
import {
  allOf,
  type ContactQuery,
  equals,
  getContactRequest,
  readContact,
  readSearch,
  searchContactsRequest,
} from "../../service/contacts.ts";
import type { ApiRequest, Clock, Contact, Criteria, SearchAnswer } from "../../wire.ts";
import { createKeyReader, isId } from "../input/keys.ts";
import type { Item } from "../items.ts";
import type { PacedSend } from "../pacing/paced-send.ts";
import type { Snapshot } from "./snapshot.ts";

/** Keys in one search, and contacts on one page of a search for them. */
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

export interface Lookup {
  /** Keys in a block; shrinks when the service refuses more. */
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
  /** One contact by its id; undefined when it does not exist. */
  read(contactId: string): Promise<Contact | undefined>;
}

export interface LookupOptions {
  send: PacedSend;
  clock: Clock;
  structureId: string;
  keyType: string;
  /** Parts of a contact that decisions need, besides `_id` and `key`. */
  source: string[];
  snapshot?: Snapshot;
  /** Who is not in the snapshot does not exist: it is of the whole account, or of everyone who is asked for. */
  isAbsentOutside?: boolean;
  /** Lists whose members matter, for a service whose searches do not tell a contact's lists. */
  listIds?: readonly string[];
}

/** The same run may be gone on with after days. */
export const longestKeptMilliseconds = 3_600_000;
const longestForChangesMilliseconds = 300_000;
/** More lists than this are not asked for one by one: then the lists stay unknown, and the writes tell. */
const mostListsAsked = 5;

export function createLookup(options: LookupOptions): Lookup {
  const { send, structureId, snapshot, clock } = options;
  const source = ["_id", "key", ...options.source];
  const identityOf = identityReader(options.keyType);
  const isKnownAbsent = options.isAbsentOutside === true;
  let blockSize = largestBlock;

  function ageOfSnapshot(): number {
    return snapshot === undefined ? 0 : clock.now() - snapshot.takenAt;
  }

  function known(item: Item): Found | undefined {
    const contact =
      (isId(item.key.written) ? snapshot?.findById(item.key.identity) : undefined) ??
      snapshot?.find(item.key.identity, (each) => isWritten(item, each));
    return contact || isKnownAbsent ? { contact, isKept: true } : undefined;
  }

  async function findFresh(items: readonly Item[]): Promise<Map<number, Found>> {
    const found = await findByIds(items.filter(({ key }) => isId(key.written)));
    const byKey = found.size === 0 ? items : items.filter(({ ref }) => !found.has(ref));
    for (let start = 0; start < byKey.length; ) {
      const block = byKey.slice(start, start + blockSize);
      start += block.length;
      await findBlock(block, found);
    }
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
    const keys = keysOf(block, options.keyType);
    const answer = await searchAll(keys);
    if ("refused" in answer) {
      if (block.length === 1) {
        // It was the key itself: larger blocks are not to blame.
        blockSize = largestBlock;
        found.set(block[0]!.ref, { isKept: false, refused: answer.refused });
        return;
      }
      blockSize = Math.max(1, Math.floor(block.length / 2));
      await findBlock(block.slice(0, blockSize), found);
      await findBlock(block.slice(Math.floor(block.length / 2)), found);
      return;
    }
    const byIdentity = new Map<string, Partial<Contact>[]>();
    for (const contact of answer.contacts) {
      const identity = identityOf(contact.key ?? "");
      byIdentity.set(identity, [...(byIdentity.get(identity) ?? []), contact]);
    }
    await tellLists(keys, answer.contacts);
    for (const item of block) {
      const candidates = byIdentity.get(item.key.identity) ?? [];
      const contact = candidates.find((each) => isWritten(item, each)) ?? candidates[0];
      found.set(item.ref, { contact, isKept: false });
    }
  }

  /** Where the answer left the lists out, one search for each list tells who of the block is in it. */
  async function tellLists(keys: string[], contacts: Partial<Contact>[]): Promise<void> {
    const silent = contacts.filter((contact) => contact.lists === undefined);
    const listIds = options.listIds ?? [];
    if (!source.includes("lists") || silent.length === 0) return;
    if (listIds.length === 0 || listIds.length > mostListsAsked) return;
    const members = new Map<string, Set<string>>();
    for (const listId of listIds) {
      const answer = await searchAll(keys, [equals("LIST_ID", [listId])]);
      if ("refused" in answer) return;
      members.set(listId, new Set(answer.contacts.map((contact) => contact._id ?? "")));
    }
    for (const contact of silent) {
      const own = listIds.filter((listId) => members.get(listId)!.has(contact._id ?? ""));
      contact.lists = own.map((_id) => ({ _id }));
    }
  }

  /** Every page of a search for keys. A key counts as absent only when the pages add up. */
  async function searchAll(
    keys: string[],
    further: Criteria[] = [],
  ): Promise<SearchAnswer | { refused: ServiceError }> {
    for (let tries = 0; tries < 3; tries++) {
      const contacts = new Map<string, Partial<Contact>>();
      for (let page = 1; ; page++) {
        const reply = await send.send(
          searchContactsRequest({
            structureId,
            filters: allOf(equals("KEY", keys), ...further),
            page,
            pageSize: Math.max(keys.length, 1),
            source,
          }),
          "search",
        );
        if (reply.kind !== "answered") return { refused: reply.error as ServiceError };
        const answer = readSearch(reply.answer);
        const before = contacts.size;
        for (const contact of answer.contacts) contacts.set(contact._id ?? "", contact);
        if (contacts.size >= answer.totalRecords) {
          return { totalRecords: answer.totalRecords, contacts: [...contacts.values()] };
        }
        // Others add and remove while pages are read: from the beginning, then.
        if (contacts.size === before) break;
      }
    }
    throw new EcmError(exitCodes.failed, "the pages of a search never add up to its totalRecords", {
      type: "UnreadableAnswerError",
      hint: "check the service with: ecm doctor",
    });
  }

  return {
    get blockSize() {
      return blockSize;
    },
    hasSnapshot: snapshot !== undefined,
    isOutdated: () => ageOfSnapshot() > longestKeptMilliseconds,
    isAging: () => ageOfSnapshot() > longestForChangesMilliseconds,
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
      if (missing.length > 0) for (const [ref, each] of await findFresh(missing)) found.set(ref, each);
      return found;
    },
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

/** A page of everything in the structure, or of what the filters let through. */
export function pageRequest(
  query: Omit<ContactQuery, "filters"> & Partial<Pick<ContactQuery, "filters">>,
): ApiRequest {
  return searchContactsRequest({ filters: [], ...query });
}
