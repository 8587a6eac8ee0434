/**
 * What an undo needs to know of contacts that a run created or deleted: whether one is as it was made, and
 * how to make one again. Pure.
 */
import { findStatus, isActive, toIdSet } from "../../api/contacts.ts";
import { isErasedKey } from "../../api/key-spelling.ts";
import type { Contact, CreateContactBody } from "../../wire.ts";
import { filledValues, isSameMap, isSameSet } from "../plan/decide.ts";
import { formatPart, type PlanNames } from "../plan/plan-line.ts";

/** `lost`: fields, lists and tags that the account does not have any more. */
export type Recreation = { body: CreateContactBody; lost: string[] } | "suppressed";

/** Both stamps of a creation are taken in one go. */
const creationToleranceMilliseconds = 1000;

/** Whether a contact is as this create made it: nobody has changed it since, and it has not left. */
export function isUntouched(body: CreateContactBody, found: Partial<Contact>): boolean {
  if (findStatus(found) !== undefined && !isActive(found)) return false;
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

/** Ids of what the account still has; absent where it is not known, or nothing of its kind goes back. */
export interface Remaining {
  fields?: ReadonlySet<string>;
  lists?: ReadonlySet<string>;
  tags?: ReadonlySet<string>;
}

/**
 * From a contact as it was to the create that makes it again, with what remains of its fields, lists and tags.
 * @param names what the account called them, also what it does not have any more
 * @param isSuppressed whether nobody may be created with this key
 */
export function planRecreation(
  contactStructureId: string,
  remaining: Remaining,
  names: PlanNames,
  isSuppressed: (key: string) => boolean,
): (contact: Partial<Contact>) => Recreation {
  return ({ key = "", fields = [], lists = [], tags = [] }) => {
    if (isErasedKey(key) || isSuppressed(key)) return "suppressed";
    const lost: string[] = [];
    const isLeft = (what: keyof PlanNames, id: string) => {
      const isThere = remaining[`${what}s`]?.has(id) ?? true;
      if (!isThere) lost.push(formatPart(what, id, names));
      return isThere;
    };
    const toRefs = (what: keyof PlanNames, refs: Parameters<typeof toIdSet>[0]) =>
      [...toIdSet(refs)].filter((id) => isLeft(what, id)).map((_id) => ({ _id }));
    const parts = {
      fields: fields
        .filter(({ _id, value }) => value !== "" && isLeft("field", _id))
        .map(({ _id, value }) => ({ _id, value })),
      lists: toRefs("list", lists),
      tags: toRefs("tag", tags),
    };
    const remainingParts = Object.entries(parts).filter(([, elements]) => elements.length > 0);
    return { body: { key, contactStructureId, ...Object.fromEntries(remainingParts) }, lost };
  };
}
