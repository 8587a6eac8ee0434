/** What reads show of how the service behaves, point by point. */

import { createEquals, createFilter, wholeContact } from "../api/contacts.ts";
import { listListsRequest, readLists } from "../api/lists.ts";
import { getStructureRequest } from "../api/structures.ts";
import { hasStatus } from "../errors.ts";
import type { Contact, ContactList } from "../wire.ts";
import { maxPageSize } from "./pages.ts";
import { type ProbeState, search, searchUnlessRefused } from "./probe-asking.ts";
import type { DetectedVariants } from "./probe-seen.ts";

/** As many keys as a look-up of a bulk run asks for. */
const manyKeysCount = 100;

/** A service need not let a key read one structure. */
export async function probeStructure(
  { send, structureId }: ProbeState,
  seen: DetectedVariants,
): Promise<void> {
  try {
    await send(getStructureRequest(structureId));
  } catch (error) {
    if (!hasStatus(error, 403, 404)) throw error;
    // Nothing else is known to show no structure by itself.
    if (seen.source === "specified") seen.literal = "yes";
  }
}

/** `LIST_ID` is a column of the published reference alone. */
export async function probeListColumn(
  asking: ProbeState,
  [list]: ContactList[],
  seen: DetectedVariants,
): Promise<void> {
  if (!list) return;
  const found = await searchUnlessRefused(asking, createFilter(createEquals("LIST_ID", [list._id])), 1);
  const isTaken = found !== undefined;
  seen.columns = isTaken ? "published" : "specified";
  asking.behavior.learn("listColumn", isTaken ? "taken" : "refused");
}

export async function probeLists(
  { send, structureId }: ProbeState,
  seen: DetectedVariants,
): Promise<ContactList[]> {
  const { total, lists } = readLists(await send(listListsRequest(structureId, 1, manyKeysCount)));
  seen.lists = total === undefined ? "array" : "records";
  return lists;
}

/** Halves the size at most three times: what is refused below is found out by who reads. */
export async function probePages(asking: ProbeState, seen: DetectedVariants): Promise<Partial<Contact>[]> {
  for (let size = maxPageSize; ; size = Math.floor(size / 2)) {
    try {
      const { contacts, totalRecords } = await search(asking, [], size, wholeContact);
      const page = pageSeen(size, contacts.length, totalRecords);
      if (page !== undefined) seen.page = page;
      seen.source = asking.behavior.get("source") ?? "published";
      const status = statusSeen(contacts[0], seen.source);
      if (status !== undefined) seen.status = status;
      return contacts;
    } catch (error) {
      if (!hasStatus(error, 400) || size < maxPageSize / 8) throw error;
    }
  }
}

/**
 * What a page says of the sizes that the service takes, where all
 * larger ones were refused; undefined: nothing.
 */
function pageSeen(size: number, returned: number, total: number): string | undefined {
  if (returned > 0 && total >= 2 * returned && returned < size) return `cap:${returned}`;
  // A few may be missing because they are hidden.
  if (returned < Math.min(size, total)) return undefined;
  if (size < maxPageSize || total > 0) return `refuse:${size}`;
  return undefined;
}

function statusSeen(first: Partial<Contact> | undefined, source: string): string | undefined {
  if (first?.contactStatus !== undefined) return "parts";
  return first?.status && source === "published" ? "object" : undefined;
}

export async function probeSeveralKeys(
  asking: ProbeState,
  keys: string[],
  seen: DetectedVariants,
): Promise<void> {
  const [one, other] = keys;
  if (one === undefined || other === undefined) return;
  const asValues = createFilter(createEquals("KEY", [one, other]));
  const found = await searchUnlessRefused(asking, asValues, 10);
  seen.keys = !found ? "refused" : found.contacts.length >= 2 ? "any" : "first";
  if (seen.keys === "any") asking.behavior.learn("keys", "any");
  else {
    const each = [one, other].flatMap((key) => createFilter(createEquals("KEY", [key])));
    const { contacts = [] } = (await searchUnlessRefused(asking, each, 10)) ?? {};
    asking.behavior.learn("keys", contacts.length >= 2 ? "alternatives" : "one");
  }
}

/** A hundred keys, all but the last of nobody. */
export async function probeManyKeys(
  asking: ProbeState,
  keys: string[],
  seen: DetectedVariants,
): Promise<void> {
  const mode = asking.behavior.get("keys");
  const [last] = keys;
  if (last === undefined || mode === undefined || mode === "one") return;
  for (let count = manyKeysCount; count >= 12; count = Math.floor(count / 2)) {
    const nobody = Array.from({ length: count - 1 }, (_, index) => `ecm-probe-${index}@example.com`);
    const asked = [...nobody, last];
    const filters =
      mode === "any"
        ? createFilter(createEquals("KEY", asked))
        : asked.flatMap((key) => createFilter(createEquals("KEY", [key])));
    if (!(await searchUnlessRefused(asking, filters, Math.min(count, 10)))) continue;
    if (count < manyKeysCount) {
      seen["max-keys"] = count;
      asking.behavior.learn("maxKeys", count);
    }
    return;
  }
}

export async function probeLetterCase(
  asking: ProbeState,
  keys: string[],
  seen: DetectedVariants,
): Promise<void> {
  const key = keys.find((each) => each.includes("@") && each !== each.toUpperCase());
  if (key === undefined) return;
  const { contacts } = await search(asking, createFilter(createEquals("KEY", [key.toUpperCase()])), 10);
  const isFolded = contacts.some((contact) => contact.key?.toLowerCase() === key.toLowerCase());
  seen["key-case"] = isFolded ? "fold" : "exact";
}

export async function probeInactive(asking: ProbeState, seen: DetectedVariants): Promise<void> {
  const { contacts } = await search(asking, createFilter(createEquals("CONTACT_STATUS", ["inactive"])), 1);
  const key = contacts[0]?.key;
  if (key === undefined) return;
  const answer = await search(asking, createFilter(createEquals("KEY", [key])), 10);
  seen.inactive = answer.contacts.some((contact) => contact.key === key) ? "shown" : "hidden";
}
