/**
 * Rows that say under which key a person was known before: both keys are looked up together, and where the new
 * contact is created in place of an active one, the plan gets a line for each of the two.
 */
import { findStatus } from "../../api/contacts.ts";
import { isErasedKey } from "../../api/key-spelling.ts";
import type { Contact } from "../../wire.ts";
import type { Decision, Item, NamedKey, OldContact } from "../items.ts";
import { noChange } from "./decide.ts";
import { type Found, isActive, isHidden } from "./found.ts";
import type { Lookup } from "./lookup.ts";

/** Whom a row names besides its own key: the old key first. */
function listNamed({ former, others = [] }: Pick<Item, "former" | "others">): NamedKey[] {
  return former ? [former, ...others] : others;
}

/** The keys under which nobody was known when the create of this contact was planned. */
export function listUnknown<T extends Pick<NamedKey, "contactId">>({ others = [] }: { others?: T[] }): T[] {
  return others.filter(({ contactId }) => contactId === undefined);
}

/** How many contacts are read by their ids right before this one is written. */
export function countReadsBefore({
  movesFrom,
  others = [],
}: Pick<Item, "movesFrom"> & { others?: Pick<NamedKey, "contactId">[] }): number {
  return (movesFrom ? 1 : 0) + others.filter(({ contactId }) => contactId !== undefined).length;
}

/** Whether nobody may be created as the person of this contact: erased, or suppressed, under any of their keys. */
export function isPersonKept(item: Item, isSuppressed: (key: string) => boolean | undefined): boolean {
  const { key, movesFrom } = item;
  const keys = [
    key.sent,
    ...listNamed(item).map((each) => each.key.sent),
    ...(movesFrom ? [movesFrom.key] : []),
  ];
  return keys.some((each) => isErasedKey(each) || isSuppressed(each) === true);
}

/** Whom an item's row names under these keys, to be looked up with it. */
export function toNamedItems({ line, cells }: Item, named: readonly NamedKey[]): Item[] {
  return named.map(({ ref, key }) => ({ kind: "contact", ref, line, key, cells, isAskedHidden: true }));
}

/** Whom these name under further keys. */
export function formerItems(items: readonly Item[]): Item[] {
  return items.flatMap((item) => toNamedItems(item, listNamed(item)));
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
    const named = listNamed(item);
    if (named.length === 0) return;
    const own = found.get(item.ref) ?? {};
    // Who cannot be looked up may have left.
    const refused = own.refused ?? named.map(({ ref }) => found.get(ref)?.refused).find(Boolean);
    const others = refused ? [] : await readOthers(item, own, { named, found, lookup });
    const old = chooseOld(item, own, others);
    found.set(item.ref, { ...own, ...(refused && { refused }), ...(old && { old }), others });
  });
  await Promise.all(joining);
}

type Known = NonNullable<Found["others"]>;

async function readOthers(
  { former }: Item,
  own: Found,
  { named, found, lookup }: { named: NamedKey[]; found: Map<number, Found>; lookup: Pick<Lookup, "read"> },
): Promise<Known> {
  const reading = named.map(async (each) => {
    const contact = found.get(each.ref)?.contact;
    if (!contact || contact._id === own.contact?._id) return [];
    const old = await readOld(contact, each === former && own.contact === undefined, lookup);
    return old ? [{ ...each, contact: old }] : [];
  });
  return (await Promise.all(reading)).flat();
}

/** @returns undefined for a contact that is gone since the search */
async function readOld(
  contact: Partial<Contact>,
  isWritten: boolean,
  lookup: Pick<Lookup, "read">,
): Promise<Partial<Contact> | undefined> {
  const isKnown = hasLeft(contact) || (!isWritten && findStatus(contact));
  return isKnown ? contact : lookup.read(contact._id!);
}

/** Of a contact that would be created, whoever has left under any key stands for all; else whose place it takes. */
function chooseOld({ former }: Item, own: Found, others: Known): OldContact | undefined {
  const left = own.contact ? undefined : others.find(({ contact }) => hasLeft(contact));
  return left ?? others.find(({ ref }) => ref === former?.ref);
}

/** Whether somebody is known to be inactive. */
export function hasLeft(contact: Partial<Contact>): boolean {
  return isHidden(contact) || (findStatus(contact) !== undefined && !isActive(contact));
}

/** A contact of which something was decided, and the items of the others that are written with it. */
export interface PlannedMove {
  item: Item;
  old: Item[];
}

export function planMove(item: Item, { others: known = [] }: Found, decision: Decision): PlannedMove {
  const { former, others, ...rest } = item;
  if (decision.kind === "create" && (former || others)) {
    const replaced = former && known.find(({ ref }) => ref === former.ref);
    const named = replaced ? others : listNamed(item);
    const withIds = named?.map((each) => withId(each, known));
    const created = { ...rest, ...(withIds && { others: withIds }) };
    if (!replaced) return { item: created, old: [] };
    const left = toOtherItem(item, replaced, replaced.contact);
    const movesFrom = { contactId: replaced.contact._id!, key: left.key.sent };
    const old = { ...left, follows: item.ref, movesTo: item.key.sent };
    return { item: { ...created, movesFrom }, old: [old] };
  }
  // Whom the file marks is unsubscribed under whatever key.
  if (!item.desired?.unsubscribes || decision.kind === "reject") return { item, old: [] };
  const desired = { ...noChange, isNotSubscribed: true, unsubscribes: true };
  const active = known.filter((each) => !hasLeft(each.contact));
  return { item, old: active.map((each) => ({ ...toOtherItem(item, each, each.contact), desired })) };
}

function withId({ ref, key }: NamedKey, known: Known): NamedKey {
  const contactId = known.find((each) => each.ref === ref)?.contact._id;
  return { ref, key, ...(contactId !== undefined && { contactId }) };
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
