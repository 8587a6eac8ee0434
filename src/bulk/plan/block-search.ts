/** Looks contacts up at the service, now: the keys of a block in one search, ids one by one. */
import { isRefusal } from "../../service/checked-search.ts";
import { equals, getContactRequest, isInactive, readContact } from "../../service/contacts.ts";
import type { FoundByKeys } from "../../service/key-search.ts";
import { isEmailKey } from "../../service/structures.ts";
import type { Contact } from "../../wire.ts";
import type { Item } from "../items.ts";
import { identityReader, isId } from "../read/keys.ts";
import { areFoundInOtherCase, blocksOf, keysOf, largestBlock, loweredOf } from "./block-keys.ts";
import type { Found, LookupOptions } from "./found.ts";
import { createHiddenSearch } from "./hidden-search.ts";

/** More lists than this are not asked for one by one: then the lists stay unknown, and the writes tell. */
const mostListsAsked = 5;

export function createBlockSearch(options: LookupOptions) {
  const { send, keys, structureId, keyType, behavior, listIds = [] } = options;
  const source = ["_id", "key", ...options.source];
  const identityOf = identityReader(keyType);
  const hiddenSearch = createHiddenSearch(options, source);

  async function findFresh(items: readonly Item[]): Promise<Map<number, Found>> {
    const found = await findByIds(items.filter(({ key }) => isId(key.written)));
    const byKey = found.size === 0 ? items : items.filter(({ ref }) => !found.has(ref));
    for (const block of blocksOf(byKey, keys)) await findBlock(block, found);
    await hiddenSearch.tellHidden(byKey, found);
    return found;
  }

  /** What looks like an id is read as one; where keys can look so too, it may still be a key. */
  async function findByIds(items: readonly Item[]): Promise<Map<number, Found>> {
    const found = new Map<number, Found>();
    await Promise.all(
      items.map(async ({ ref, key }) => {
        const contact = await read(key.identity);
        const isOurs = contact && (contact.contactStructureId ?? structureId) === structureId;
        if (isOurs) found.set(ref, { contact, isKept: false });
        else if (isEmailKey(keyType)) found.set(ref, { isKept: false });
      }),
    );
    return found;
  }

  async function read(contactId: string): Promise<Contact | undefined> {
    const reply = await send.send(getContactRequest(contactId), "other");
    if (reply.kind === "answered") return readContact(reply.answer);
    if (reply.kind === "refused" && reply.error.status === 404) return undefined;
    if (reply.kind === "withheld") throw new Error("only a write is withheld");
    throw reply.error;
  }

  async function findBlock(block: readonly Item[], found: Map<number, Found>): Promise<void> {
    const forms = formsOf(block);
    const { contacts, refused } = await keys.find(forms, source);
    if (contacts.some(isInactive)) behavior.learn("inactive", "shown");
    if (isEmailKey(keyType) && areFoundInOtherCase(forms, contacts)) behavior.learn("keyCase", "fold");
    const lowered = await findLowered(block, forms, contacts);
    contacts.push(...lowered.contacts);
    if (source.includes("lists")) {
      await addLists(contacts, listIds, (listId) =>
        keys.find(forms, ["_id", "key"], [equals("LIST_ID", [listId])]),
      );
    }
    const contactOf = matcherOf(contacts, identityOf);
    // Whom one form of the key may mean is not absent because another form finds nobody.
    const refusalOf = ({ key: { written, sent, identity } }: Item) =>
      refused.get(written) ?? refused.get(sent) ?? refused.get(identity) ?? lowered.refused.get(identity);
    for (const item of block) {
      const contact = contactOf(item);
      found.set(item.ref, { contact, isKept: false, refused: contact ? undefined : refusalOf(item) });
    }
  }

  /** Letter case may make them different keys. */
  function mayDifferByCase(): boolean {
    return isEmailKey(keyType) && behavior.get("keyCase") !== "fold";
  }

  /** The keys of a block, and in lower case too while they fit. */
  function formsOf(block: readonly Item[]): string[] {
    const forms = keysOf(block, keyType);
    const room = Math.min(keys.limit, 2 * largestBlock) - forms.length;
    return room > 0 && mayDifferByCase() ? [...forms, ...loweredOf(block, forms).slice(0, room)] : forms;
  }

  /** Those in lower case that did not fit, and whom no other form has found. */
  async function findLowered(
    block: readonly Item[],
    forms: string[],
    contacts: Partial<Contact>[],
  ): Promise<FoundByKeys> {
    const none: FoundByKeys = { contacts: [], refused: new Map() };
    if (!mayDifferByCase()) return none;
    const known = new Set(contacts.map(({ key }) => identityOf(key ?? "")));
    const missing = block.filter(({ key }) => !known.has(key.identity));
    const lowered = loweredOf(missing, forms);
    if (lowered.length === 0) return none;
    const found = await keys.find(lowered, source);
    if (found.contacts.length > 0) behavior.learn("keyCase", "exact");
    return found;
  }

  return { ...hiddenSearch, findFresh, read };
}

/** Where the answer left the lists out, one search for each list tells who of the block is in it. */
async function addLists(
  contacts: Partial<Contact>[],
  listIds: readonly string[],
  findIn: (listId: string) => Promise<FoundByKeys>,
): Promise<void> {
  const unknown = contacts.filter(({ lists }) => lists === undefined);
  if (unknown.length === 0 || listIds.length === 0 || listIds.length > mostListsAsked) return;
  const members = new Map<string, Set<string>>();
  for (const listId of listIds) {
    const answer = await findIn(listId).catch(undefinedWhenRefused);
    if (answer === undefined || answer.refused.size > 0) return;
    members.set(listId, new Set(answer.contacts.map(({ _id }) => _id ?? "")));
  }
  for (const contact of unknown) {
    contact.lists = listIds.filter((id) => members.get(id)!.has(contact._id ?? "")).map((_id) => ({ _id }));
  }
}

/** What is asked besides may not be taken: then it stays unknown. */
function undefinedWhenRefused(error: unknown): undefined {
  if (!isRefusal(error)) throw error;
}

/** The contact that an item means. Of several with its key, the one whose key is as written. */
function matcherOf(contacts: Partial<Contact>[], identityOf: (key: string) => string) {
  const byIdentity = new Map<string, Partial<Contact>[]>();
  for (const contact of contacts) {
    const identity = identityOf(contact.key ?? "");
    byIdentity.set(identity, [...(byIdentity.get(identity) ?? []), contact]);
  }
  return (item: Item): Partial<Contact> | undefined => {
    const candidates = byIdentity.get(item.key.identity) ?? [];
    return candidates.find((each) => isWritten(item, each)) ?? candidates[0];
  };
}

export function isWritten(item: Item, contact: Partial<Contact>): boolean {
  return contact.key === item.key.written;
}
