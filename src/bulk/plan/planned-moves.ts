/**
 * Rows that say under which key a person was known before: both keys are looked up together, and where the new
 * contact is created in place of an active one, the plan gets a line for each of the two.
 */
import { findStatus } from "../../api/contacts.ts";
import type { Decision, Item, OldContact } from "../items.ts";
import { type Found, isHidden } from "./found.ts";
import type { Lookup } from "./lookup.ts";

/** The old contacts of these, to be looked up with them. */
export function formerItems(items: readonly Item[]): Item[] {
  return items.flatMap(({ former, line, cells }) =>
    former ? [{ kind: "contact", ref: former.ref, line, key: former.key, cells, isAskedHidden: true }] : [],
  );
}

/**
 * Puts beside what was found of a contact what was found of the one that it may take the place of: whole, and by
 * its id, where it would be written.
 */
export async function joinFormers(
  items: readonly Item[],
  found: Map<number, Found>,
  lookup: Pick<Lookup, "read">,
): Promise<void> {
  const reading: Promise<void>[] = [];
  for (const { ref, former } of items) {
    const old = former && found.get(former.ref);
    if (!old) continue;
    const own = found.get(ref) ?? { isRemembered: false };
    // Who cannot be looked up may have left.
    if (old.refused) found.set(ref, { ...own, refused: own.refused ?? old.refused });
    else if (old.contact && old.contact._id !== own.contact?._id) {
      const joined = readOld(old.contact, own.contact === undefined, lookup).then((each) => {
        if (each) found.set(ref, { ...own, old: each });
      });
      reading.push(joined);
    }
  }
  await Promise.all(reading);
}

/** @returns undefined for a contact that is gone since the search */
async function readOld(
  contact: Partial<OldContact["contact"]> & object,
  isWritten: boolean,
  lookup: Pick<Lookup, "read">,
): Promise<OldContact | undefined> {
  const isKnown = isHidden(contact) || isKnownInactive(contact) || (!isWritten && findStatus(contact));
  if (isKnown) return { contact };
  const whole = await lookup.read(contact._id!);
  return whole && { contact: whole };
}

function isKnownInactive(contact: NonNullable<OldContact["contact"]>): boolean {
  const status = findStatus(contact);
  return status !== undefined && status.primary.toLowerCase() !== "active";
}

/** What was decided of a contact that takes the place of another, and the item of that other one. */
export interface PlannedMove {
  item: Item;
  old: Item;
}

/** Undefined where nobody moves. */
export function planMove(item: Item, { old }: Found, decision: Decision): PlannedMove | undefined {
  const { former, ...rest } = item;
  const contact = old?.contact;
  if (!former || !contact?._id) return undefined;
  const oldItem: Item = {
    kind: "contact",
    ref: former.ref,
    line: item.line,
    key: { ...former.key, sent: contact.key ?? former.key.sent },
    cells: item.cells,
    contactId: contact._id,
    found: contact,
  };
  const isTakenOver = decision.kind === "create";
  if (isTakenOver) {
    const movesFrom = { contactId: contact._id, key: oldItem.key.sent };
    return { item: { ...rest, movesFrom }, old: { ...oldItem, follows: item.ref, movesTo: item.key.sent } };
  }
  // Whom the file marks is unsubscribed under whatever key.
  const isMarked = decision.kind === "skip" && decision.code === "not_subscribed";
  return isMarked && item.desired?.unsubscribes
    ? { item, old: { ...oldItem, desired: { ...nothing, isNotSubscribed: true, unsubscribes: true } } }
    : undefined;
}

const nothing = {
  fields: new Map<string, string>(),
  addLists: [],
  removeLists: [],
  addTags: [],
  removeTags: [],
};
