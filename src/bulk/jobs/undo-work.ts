/** What an undo decides of each contact that a run wrote: what still holds the run's value goes back. */

import { isActive, isInactive, toIdSet } from "../../api/contacts.ts";
import type { Contact, IdRef, MutateBody } from "../../wire.ts";
import type { Before, Decision, Item, Operation, Remark, Work } from "../items.ts";
import { toFieldValues } from "../plan/decide.ts";
import { formatPart, type PlanNames } from "../plan/plan-line.ts";
import { isWrite } from "../plan/tally.ts";
import { isUntouched, type Recreation, type Remaining } from "./recreate.ts";
import { readWrittenContacts, type WrittenContact } from "./written-contacts.ts";

export interface UndoItem extends Item {
  undoes: WrittenContact;
}

/** What an undo may do besides putting back what was changed. */
export interface UndoScope {
  /** Deletes what the run created and nobody has changed since. */
  deletesCreated?: boolean;
  /** Of a run that deleted: how a contact is created again. */
  recreate?: (contact: Partial<Contact>) => Recreation;
  /** What fields, lists and tags are called; default: by their ids. */
  names?: PlanNames;
  /** What the account still has of what contacts held before. */
  remaining?: Remaining;
}

/**
 * One item for each contact that the run wrote, in the order of the run. The journal has them in the order of
 * their outcomes.
 * @param refs of all of them
 */
export async function* readUndoItems(
  folder: string,
  refs: readonly number[],
  { toIdentity, isPartial }: { toIdentity: (key: string) => string; isPartial: boolean },
): AsyncGenerator<UndoItem[]> {
  const order = [...new Set(refs)].sort((one, other) => one - other);
  const waiting = new Map<number, UndoItem>();
  let next = 0;
  for await (const undoes of readWrittenContacts(folder, isPartial)) {
    waiting.set(undoes.ref, toUndoItem(undoes, toIdentity));
    const ready: UndoItem[] = [];
    for (let item = waiting.get(order[next]!); item; item = waiting.get(order[next]!)) {
      ready.push(item);
      waiting.delete(order[next++]!);
    }
    if (ready.length > 0) yield ready;
  }
  yield [...waiting.values()].sort((one, other) => one.ref - other.ref);
}

function toUndoItem(undoes: WrittenContact, toIdentity: (key: string) => string): UndoItem {
  const { ref, key, operation, createdId } = undoes;
  // A deleted contact's id is gone with it.
  const contactId =
    operation.kind === "create" ? createdId : operation.kind === "delete" ? undefined : operation.contactId;
  return {
    kind: "contact",
    ref,
    line: null,
    key: { written: key, sent: key, identity: toIdentity(key) },
    cells: [key],
    ...(contactId !== undefined && { contactId }),
    undoes,
  };
}

export function createUndoWork(scope: UndoScope, isSuppressed: (key: string) => boolean): Work<UndoItem> {
  const isChangedBack = ({ undoes: { operation, isUnproven, createdId } }: UndoItem) => {
    if (isUnproven) return false;
    if (operation.kind === "create") return scope.deletesCreated === true && createdId !== undefined;
    return operation.kind === "change";
  };
  return {
    decide: (item, found) => decideUndo(item, found, scope),
    needsLookup: (item) =>
      isChangedBack(item) || (item.undoes.operation.kind === "delete" && !item.undoes.isUnproven),
    readsAlone: isChangedBack,
    // A search may lag behind: it is believed where it shows what the run wrote.
    isCertain: (item, decision) =>
      !isChangedBack(item) || (isWrite(decision) && decision.remark === undefined),
    isSuppressed: ({ key }) => isSuppressed(key.sent),
  };
}

/** Of a contact that the run has deleted: whether this is that one. No id is given twice. */
export function isDeletedOne(item: Item, { _id }: Partial<Contact>): boolean {
  const { operation } = (item as UndoItem).undoes;
  return operation.kind === "delete" && _id === operation.contactId;
}

/**
 * What still holds the run's value goes back to what it was before; the rest stays as others have made it.
 */
export function decideUndo(
  item: UndoItem,
  found: Partial<Contact> | undefined,
  scope: UndoScope = {},
): Decision {
  const { operation, isUnproven } = item.undoes;
  if (isUnproven) {
    return toRejection(
      "unproven",
      "the journal is damaged: check by hand whether the run changed this contact",
    );
  }
  if (operation.kind === "create") return decideCreated(item.undoes, operation, found, scope);
  if (operation.kind === "status") {
    return toRejection("unsubscribed", "contacts cannot be reactivated through the API");
  }
  if (operation.kind === "delete") return decideDeleted(operation, found, scope);
  if (!found || found._id !== operation.contactId) return toRejection("gone", "the contact no longer exists");
  const { body, leftOut } = planRestoration(operation, found, scope);
  const remark = toNotRestoredRemark(leftOut);
  if (Object.keys(body).length === 0) return remark ? { kind: "reject", ...remark } : { kind: "leave" };
  if (found.__v !== undefined) body.__v = found.__v;
  const values = toFieldValues(found);
  const fields = (body.updateFields ?? []).map(({ _id }) => ({ _id, value: values.get(_id) ?? "" }));
  const before: Before = {
    fields,
    knewLists: found.lists !== undefined,
    knewTags: found.tags !== undefined,
    ...(isInactive(found) && { inactive: true }),
  };
  return { kind: "change", contactId: operation.contactId, body, before, ...(remark && { remark }) };
}

function decideCreated(
  { createdId: contactId }: WrittenContact,
  { body }: Extract<Operation, { kind: "create" }>,
  found: Partial<Contact> | undefined,
  { deletesCreated }: UndoScope,
): Decision {
  if (!deletesCreated || contactId === undefined) {
    return toRejection("created", "the run created this contact; it stays without --delete-created");
  }
  // Another contact may have the key by now.
  if (found?._id !== contactId) return { kind: "leave" };
  return isUntouched(body, found)
    ? { kind: "delete", contactId, contact: found }
    : toRejection("changed_since", "the run created this contact, and it was changed since; it stays");
}

/**
 * Never wakes anyone: only who was active is created again, and
 * nobody who has said meanwhile that they want to go.
 */
function decideDeleted(
  { contact }: Extract<Operation, { kind: "delete" }>,
  found: Partial<Contact> | undefined,
  { recreate }: UndoScope,
): Decision {
  if (found) return { kind: "skip", code: "exists" };
  if (!isActive(contact)) {
    return toRejection("not_active", "the contact was not active when it was deleted; it is not recreated");
  }
  const recreation = recreate?.(contact);
  if (!recreation) return toRejection("deleted", "the contact was permanently deleted");
  if (recreation === "suppressed") return { kind: "skip", code: "suppressed" };
  const remark = toNotRestoredRemark(recreation.lost);
  return { kind: "create", body: recreation.body, ...(remark && { remark }) };
}

/** @param parts what cannot be put back */
function toNotRestoredRemark(parts: readonly string[]): Remark | undefined {
  return parts.length === 0
    ? undefined
    : { code: "changed_since", message: `not restored: ${parts.join(", ")}` };
}

/** What goes back of a change, and in words what does not. */
function planRestoration(
  { body: done, before }: Extract<Operation, { kind: "change" }>,
  found: Partial<Contact>,
  { names, remaining = {} }: UndoScope,
): { body: MutateBody; leftOut: string[] } {
  const leftOut: string[] = [];
  const leaveOut = (what: keyof PlanNames, id: string) => {
    leftOut.push(formatPart(what, id, names));
    return false;
  };
  /** What is gone from the account would have the whole change refused. */
  const isThere = (what: keyof PlanNames, id: string) =>
    (remaining[`${what}s`]?.has(id) ?? true) || leaveOut(what, id);
  const values = toFieldValues(found);
  const earlier = new Map(before.fields.map(({ _id, value }) => [_id, value]));
  const restored = (done.updateFields ?? []).filter(({ _id, value }) => {
    const now = values.get(_id) ?? "";
    if (now === (earlier.get(_id) ?? "")) return false;
    return now === value ? isThere("field", _id) : leaveOut("field", _id);
  });
  const restoreMemberships = (what: "list" | "tag", added: IdRef[] = [], removed: IdRef[] = []) => {
    const held = toIdSet(found[`${what}s`] ?? []);
    const wasKnown = what === "list" ? before.knewLists : before.knewTags;
    const isTakenBack = (id: string) => (wasKnown ? held.has(id) : leaveOut(what, id));
    return {
      remove: added.filter(({ _id }) => isTakenBack(_id)),
      add: removed.filter(({ _id }) => !held.has(_id) && isThere(what, _id)),
    };
  };
  const lists = restoreMemberships("list", done.addLists, done.removeLists);
  const tags = restoreMemberships("tag", done.addTags, done.removeTags);
  const parts: MutateBody = {
    updateFields: restored.map(({ _id }) => ({ _id, value: earlier.get(_id) ?? "" })),
    removeLists: lists.remove,
    addLists: lists.add,
    removeTags: tags.remove,
    addTags: tags.add,
  };
  const body = Object.fromEntries(Object.entries(parts).filter(([, part]) => (part as unknown[]).length > 0));
  return { body, leftOut };
}

function toRejection(code: string, message: string): Decision {
  return { kind: "reject", code, message };
}
