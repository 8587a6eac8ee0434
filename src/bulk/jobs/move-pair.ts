/** The two contacts of a move: what they must be, and what is written to each. */

import { findStatus, formatStatus, toIdSet, unsubscribed } from "../../api/contacts.ts";
import { EcmError, exitCodes, UsageError } from "../../errors.ts";
import type { Suppressions } from "../../privacy/suppressions.ts";
import type { Contact } from "../../wire.ts";
import type { ContactKey, Decision, DesiredContact, Item, OldContact, Work } from "../items.ts";
import { computeChange, decide, filledValues, noChange } from "../plan/decide.ts";
import { isActive, isHidden } from "../plan/found.ts";
import { isPersonKept } from "../plan/planned-moves.ts";
import { createKeyReader } from "../read/keys.ts";

/** The two contacts cannot be meant, or must not be: nothing was written. */
export class MoveRefusedError extends EcmError {
  constructor(message: string, hint: string, exitCode: number = exitCodes.conflict) {
    super(exitCode, message, { type: "MoveRefusedError", applied: "no", hint });
  }
}

export interface MovePair {
  old: Contact;
  /** Absent where the contact is created. */
  existing: Contact | undefined;
}

export interface MoveRules {
  structureId: string;
  /** The old contact is deleted instead of unsubscribed. */
  deletesOld: boolean;
  suppressions: Suppressions;
}

const newRef = 1;
const oldRef = 2;

/** The new key as it is sent. @throws UsageError for one that no contact may have */
export function readNewKey(typed: string, keyType: string): ContactKey {
  const reading = createKeyReader(keyType)(typed);
  if (!("key" in reading)) throw unfitKeyError(typed, reading.message);
  if (reading.fault) throw unfitKeyError(typed, reading.fault.message);
  return reading.key;
}

function unfitKeyError(typed: string, why: string): UsageError {
  return new UsageError(`${JSON.stringify(typed)} cannot be the new key: ${why}`, "Nothing was sent");
}

/** Both names as items to be looked up. */
export function namedItems(from: ContactKey, to: ContactKey): { old: Item; target: Item } {
  const item = (ref: number, key: ContactKey): Item => ({
    kind: "contact",
    ref,
    line: null,
    key,
    cells: [key.written],
  });
  return { old: item(oldRef, from), target: item(newRef, to) };
}

/** @throws MoveRefusedError unless the person is known to be active, and is told whole */
export function requireWhole(contact: Partial<Contact>, verb: string): void {
  const { key } = contact;
  if (isHidden(contact) || !isActive(contact)) {
    const status = formatStatus(findStatus(contact));
    throw new MoveRefusedError(
      `${key} is ${isHidden(contact) ? "inactive" : (status?.toLowerCase() ?? "of unknown status")}; only an active contact can be ${verb}`,
      "Whoever has left is not written to under another address",
    );
  }
  if (!contact.fields || !contact.lists || !contact.tags) {
    throw new MoveRefusedError(
      `The service does not tell all fields, lists and tags of ${key}`,
      "They would be lost; create the new contact by hand",
    );
  }
}

/** @throws MoveRefusedError */
export function requireUnsuppressed(keys: readonly string[], suppressions: Suppressions): void {
  const suppressed = keys.find((key) => suppressions.hasNow(key));
  if (suppressed === undefined) return;
  throw new MoveRefusedError(
    `${suppressed} is on the suppression list`,
    "This person asked not to be contacted, or was erased",
  );
}

/** What is written, in this order: the new contact, then the old one. */
export function moveItems({ old, existing }: MovePair, named: ReturnType<typeof namedItems>): Item[] {
  const desired = takeOver(old, existing !== undefined);
  const isChanged = existing === undefined || computeChange(desired, existing) !== undefined;
  const target: Item = {
    ...named.target,
    desired,
    ...(existing && { found: existing, contactId: existing._id }),
    ...(isChanged && { movesFrom: { contactId: old._id, key: old.key } }),
  };
  const left: Item = {
    ...named.old,
    key: { written: old.key, sent: old.key, identity: named.old.key.identity },
    cells: [old.key],
    contactId: old._id,
    found: old,
    ...(isChanged && { follows: newRef }),
  };
  return [target, left];
}

/** What the new contact takes over. What an existing one has stays. */
function takeOver(old: Partial<Contact>, isMerge: boolean): DesiredContact {
  const fields = filledValues(old);
  return {
    ...noChange,
    fields,
    ...(isMerge && { onlyIfEmpty: [...fields.keys()] }),
    addLists: [...toIdSet(old.lists ?? [])],
    addTags: [...toIdSet(old.tags ?? [])],
  };
}

/** The same decisions when it is planned, and right before each write. */
export function moveWork(rules: MoveRules): Work {
  const isSuppressed = (item: Item) => isPersonKept(item, (key) => rules.suppressions.hasNow(key));
  return {
    isSuppressed,
    // Both were read for the plan.
    needsLookup: () => false,
    decide(item, found, old) {
      if (item.ref === oldRef) return decideOld(found, rules);
      const hindrance = findHindrance(old);
      if (hindrance) return hindrance;
      if (isSuppressed(item)) return { kind: "skip", code: "suppressed" };
      return item.contactId === undefined
        ? decideCreate(item, found, old, rules)
        : decideMerge(item, item.contactId, found);
    },
  };
}

/**
 * Why nobody may be written in place of a contact that moves;
 * undefined where it was not read now, or is active.
 */
export function findHindrance(old: OldContact | undefined): Decision | undefined {
  if (!old || (old.contact && isActive(old.contact))) return undefined;
  return { kind: "skip", code: old.contact ? "moved_unsubscribed" : "missing" };
}

function decideCreate(
  { key, desired }: Item,
  found: Partial<Contact> | undefined,
  old: OldContact | undefined,
  { structureId }: MoveRules,
): Decision {
  if (found) {
    return { kind: "reject", code: "exists", message: "another contact was created with this key meanwhile" };
  }
  const wanted = old?.contact ? takeOver(old.contact, false) : desired!;
  return decide(key.sent, wanted, undefined, { structureId, mode: "create", missing: "skip" });
}

function decideMerge({ desired }: Item, contactId: string, found: Partial<Contact> | undefined): Decision {
  if (found?._id !== contactId) return { kind: "skip", code: "missing" };
  if (!isActive(found)) return { kind: "skip", code: "moved_unsubscribed" };
  const change = computeChange(desired!, found);
  return change ? { kind: "change", contactId, ...change } : { kind: "leave" };
}

/** Of the contact whose place another one takes. */
export function decideOld(
  found: Partial<Contact> | undefined,
  { deletesOld }: Pick<MoveRules, "deletesOld">,
): Decision {
  if (!found) return { kind: "skip", code: "missing" };
  const contactId = found._id!;
  if (deletesOld) return { kind: "delete", contactId, contact: found };
  return { kind: "status", contactId, status: unsubscribed, before: findStatus(found) };
}
