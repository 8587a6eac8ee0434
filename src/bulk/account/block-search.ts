/** Looks contacts up at the service, now: the keys of a block in one search, ids one by one. */
import { equals, getContactRequest, isInactive, readContact } from "../../service/contacts.ts";
import { isEmailKey } from "../../service/structures.ts";
import type { Contact } from "../../wire.ts";
import { identityReader, isId } from "../input/keys.ts";
import type { Item } from "../items.ts";
import { type Found, type HiddenContact, type Lookup, type LookupOptions, largestBlock } from "./lookup.ts";

export interface BlockSearch extends Pick<Lookup, "findFresh" | "findHidden" | "read"> {
  /** Looks for those who were not found among the contacts that no plain search shows. */
  tellHidden(items: readonly Item[], found: Map<number, Found>): Promise<void>;
}

/** More lists than this are not asked for one by one: then the lists stay unknown, and the writes tell. */
const mostListsAsked = 5;

export function createBlockSearch(options: LookupOptions): BlockSearch {
  const { send, keys, structureId, keyType, behavior } = options;
  const source = ["_id", "key", ...options.source];
  const identityOf = identityReader(keyType);

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
        if (isOurs || isEmailKey(keyType)) {
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
    const forms = keysOf(block, keyType);
    const room = Math.min(keys.limit, 2 * largestBlock) - forms.length;
    return room > 0 ? [...forms, ...loweredOf(block, forms).slice(0, room)] : forms;
  }

  function loweredOf(block: readonly Item[], forms: readonly string[]): string[] {
    if (!isEmailKey(keyType) || behavior.get("keyCase") === "fold") return [];
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
    if (isFolded && isEmailKey(keyType)) behavior.learn("keyCase", "fold");
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

  /** Keys that no plain search has found: somebody may have them who is inactive. */
  async function tellHidden(items: readonly Item[], found: Map<number, Found>): Promise<void> {
    if (options.hidden === undefined) return;
    const missing = items.filter(({ ref }) => !found.get(ref)?.contact && !found.get(ref)?.refused);
    for (let start = 0; start < missing.length && behavior.get("inactive") !== "shown"; ) {
      const block = missing.slice(start, start + Math.min(largestBlock, keys.limit));
      start += block.length;
      const forms = keysOf(block, keyType);
      const { contacts } = await keys.find(forms, source, [equals("CONTACT_STATUS", ["inactive"])]);
      if (contacts.length > 0) behavior.learn("inactive", "hidden");
      for (const { ref, key } of block) {
        const contact = contacts.find((each) => identityOf(each.key ?? "") === key.identity);
        if (contact)
          found.set(ref, { contact: { ...contact, isHidden: true } as HiddenContact, isKept: false });
      }
    }
  }

  return {
    findFresh,
    tellHidden,
    read,
    async findHidden(item) {
      const isInactive = equals("CONTACT_STATUS", ["inactive"]);
      const { contacts } = await keys.find([item.key.sent], source, [isInactive]);
      return contacts.find(({ key }) => key !== undefined && identityOf(key) === item.key.identity);
    },
  };
}

/** Both forms of each key: as written, and normalised where that is more than another letter case. */
function keysOf(items: readonly Item[], keyType: string): string[] {
  const fold = (key: string) => (isEmailKey(keyType) ? key.toLowerCase() : key);
  const keys: string[] = [];
  for (const { key } of items) {
    keys.push(key.written);
    if (fold(key.sent) !== fold(key.written)) keys.push(key.sent);
  }
  return keys;
}

export function isWritten(item: Item, contact: Partial<Contact>): boolean {
  return contact.key === item.key.written;
}
