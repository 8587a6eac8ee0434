/**
 * What `ecm apply` decides of a contact: what was approved is written where nothing has changed since. Pure.
 */

import { findStatus, isInactive, toIdSet } from "../../api/contacts.ts";
import { isErasedKey } from "../../api/key-spelling.ts";
import type { SelectionCheck } from "../../select/selection.ts";
import type { Suppressions } from "../../suppressions/suppressions.ts";
import type { Contact, ContactStatus } from "../../wire.ts";
import type { Change, Decision, Item, Operation, Work } from "../items.ts";
import {
  filledValues,
  holdsChange,
  holdsCreate,
  isSameMap,
  isSameSet,
  toFieldValues,
} from "../plan/decide.ts";
import { isWrite } from "../plan/tally.ts";

export interface ApplyItem extends Item {
  /** A member whom a list sync removes. */
  isRemoval?: boolean;
  /** As the plan has it. */
  approved: Operation;
}

const changed: Decision = { kind: "skip", code: "changed" };

/**
 * What was approved, where the contact is as it was when that was planned; nothing else.
 * @param selection conditions that the contacts were chosen by
 */
export function createStrictWork(suppressions: Suppressions, selection?: SelectionCheck): Work<ApplyItem> {
  return {
    isSuppressed: ({ key }) => isErasedKey(key.sent) || suppressions.hasNow(key.sent),
    decide({ approved, key }, found) {
      if (approved.kind !== "create") {
        const decision = decideExisting(approved, found);
        return found && isWrite(decision) && selection?.holds(found) === false ? changed : decision;
      }
      if (found) return holdsCreate(approved.body, found) ? { kind: "leave" } : changed;
      const isKept = isErasedKey(key.sent) || suppressions.has(key.sent);
      return isKept ? { kind: "skip", code: "suppressed" } : approved;
    },
  };
}

/** A write to a contact that the plan has seen. */
type ExistingWrite = Exclude<Operation, { kind: "create" }>;

function decideExisting(approved: ExistingWrite, found: Partial<Contact> | undefined): Decision {
  if (!found) return approved.kind === "delete" ? { kind: "skip", code: "missing" } : changed;
  if (found._id !== approved.contactId) return changed;
  return decideApproved(approved, found);
}

function decideApproved(approved: ExistingWrite, found: Partial<Contact>): Decision {
  switch (approved.kind) {
    case "change":
      return decideChange(approved, found);
    case "status":
      if (isInactive(found)) return { kind: "leave" };
      return isSameStatus(approved.before, findStatus(found)) ? approved : changed;
    case "delete":
      return isSameContact(approved.contact, found) ? { ...approved, contact: found } : changed;
  }
}

function decideChange(approved: Operation & Change, found: Partial<Contact>): Decision {
  if (holdsChange(approved.body, found)) return { kind: "leave" };
  return isAsBefore(approved, found) ? withVersion(approved, found) : changed;
}

/** Whether everything that the change replaces still is what it was. */
function isAsBefore({ body, before }: Change, found: Partial<Contact>): boolean {
  // Nobody who has left since is written: they were approved as somebody who had not.
  if (isInactive(found) && !before.inactive) return false;
  const values = toFieldValues(found);
  return (
    before.fields.every(({ _id, value }) => (values.get(_id) ?? "") === value) &&
    (!before.knewLists || isStillToDo(found.lists, body.addLists, body.removeLists)) &&
    (!before.knewTags || isStillToDo(found.tags, body.addTags, body.removeTags))
  );
}

/** Whether none of what is added is held, and all of what is removed is; or it is not known what is held. */
function isStillToDo(
  references: Contact["lists"],
  added: Change["body"]["addLists"] = [],
  removed: Change["body"]["addLists"] = [],
): boolean {
  if (!references) return true;
  const held = toIdSet(references);
  return (
    [...toIdSet(added)].every((id) => !held.has(id)) && [...toIdSet(removed)].every((id) => held.has(id))
  );
}

/** The version that was seen now, where one was: an older one would be refused. */
function withVersion(change: Operation & Change, { __v }: Partial<Contact>): Operation {
  const { __v: _, ...body } = change.body;
  return { ...change, body: __v === undefined ? body : { ...body, __v } };
}

/** In all parts that both tell, in any letter case. */
function isSameStatus(before: ContactStatus | undefined, now: ContactStatus | undefined): boolean {
  if (!before || !now) return true;
  const isSame = (one = "", other = "") =>
    one === "" || other === "" || one.toLowerCase() === other.toLowerCase();
  return isSame(before.primary, now.primary) && isSame(before.secondary, now.secondary);
}

/** In all parts that both tell. */
function isSameContact(planned: Partial<Contact>, found: Partial<Contact>): boolean {
  return (
    isInactive(planned) === isInactive(found) &&
    isSameMap(filledValues(planned), filledValues(found)) &&
    areSameReferences(planned.lists, found.lists) &&
    areSameReferences(planned.tags, found.tags)
  );
}

function areSameReferences(before: Contact["lists"], now: Contact["lists"]): boolean {
  return !before || !now || isSameSet(toIdSet(before), toIdSet(now));
}
