/** What a person wants changed on a contact → the bodies of create and mutate. Names resolve to ids here. */

import { toIdSet } from "../api/contacts.ts";
import { resolveField, resolveTag } from "../api/names.ts";
import { hasStatus, usageError } from "../errors.ts";
import { isObject } from "../json.ts";
import type { Contact, ContactStructure, FieldValue, IdRef, MutateBody } from "../wire.ts";
import type { Account } from "./account.ts";
import type { BehaviorPoints } from "./behavior.ts";

/** As typed: names or ids, and `FIELD=VALUE`. */
export interface RequestedChanges {
  addTag?: string[];
  removeTag?: string[];
  addList?: string[];
  removeList?: string[];
  set?: string[];
  ifVersion?: number;
}

/** @throws UsageError when nothing is wanted */
export function requireChange({ addTag, removeTag, addList, removeList, set }: RequestedChanges): void {
  if ([addTag, removeTag, addList, removeList, set].some((each) => (each?.length ?? 0) > 0)) return;
  throw usageError(
    "No change given",
    "Pass --set, --add-tag, --remove-tag, --add-list, --remove-list or --data",
  );
}

/**
 * The body of a mutate; members without an element are left out.
 * @throws UsageError when nothing is wanted, or two changes contradict each other; NotFoundError for a name
 *   that means nothing.
 */
export async function createMutateBody(account: Account, changes: RequestedChanges): Promise<MutateBody> {
  requireChange(changes);
  const { addTag = [], removeTag = [], addList = [], removeList = [], set = [] } = changes;
  const structure = await account.structure();
  const body: MutateBody = {
    addTags: await resolveTagRefs(account, structure, addTag),
    removeTags: await resolveTagRefs(account, structure, removeTag),
    addLists: await resolveListRefs(account, structure, addList),
    removeLists: await resolveListRefs(account, structure, removeList),
    updateFields: parseFieldValues(structure, set),
  };
  requireOneValueEach(body, structure);
  const nonEmpty = Object.entries(body).filter(([, elements]) => (elements as unknown[]).length > 0);
  return {
    ...Object.fromEntries(nonEmpty),
    ...(changes.ifVersion !== undefined && { __v: changes.ifVersion }),
  };
}

/** References to lists, each once, however often it was named. */
export async function resolveListRefs(
  account: Account,
  structure: ContactStructure,
  namesOrIds: readonly string[],
): Promise<IdRef[]> {
  const ids = new Set<string>();
  for (const each of namesOrIds) ids.add((await account.list(structure, each))._id);
  return [...ids].map((_id) => ({ _id }));
}

/** References to tags, each once, however often it was named. */
export async function resolveTagRefs(
  account: Account,
  structure: ContactStructure,
  namesOrIds: readonly string[],
): Promise<IdRef[]> {
  if (namesOrIds.length === 0) return [];
  const whole = await account.complete(structure);
  return [...new Set(namesOrIds.map((each) => resolveTag(whole, each)._id))].map((_id) => ({ _id }));
}

/** `FIELD=VALUE`, split at the first `=`. @throws UsageError without one. */
export function splitAssignment(assignment: string): [field: string, value: string] {
  const at = assignment.indexOf("=");
  if (at > 0) return [assignment.slice(0, at), assignment.slice(at + 1)];
  throw usageError(
    `--set ${JSON.stringify(assignment)} is not FIELD=VALUE`,
    'Such as --set "City=Paris"; --set "City=" empties the field',
  );
}

/** Field ids and their values. @throws UsageError when a field is set twice; NotFoundError. */
export function parseFieldValues(structure: ContactStructure, assignments: readonly string[]): FieldValue[] {
  const values = assignments.map((assignment) => {
    const [nameOrId, value] = splitAssignment(assignment);
    return { _id: resolveField(structure, nameOrId)._id, value };
  });
  requireOneValueEach({ updateFields: values }, structure);
  return values;
}

/**
 * Refuses a body that sets a field twice, or both adds and removes a list or tag.
 * @param structure whose fields and tags are named by their labels
 * @throws UsageError
 */
export function requireOneValueEach(body: MutateBody, structure?: ContactStructure): void {
  const parts = [...(structure?.fields ?? []), ...(structure?.tags ?? [])];
  const toName = (id: string) => JSON.stringify(parts.find(({ _id }) => _id === id)?.label ?? id);
  const { addLists = [], removeLists = [], addTags = [], removeTags = [], updateFields = [] } = body;
  const kinds = [
    ["list", addLists, removeLists],
    ["tag", addTags, removeTags],
  ] as const;
  for (const [kind, added, removed] of kinds) {
    const both = [...toIdSet(added)].find((id) => toIdSet(removed).has(id));
    if (both !== undefined)
      throw usageError(
        `The ${kind} ${toName(both)} cannot be both added and removed`,
        "Leave out one of them",
      );
  }
  const ids = updateFields.map(({ _id }) => _id);
  const twice = ids.find((id, at) => ids.indexOf(id) !== at);
  if (twice !== undefined) throw usageError(`The field ${toName(twice)} is set twice`, "Give it one value");
}

/**
 * Whether a refused mutate may have been refused because it changes nothing: the specification shows a 400
 * without saying of which type. Every refusal that names its reason is ruled out.
 */
export function mayMeanUnchanged(error: unknown): boolean {
  if (!hasStatus(error, 400)) return false;
  const { type, field, fieldId } = error.details;
  return type !== "ConcurrencyError" && type !== "DuplicateFieldError" && !field && !fieldId;
}

/**
 * Whether a mutate would change this contact (specification, mutate, rule 4). What cannot be decided counts
 * as a change.
 */
export function wouldChange(contact: Partial<Contact>, body: MutateBody): boolean {
  if (!isObject(body)) return true;
  return Object.entries(body).some(([member, value]) => wouldMemberChange(contact, member, value));
}

function wouldMemberChange(contact: Partial<Contact>, member: string, value: unknown): boolean {
  if (member === "__v") return false;
  if (member === "updateFields") return !hasValues(contact.fields, value);
  const [, verb, kind] = /^(add|remove)(Tags|Lists)$/.exec(member) ?? [];
  const ids = toIds(value);
  if (verb === undefined || !ids) return true;
  const references = kind === "Tags" ? contact.tags : contact.lists;
  const isHeld = (id: string) => references?.some(({ _id }) => _id === id);
  return ids.some((id) => references === undefined || isHeld(id) === (verb === "remove"));
}

/** The parts of a mutate that would change this contact; all of them where that cannot be decided. */
export function pickDifferences(contact: Partial<Contact> | undefined, body: MutateBody): MutateBody {
  if (!contact) return body;
  return Object.fromEntries(
    Object.entries(body).flatMap(([member, elements]) =>
      Array.isArray(elements)
        ? [[member, elements.filter((each) => wouldChange(contact, { [member]: [each] }))]]
        : [],
    ),
  );
}

const references = ["addTags", "removeTags", "addLists", "removeLists"] as const;

export function hasReferences(body: MutateBody): boolean {
  return references.some((member) => body[member] !== undefined);
}

/**
 * Whether a refused mutate may have been refused for the form of its references: `{ _id }` is not documented,
 * and a service may want bare ids.
 */
export function mayBeElements(error: unknown, body: MutateBody): boolean {
  if (!hasStatus(error, 400) || !hasReferences(body)) return false;
  const { field, type } = error.details;
  if (type === "ConcurrencyError" || type === "DuplicateFieldError") return false;
  return references.some((member) => field?.startsWith(member) || error.message.includes(member));
}

/** The body with its references in the form that the service takes. */
export function setElementForm(
  body: MutateBody,
  elements: BehaviorPoints["mutateElements"] | undefined,
): MutateBody {
  if (elements !== "id" || !hasReferences(body)) return body;
  const bare = references.flatMap((member) =>
    body[member] === undefined ? [] : [[member, body[member].map((each) => each._id ?? each)]],
  );
  return { ...body, ...Object.fromEntries(bare) };
}

function hasValues(currentValues: FieldValue[] | undefined, expected: unknown): boolean {
  if (!Array.isArray(expected)) return false;
  return expected.every((each: Partial<FieldValue> | null) => {
    const current = currentValues?.find((field) => field._id === each?._id)?.value;
    return currentValues !== undefined && (current ?? "") === each?.value;
  });
}

/** The ids of references in either form; undefined when they have another. */
function toIds(references: unknown): string[] | undefined {
  if (!Array.isArray(references)) return undefined;
  const ids = references.map((each: unknown) =>
    typeof each === "string" ? each : (each as IdRef | null)?._id,
  );
  return ids.every((id) => typeof id === "string") ? ids : undefined;
}
