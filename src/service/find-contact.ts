/** A contact by its id or by its key, in as few requests as the word allows. */

import { createEquals, createFilter } from "../api/contacts.ts";
import { normalizeKey, toKeyIdentity } from "../api/key-spelling.ts";
import { findByName, isId } from "../api/names.ts";
import { EcmError, type ErrorDetails, hasStatus, usageError } from "../errors.ts";
import { advise, ecm, type Hint, type ShownCommand } from "../hint.ts";
import type { Contact, ContactStructure, Send } from "../wire.ts";
import type { Behaviors } from "./behavior.ts";
import { createContactPages } from "./contact-search.ts";
import { openPages } from "./pages.ts";

// What can be an id in a path; e-mail addresses and dots cannot.
const possibleId = /^[\w-]+$/;

/** More than there are contacts whose keys differ in letter case alone. */
const keysPerPage = 10;

/** Where a contact is looked up, and what of it. */
interface ContactLookup {
  send: Send;
  /** Asked for only when a key is looked up. */
  structure(): Promise<ContactStructure>;
  /** The parts of the contact that a search is asked for. */
  source?: string[];
  /** Needed where the parts are more than those that every service tells. */
  behaviors?: Behaviors;
}

/**
 * Performs something on the contact that a word means, and returns what it returned. A
 * word in the form of an id is tried as one first and looked up as a key only after a
 * 404; any other word is looked up as a key first.
 * @param perform given an id, and what a search told where there was one; may be
 *   called twice, the first time having ended in a 404
 * @throws NotFoundError when it is neither, with what the service
 *   said of it; whatever `perform` throws but a 404
 */
export async function performOnContact<T>(
  lookup: ContactLookup,
  idOrKey: string,
  perform: (contactId: string, found?: Partial<Contact>) => Promise<T>,
): Promise<T> {
  if (idOrKey.trim() === "")
    throw usageError("A contact's id or key cannot be empty", "Name a contact, such as ada@example.com");
  const isLikelyId = isId(idOrKey);
  let missing: ErrorDetails | undefined;
  const performUnlessMissing = async (): Promise<{ value: T } | undefined> => {
    try {
      return { value: await perform(idOrKey) };
    } catch (error) {
      if (!hasStatus(error, 404)) throw error;
      const { type, status, applied } = error.details;
      missing = { type, status, applied };
    }
  };
  if (isLikelyId) {
    const result = await performUnlessMissing();
    if (result) return result.value;
  }
  const structure = await lookup.structure();
  const found = await findByKey(lookup, structure, idOrKey);
  if (found) return perform(found._id, found);
  if (!isLikelyId && possibleId.test(idOrKey)) {
    const result = await performUnlessMissing();
    if (result) return result.value;
  }
  throw new EcmError(
    "no contact",
    `No contact has the key or id ${JSON.stringify(idOrKey)}`,
    advise`Looked in the structure ${JSON.stringify(structure.label)}. ${suggestSimilar(idOrKey)}`,
    missing,
  );
}

/** A hint for a key that no contact has. */
export function suggestSimilar(idOrKey: string): Hint {
  return advise`For similar ones: ${searchForSimilar(idOrKey)}`;
}

/** The command that finds what a mistyped key most likely shares with the right one. */
export function searchForSimilar(key: string): ShownCommand {
  const word = toLikelyWord(key);
  // Behind a blank, a value that begins with a dash would be taken for a flag.
  return word.startsWith("-") ? ecm`contact search --text=${word}` : ecm`contact search --text ${word}`;
}

/** What a mistyped key most likely shares with the right one: the name, rather than the domain. */
function toLikelyWord(key: string): string {
  return key.slice(0, Math.max(0, key.indexOf("@"))) || key;
}

/**
 * A key is looked up as it was typed, then as an import would have written it, then in lower case.
 * @throws UsageError for two matches
 */
export async function findByKey(
  { send, source = ["_id", "key"], behaviors }: Omit<ContactLookup, "structure">,
  { _id: structureId, keyType }: Pick<ContactStructure, "_id" | "keyType">,
  typed: string,
): Promise<FoundContact | undefined> {
  const behavior = behaviors?.(structureId);
  const spellings = [typed, normalizeKey(typed, keyType), toKeyIdentity(typed, keyType)];
  for (const key of new Set(spellings)) {
    const search = { structureId, source, filters: createFilter(createEquals("KEY", [key])) };
    const read = createContactPages(send, search, behavior);
    const { items } = (await openPages(read, { size: keysPerPage, behavior })).first;
    // Held against the key once more: a write must not reach a contact that a looser search let through.
    const contacts = items.map((contact) => ({ ...contact, _id: contact._id ?? "" }));
    const found = findByName(key, contacts, (contact) => contact.key ?? "", "contact");
    if (found) return found;
  }
  return undefined;
}

type FoundContact = Partial<Contact> & { _id: string };
