/** Looks contacts up at the service, now: the keys of a block in one search, ids one by one. */

import { createEquals, getContactRequest, readContact } from "../../api/contacts.ts";
import { isId } from "../../api/names.ts";
import { isEmailKey } from "../../api/structures.ts";
import { isRefusal } from "../../service/checked-search.ts";
import type { FoundByKeys } from "../../service/key-search.ts";
import { createIdentityReader } from "../../tables/keys.ts";
import type { Contact } from "../../wire.ts";
import type { Item } from "../items.ts";
import { areFoundInOtherCase, maxBlockSize, splitIntoBlocks, toKeys, toLowerCaseKeys } from "./block-keys.ts";
import type { Found, LookupOptions } from "./found.ts";

/** More lists than this are not asked for one by one: then the lists stay unknown, and the writes tell. */
const maxListSearches = 5;

export class BlockSearch {
  private readonly options: LookupOptions;
  private readonly source: string[];
  private readonly readIdentity: (key: string) => string;

  constructor(options: LookupOptions) {
    this.options = options;
    this.source = ["_id", "key", ...options.source];
    this.readIdentity = createIdentityReader(options.keyType);
  }

  async findFresh(items: readonly Item[]): Promise<Map<number, Found>> {
    const found = await this.findByIds(items.filter(({ key }) => isId(key.written)));
    const byKey = found.size === 0 ? items : items.filter(({ ref }) => !found.has(ref));
    for (const block of splitIntoBlocks(byKey, this.options.keys)) await this.findBlock(block, found);
    return found;
  }

  async read(contactId: string): Promise<Contact | undefined> {
    const reply = await this.options.send.send(getContactRequest(contactId), "other");
    if (reply.kind === "answered") return readContact(reply.answer);
    if (reply.kind === "refused" && reply.error.status === 404) return undefined;
    if (reply.kind === "withheld") throw new Error("only a write is withheld");
    throw reply.error;
  }

  /** What looks like an id is read as one; where keys can look so too, it may still be a key. */
  private async findByIds(items: readonly Item[]): Promise<Map<number, Found>> {
    const { structureId, keyType } = this.options;
    const found = new Map<number, Found>();
    await Promise.all(
      items.map(async ({ ref, key }) => {
        const contact = await this.read(key.identity);
        const isOurs = contact && (contact.contactStructureId ?? structureId) === structureId;
        if (isOurs) found.set(ref, { contact });
        else if (isEmailKey(keyType)) found.set(ref, {});
      }),
    );
    return found;
  }

  private async findBlock(block: readonly Item[], found: Map<number, Found>): Promise<void> {
    const { keys, keyType, behavior, listIds = [] } = this.options;
    const { source } = this;
    const forms = this.listForms(block);
    const { contacts, refused } = await keys.find(forms, source);
    if (isEmailKey(keyType) && areFoundInOtherCase(forms, contacts)) behavior.learn("keyCase", "fold");
    const lowered = await this.findLowered(block, forms, contacts);
    contacts.push(...lowered.contacts);
    if (source.includes("lists")) {
      await addLists(contacts, listIds, (listId) =>
        keys.find(forms, ["_id", "key"], [createEquals("LIST_ID", [listId])]),
      );
    }
    const matchContact = createMatcher(contacts, this.readIdentity);
    // Whom one form of the key may mean is not absent because another form finds nobody.
    const findRefusal = ({ key: { written, sent, identity } }: Item) =>
      refused.get(written) ?? refused.get(sent) ?? refused.get(identity) ?? lowered.refused.get(identity);
    for (const item of block) {
      const contact = matchContact(item);
      found.set(item.ref, { contact, refused: contact ? undefined : findRefusal(item) });
    }
  }

  /** Letter case may make them different keys. */
  private mayDifferByCase(): boolean {
    const { keyType, behavior } = this.options;
    return isEmailKey(keyType) && behavior.get("keyCase") !== "fold";
  }

  /** The keys of a block, and in lower case too while they fit. */
  private listForms(block: readonly Item[]): string[] {
    const { keys, keyType } = this.options;
    const forms = toKeys(block, keyType);
    const room = Math.min(keys.limit, 2 * maxBlockSize) - forms.length;
    if (room <= 0 || !this.mayDifferByCase()) return forms;
    return [...forms, ...toLowerCaseKeys(block, forms).slice(0, room)];
  }

  /** Those in lower case that did not fit, and whom no other form has found. */
  private async findLowered(
    block: readonly Item[],
    forms: string[],
    contacts: Partial<Contact>[],
  ): Promise<FoundByKeys> {
    const none: FoundByKeys = { contacts: [], refused: new Map() };
    if (!this.mayDifferByCase()) return none;
    const known = new Set(contacts.map(({ key }) => this.readIdentity(key ?? "")));
    const missing = block.filter(({ key }) => !known.has(key.identity));
    const lowered = toLowerCaseKeys(missing, forms);
    if (lowered.length === 0) return none;
    const found = await this.options.keys.find(lowered, this.source);
    if (found.contacts.length > 0) this.options.behavior.learn("keyCase", "exact");
    return found;
  }
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

export function isWritten(item: Item, contact: Partial<Contact>): boolean {
  return contact.key === item.key.written;
}
