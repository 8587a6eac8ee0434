/** What to do about one contact: a pure function of what is wanted, what the account holds, and the mode. */

import { isInactive, toIdSet } from "../../api/contacts.ts";
import type { Contact, CreateContactBody, FieldValue, IdRef, MutateBody } from "../../wire.ts";
import type { Before, Decision, DesiredContact } from "../items.ts";

/** Leaves a contact as it is. */
export const noChange: DesiredContact = {
  fields: new Map(),
  addLists: [],
  removeLists: [],
  addTags: [],
  removeTags: [],
};

export type Mode = "upsert" | "create" | "update";

export interface DecideOptions {
  structureId: string;
  mode: Mode;
  /**
   * What becomes of a key that the account does not hold, in mode
   * `update`: passed over, or an error of its row.
   */
  missing: "skip" | "reject";
}

/** @param key the form that a create sends */
export function decide(
  key: string,
  desired: DesiredContact,
  found: Partial<Contact> | undefined,
  options: DecideOptions,
): Decision {
  if (!found) return decideAbsent(key, desired, options);
  if (options.mode === "create") return { kind: "skip", code: "exists" };
  const change = computeChange(desired, found);
  if (!change) return { kind: "leave" };
  return { kind: "change", contactId: found._id!, ...change };
}

function decideAbsent(
  key: string,
  desired: DesiredContact,
  { mode, missing, structureId }: DecideOptions,
): Decision {
  if (mode === "update") {
    // There is nothing to be done about someone who left and is not here.
    if (missing === "reject" && desired.isNotSubscribed) return { kind: "skip", code: "not_subscribed" };
    return missing === "skip"
      ? { kind: "skip", code: "missing" }
      : { kind: "reject", code: "not_found", message: "no contact has this key" };
  }
  if (desired.isNotSubscribed) return { kind: "skip", code: "not_subscribed" };
  return { kind: "create", body: toCreateBody(key, desired, structureId) };
}

function toCreateBody(key: string, desired: DesiredContact, contactStructureId: string): CreateContactBody {
  const body: CreateContactBody = { key, contactStructureId };
  const fields: FieldValue[] = [];
  for (const [_id, value] of desired.fields) if (value !== "") fields.push({ _id, value });
  if (fields.length > 0) body.fields = fields;
  if (desired.addLists.length > 0) body.lists = toRefs(desired.addLists);
  if (desired.addTags.length > 0) body.tags = toRefs(desired.addTags);
  return body;
}

/**
 * The smallest mutate that makes the contact as wanted, and what it replaces; undefined when it is so
 * already. A facet that the answer did not carry is unknown, and is sent.
 */
export function computeChange(
  desired: DesiredContact,
  found: Partial<Contact>,
): { body: MutateBody; before: Before } | undefined {
  const values = toFieldValues(found);
  const updateFields = [...desired.fields]
    .filter(([id, value]) => (values.get(id) ?? "") !== value)
    .map(([_id, value]): FieldValue => ({ _id, value }));
  const lists = found.lists && toIdSet(found.lists);
  const tags = found.tags && toIdSet(found.tags);
  // Only the person can take an unsubscription back: their file says they have not.
  const addLists = desired.isNotSubscribed ? [] : desired.addLists.filter((id) => !lists?.has(id));
  const removeLists = desired.removeLists.filter((id) => !lists || lists.has(id));
  const addTags = desired.addTags.filter((id) => !tags?.has(id));
  const removeTags = desired.removeTags.filter((id) => !tags || tags.has(id));

  const body: MutateBody = {};
  if (updateFields.length > 0) body.updateFields = updateFields;
  if (addLists.length > 0) body.addLists = toRefs(addLists);
  if (removeLists.length > 0) body.removeLists = toRefs(removeLists);
  if (addTags.length > 0) body.addTags = toRefs(addTags);
  if (removeTags.length > 0) body.removeTags = toRefs(removeTags);
  if (Object.keys(body).length === 0) return undefined;
  if (found.__v !== undefined) body.__v = found.__v;
  const before: Before = {
    fields: updateFields.map(({ _id }) => ({ _id, value: values.get(_id) ?? "" })),
    knewLists: lists !== undefined,
    knewTags: tags !== undefined,
    ...(isInactive(found) && { inactive: true }),
  };
  return { body, before };
}

/** Whether a contact is as this create would have made it: at least what was asked for. */
export function holdsCreate(body: CreateContactBody, found: Partial<Contact>): boolean {
  return computeChange(toDesiredFromCreate(body), found) === undefined;
}

/** Whether nothing of this mutate is left to be done. */
export function holdsChange(body: MutateBody, found: Partial<Contact>): boolean {
  return computeChange(toDesiredFromMutate(body), found) === undefined;
}

export function toDesiredFromCreate({ fields, lists = [], tags = [] }: CreateContactBody): DesiredContact {
  return {
    ...noChange,
    fields: new Map(fields?.map(({ _id, value }) => [_id, value])),
    addLists: [...toIdSet(lists)],
    addTags: [...toIdSet(tags)],
  };
}

export function toDesiredFromMutate(body: MutateBody): DesiredContact {
  return {
    fields: new Map(body.updateFields?.map(({ _id, value }) => [_id, value])),
    addLists: [...toIdSet(body.addLists ?? [])],
    removeLists: [...toIdSet(body.removeLists ?? [])],
    addTags: [...toIdSet(body.addTags ?? [])],
    removeTags: [...toIdSet(body.removeTags ?? [])],
  };
}

/** Whether the file marks as not subscribed whom the account holds as active, or may hold so. */
export function isMarked(desired: DesiredContact | undefined, found: Partial<Contact> | undefined): boolean {
  return desired?.isNotSubscribed === true && found !== undefined && !isInactive(found);
}

export function toFieldValues(found: Partial<Contact>): Map<string, string> {
  return new Map(found.fields?.map(({ _id, value }) => [_id, value]));
}

/** The fields that hold something. */
export function filledValues(found: Partial<Contact>): Map<string, string> {
  return new Map([...toFieldValues(found)].filter(([, value]) => value !== ""));
}

export function isSameSet(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  return one.size === other.size && [...one].every((each) => other.has(each));
}

/** The same values under the same ids. */
export function isSameMap(one: ReadonlyMap<string, string>, other: ReadonlyMap<string, string>): boolean {
  return one.size === other.size && [...one].every(([id, value]) => other.get(id) === value);
}

function toRefs(ids: readonly string[]): IdRef[] {
  return ids.map((_id) => ({ _id }));
}
