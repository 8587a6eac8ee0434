/**
 * Rows that say under which key a person was known before: both keys are looked up together, and where the new
 * contact is created in place of an active one, the plan gets a line for each of the two.
 */
import { findStatus } from "../../api/contacts.ts";
import type { Contact } from "../../wire.ts";
import type { Decision, Item, NamedKey, OldContact } from "../items.ts";
import { type Found, isHidden } from "./found.ts";
import type { Lookup } from "./lookup.ts";

/** Whom these name under further keys, to be looked up with them. */
export function formerItems(items: readonly Item[]): Item[] {
  return items.flatMap(({ former, others = [], line, cells }) =>
    [...(former ? [former] : []), ...others].map(({ ref, key }): Item => {
      return { kind: "contact", ref, line, key, cells, isAskedHidden: true };
    }),
  );
}

/**
 * Puts beside what was found of a contact what was found of the others that its row names: the one that it may
 * take the place of whole, and by its id, where it would be written.
 */
export async function joinFormers(
  items: readonly Item[],
  found: Map<number, Found>,
  lookup: Pick<Lookup, "read">,
): Promise<void> {
  const joining = items.map(async (item) => {
    if (!item.former && !item.others) return;
    const own = found.get(item.ref) ?? { isRemembered: false };
    const named = [item.former, ...(item.others ?? [])].map((each) => each && found.get(each.ref));
    const refused = own.refused ?? named.find((each) => each?.refused)?.refused;
    const read = named.map((each) => {
      const contact = each?.contact;
      if (refused || !contact || contact._id === own.contact?._id) return undefined;
      return readOld(contact, each === named[0] && own.contact === undefined, lookup);
    });
    const [old, ...others] = await Promise.all(read);
    const known = (item.others ?? []).flatMap((each, place) => {
      const contact = others[place]?.contact;
      return contact ? [{ ...each, contact }] : [];
    });
    // Who cannot be looked up may have left.
    found.set(item.ref, {
      ...own,
      ...(refused && { refused }),
      ...(old && { old }),
      ...(known.length > 0 && { others: known }),
    });
  });
  await Promise.all(joining);
}

/** @returns undefined for a contact that is gone since the search */
async function readOld(
  contact: Partial<OldContact["contact"]> & object,
  isWritten: boolean,
  lookup: Pick<Lookup, "read">,
): Promise<OldContact | undefined> {
  const isKnown = hasLeftUnder(contact) || (!isWritten && findStatus(contact));
  if (isKnown) return { contact };
  const whole = await lookup.read(contact._id!);
  return whole && { contact: whole };
}

/** Whether somebody is known to be inactive. */
export function hasLeftUnder(contact: Partial<Contact>): boolean {
  const status = findStatus(contact);
  return isHidden(contact) || (status !== undefined && status.primary.toLowerCase() !== "active");
}

/** A contact of which something was decided, and the items of the others that are written with it. */
export interface PlannedMove {
  item: Item;
  old: Item[];
}

export function planMove(item: Item, { old, others = [] }: Found, decision: Decision): PlannedMove {
  const { former, ...rest } = item;
  const contact = old?.contact;
  if (former && contact?._id && decision.kind === "create") {
    const left = toOtherItem(item, former, contact);
    const movesFrom = { contactId: contact._id, key: left.key.sent };
    return {
      item: { ...rest, movesFrom },
      old: [{ ...left, follows: item.ref, movesTo: item.key.sent }],
    };
  }
  // Whom the file marks is unsubscribed under whatever key.
  if (!item.desired?.unsubscribes || decision.kind === "reject") return { item, old: [] };
  const desired = { ...nothing, isNotSubscribed: true, unsubscribes: true };
  const known = [...(former && contact ? [{ ...former, contact }] : []), ...others];
  const active = known.filter((each) => !hasLeftUnder(each.contact));
  return { item, old: active.map((each) => ({ ...toOtherItem(item, each, each.contact), desired })) };
}

/** Of somebody whom the item's row names under another key. */
function toOtherItem({ line, cells }: Item, { ref, key }: NamedKey, contact: Partial<Contact>): Item {
  return {
    kind: "contact",
    ref,
    line,
    key: { ...key, sent: contact.key ?? key.sent },
    cells,
    contactId: contact._id,
    found: contact,
  };
}

const nothing = {
  fields: new Map<string, string>(),
  addLists: [],
  removeLists: [],
  addTags: [],
  removeTags: [],
};
