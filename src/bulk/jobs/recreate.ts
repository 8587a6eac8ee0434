/** What an undo needs to know of contacts that a run created or deleted: whether one is as it was made, and how to make one again. Pure. */
import { statusOf } from "../../service/contacts.ts";
import { isErasedKey } from "../../service/key-spelling.ts";
import type { Contact, ContactList, ContactStructure, CreateContactBody } from "../../wire.ts";
import { filledValuesOf, idsOf, isSameMap, isSameSet } from "../plan/decide.ts";
import { type PlanNames, partNamed } from "../plan/plan-line.ts";

/** `lost`: fields, lists and tags that the account does not have any more. */
export type Recreation = { body: CreateContactBody; lost: string[] } | "suppressed";

/** Both stamps of a creation are taken in one go. */
const creationMilliseconds = 1000;

/** Whether a contact is as this create made it: nobody has changed it since, and it has not left. */
export function isUntouched(body: CreateContactBody, found: Partial<Contact>): boolean {
  const primary = statusOf(found)?.primary.toLowerCase();
  if (primary !== undefined && primary !== "active") return false;
  const { createdAt, updatedAt, __v } = found;
  const isStamped = createdAt !== undefined && updatedAt !== undefined;
  const isUnchanged = isStamped
    ? Date.parse(updatedAt) - Date.parse(createdAt) <= creationMilliseconds
    : (__v ?? 0) === 0;
  return isUnchanged && holdsExactly(body, found);
}

function holdsExactly(body: CreateContactBody, found: Partial<Contact>): boolean {
  const made = new Map(body.fields?.map(({ _id, value }) => [_id, value]));
  return (
    isSameMap(made, filledValuesOf(found)) &&
    isSameSet(idsOf(body.lists ?? []), idsOf(found.lists ?? [])) &&
    isSameSet(idsOf(body.tags ?? []), idsOf(found.tags ?? []))
  );
}

/**
 * From a contact as it was to the create that makes it again, with what the account still has of its fields, lists and
 * tags.
 * @param names what the account called them, also what it does not have any more
 * @param isSuppressed whether nobody may be created with this key
 */
export function recreation(
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
      lists: [...idsOf(contact.lists ?? [])].filter((id) => listIds.has(id)).map((_id) => ({ _id })),
      tags: [...idsOf(contact.tags ?? [])].filter((id) => tagIds?.has(id) ?? true).map((_id) => ({ _id })),
    };
    const kept = Object.entries(parts).filter(([, elements]) => elements.length > 0);
    const lost = [
      ...fields.filter(({ _id }) => !fieldIds.has(_id)).map(({ _id }) => partNamed("field", _id, names)),
      ...[...idsOf(contact.lists ?? [])]
        .filter((id) => !listIds.has(id))
        .map((id) => partNamed("list", id, names)),
      ...[...idsOf(contact.tags ?? [])]
        .filter((id) => tagIds && !tagIds.has(id))
        .map((id) => partNamed("tag", id, names)),
    ];
    return { body: { key, contactStructureId: structure._id, ...Object.fromEntries(kept) }, lost };
  };
}
