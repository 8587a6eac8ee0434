/**
 * What an undo needs to know of contacts that a run created or deleted: whether one is as it was made, and
 * how to make one again. Pure.
 */
import { findStatus, toIdSet } from "../../api/contacts.ts";
import { isErasedKey } from "../../api/key-spelling.ts";
import type { Contact, ContactList, ContactStructure, CreateContactBody } from "../../wire.ts";
import { filledValues, isSameMap, isSameSet } from "../plan/decide.ts";
import { formatPart, type PlanNames } from "../plan/plan-line.ts";

/** `lost`: fields, lists and tags that the account does not have any more. */
export type Recreation = { body: CreateContactBody; lost: string[] } | "suppressed";

/** Both stamps of a creation are taken in one go. */
const creationToleranceMilliseconds = 1000;

/** Whether a contact is as this create made it: nobody has changed it since, and it has not left. */
export function isUntouched(body: CreateContactBody, found: Partial<Contact>): boolean {
  const primary = findStatus(found)?.primary.toLowerCase();
  if (primary !== undefined && primary !== "active") return false;
  const { createdAt, updatedAt, __v } = found;
  const isStamped = createdAt !== undefined && updatedAt !== undefined;
  const isUnchanged = isStamped
    ? Date.parse(updatedAt) - Date.parse(createdAt) <= creationToleranceMilliseconds
    : (__v ?? 0) === 0;
  return isUnchanged && holdsExactly(body, found);
}

function holdsExactly(body: CreateContactBody, found: Partial<Contact>): boolean {
  const bodyValues = new Map(body.fields?.map(({ _id, value }) => [_id, value]));
  return (
    isSameMap(bodyValues, filledValues(found)) &&
    isSameSet(toIdSet(body.lists ?? []), toIdSet(found.lists ?? [])) &&
    isSameSet(toIdSet(body.tags ?? []), toIdSet(found.tags ?? []))
  );
}

/**
 * From a contact as it was to the create that makes it again, with what the account still has of its fields,
 * lists and tags.
 * @param names what the account called them, also what it does not have any more
 * @param isSuppressed whether nobody may be created with this key
 */
export function planRecreation(
  structure: ContactStructure,
  lists: readonly ContactList[],
  names: PlanNames,
  isSuppressed: (key: string) => boolean,
): (contact: Partial<Contact>) => Recreation {
  const fieldIds = new Set(structure.fields.map(({ _id }) => _id));
  const listIds = new Set(lists.map(({ _id }) => _id));
  const tagIds = structure.tags && new Set(structure.tags.map(({ _id }) => _id));
  return ({ key = "", ...contact }) => {
    if (isErasedKey(key) || isSuppressed(key)) return "suppressed";
    const fields = (contact.fields ?? []).filter(({ value }) => value !== "");
    const parts = {
      fields: fields.filter(({ _id }) => fieldIds.has(_id)).map(({ _id, value }) => ({ _id, value })),
      lists: [...toIdSet(contact.lists ?? [])].filter((id) => listIds.has(id)).map((_id) => ({ _id })),
      tags: [...toIdSet(contact.tags ?? [])].filter((id) => tagIds?.has(id) ?? true).map((_id) => ({ _id })),
    };
    const remainingParts = Object.entries(parts).filter(([, elements]) => elements.length > 0);
    const lost = [
      ...fields.filter(({ _id }) => !fieldIds.has(_id)).map(({ _id }) => formatPart("field", _id, names)),
      ...[...toIdSet(contact.lists ?? [])]
        .filter((id) => !listIds.has(id))
        .map((id) => formatPart("list", id, names)),
      ...[...toIdSet(contact.tags ?? [])]
        .filter((id) => tagIds && !tagIds.has(id))
        .map((id) => formatPart("tag", id, names)),
    ];
    return { body: { key, contactStructureId: structure._id, ...Object.fromEntries(remainingParts) }, lost };
  };
}
