/** What a person wants changed on a contact → the bodies of create and mutate. Names resolve to ids here. */
import { NotFoundError, ServiceError, UsageError } from "../errors.ts";
import type { Contact, ContactStructure, FieldValue, IdRef, MutateBody } from "../wire.ts";
import type { Account } from "./account.ts";
import type { BehaviorPoints } from "./behavior.ts";
import { resolveField, resolveTag } from "./names.ts";

/** As typed: names or ids, and `FIELD=VALUE`. */
export interface WantedChanges {
  addTag?: string[];
  removeTag?: string[];
  addList?: string[];
  removeList?: string[];
  set?: string[];
  ifVersion?: number;
}

/** @throws UsageError when nothing is wanted */
export function requireChange({ addTag, removeTag, addList, removeList, set }: WantedChanges): void {
  if ([addTag, removeTag, addList, removeList, set].some((each) => (each?.length ?? 0) > 0)) return;
  throw new UsageError(
    "No change given",
    "Pass --set, --add-tag, --remove-tag, --add-list, --remove-list or --data",
  );
}

/**
 * The body of a mutate; members without an element are left out.
 * @throws UsageError when nothing is wanted, or two changes contradict each other; NotFoundError for a name that means nothing.
 */
export async function mutateBody(account: Account, wanted: WantedChanges): Promise<MutateBody> {
  requireChange(wanted);
  const { addTag = [], removeTag = [], addList = [], removeList = [], set = [] } = wanted;
  const structure = await account.structure();
  const body: MutateBody = {
    addTags: await tagRefs(account, structure, addTag),
    removeTags: await tagRefs(account, structure, removeTag),
    addLists: await listRefs(account, structure, addList),
    removeLists: await listRefs(account, structure, removeList),
    updateFields: fieldValues(structure, set),
  };
  refuseContradiction("tag", removeTag, body.addTags, body.removeTags);
  refuseContradiction("list", removeList, body.addLists, body.removeLists);
  const kept = Object.entries(body).filter(([, elements]) => (elements as unknown[]).length > 0);
  return { ...Object.fromEntries(kept), ...(wanted.ifVersion !== undefined && { __v: wanted.ifVersion }) };
}

/** Each list once, whatever it was called. */
export async function listRefs(
  account: Account,
  structure: ContactStructure,
  wanted: readonly string[],
): Promise<IdRef[]> {
  const ids = new Set<string>();
  for (const each of wanted) ids.add((await account.list(structure, each))._id);
  return [...ids].map((_id) => ({ _id }));
}

/** Each tag once, whatever it was called. */
export async function tagRefs(
  account: Account,
  structure: ContactStructure,
  wanted: readonly string[],
): Promise<IdRef[]> {
  if (wanted.length === 0) return [];
  const whole = await account.complete(structure);
  return [...new Set(wanted.map((each) => resolveTag(whole, each)._id))].map((_id) => ({ _id }));
}

/** `FIELD=VALUE`, split at the first `=`. @throws UsageError without one. */
export function splitAssignment(assignment: string): [field: string, value: string] {
  const at = assignment.indexOf("=");
  if (at > 0) return [assignment.slice(0, at), assignment.slice(at + 1)];
  throw new UsageError(
    `--set ${JSON.stringify(assignment)} is not FIELD=VALUE`,
    'Such as --set "City=Paris"; --set "City=" empties the field',
  );
}

/** Field ids and their values. @throws UsageError when a field is set twice; NotFoundError. */
export function fieldValues(structure: ContactStructure, assignments: readonly string[]): FieldValue[] {
  const values = new Map<string, string>();
  for (const assignment of assignments) {
    const [wanted, value] = splitAssignment(assignment);
    const field = fieldOf(structure, assignment, wanted);
    if (values.has(field._id)) {
      throw new UsageError(
        `--set: the field ${JSON.stringify(field.label)} is set twice`,
        "Give it one value",
      );
    }
    values.set(field._id, value);
  }
  return [...values].map(([_id, value]) => ({ _id, value }));
}

function fieldOf(structure: ContactStructure, assignment: string, wanted: string) {
  try {
    return resolveField(structure, wanted);
  } catch (error) {
    const meant = structure.fields.find(
      (field) => field.label.includes("=") && assignment.startsWith(`${field.label}=`),
    );
    if (!meant || !(error instanceof NotFoundError)) throw error;
    throw new NotFoundError(
      error.message,
      `A field whose label contains "=" is named by its id: --set ${meant._id}=…`,
    );
  }
}

/** @param typed names of what is removed, for the message */
function refuseContradiction(
  kind: string,
  typed: readonly string[],
  added: IdRef[] = [],
  removed: IdRef[] = [],
): void {
  const both = removed.findIndex(({ _id }) => added.some((other) => other._id === _id));
  if (both < 0) return;
  const name = removed.length === typed.length ? typed[both] : removed[both]!._id;
  throw new UsageError(
    `The ${kind} ${JSON.stringify(name)} cannot be both added and removed`,
    `Leave out --add-${kind} or --remove-${kind}`,
  );
}

/**
 * Whether a refused mutate may have been refused because it changes nothing: the specification shows a 400 without
 * saying of which type. Every refusal that names its reason is ruled out.
 */
export function mayMeanUnchanged(error: unknown): boolean {
  if (!(error instanceof ServiceError) || error.status !== 400) return false;
  const { type, field, fieldId } = error.details;
  return type !== "ConcurrencyError" && type !== "DuplicateFieldError" && !field && !fieldId;
}

/** Whether a mutate would change this contact (specification, mutate, rule 4). What cannot be told counts as a change. */
export function wouldChange(contact: Partial<Contact>, body: MutateBody): boolean {
  if (typeof body !== "object" || body === null || Array.isArray(body)) return true;
  return Object.entries(body).some(([member, value]) => {
    switch (member as keyof MutateBody) {
      case "addTags":
        return !holdsAll(contact.tags, value);
      case "removeTags":
        return !holdsNone(contact.tags, value);
      case "addLists":
        return !holdsAll(contact.lists, value);
      case "removeLists":
        return !holdsNone(contact.lists, value);
      case "updateFields":
        return !hasValues(contact.fields, value);
      case "__v":
        return false;
      default:
        return true;
    }
  });
}

/** What of a mutate would change this contact; all of it where that cannot be told. */
export function differingPart(contact: Partial<Contact> | undefined, body: MutateBody): MutateBody {
  if (!contact) return body;
  const differs = (part: MutateBody) => wouldChange(contact, part);
  const { addTags, removeTags, addLists, removeLists, updateFields } = body;
  return {
    addTags: addTags?.filter((each) => differs({ addTags: [each] })),
    removeTags: removeTags?.filter((each) => differs({ removeTags: [each] })),
    addLists: addLists?.filter((each) => differs({ addLists: [each] })),
    removeLists: removeLists?.filter((each) => differs({ removeLists: [each] })),
    updateFields: updateFields?.filter((each) => differs({ updateFields: [each] })),
  };
}

const references = ["addTags", "removeTags", "addLists", "removeLists"] as const;

export function hasReferences(body: MutateBody): boolean {
  return references.some((member) => body[member] !== undefined);
}

/**
 * Whether a refused mutate may have been refused for the form of its references: `{ _id }` is not documented, and a
 * service may want bare ids.
 */
export function mayBeElements(error: unknown, body: MutateBody): boolean {
  if (!(error instanceof ServiceError) || error.status !== 400 || !hasReferences(body)) return false;
  const { field, type } = error.details;
  if (type === "ConcurrencyError" || type === "DuplicateFieldError") return false;
  return references.some((member) => field?.startsWith(member) || error.message.includes(member));
}

/** The body with its references in the form that the service takes. */
export function withElements(
  body: MutateBody,
  elements: BehaviorPoints["mutateElements"] | undefined,
): MutateBody {
  if (elements !== "id" || !hasReferences(body)) return body;
  const bare = references.flatMap((member) =>
    body[member] === undefined ? [] : [[member, body[member].map((each) => each._id ?? each)]],
  );
  return { ...body, ...Object.fromEntries(bare) };
}

function holdsAll(held: IdRef[] | undefined, wanted: unknown): boolean {
  const ids = idsIn(wanted);
  if (!ids) return false;
  return ids.length === 0 || ids.every((id) => held?.some((each) => each._id === id) === true);
}

function holdsNone(held: IdRef[] | undefined, wanted: unknown): boolean {
  const ids = idsIn(wanted);
  if (!ids) return false;
  return ids.length === 0 || (held !== undefined && !held.some((each) => ids.includes(each._id)));
}

function hasValues(held: FieldValue[] | undefined, wanted: unknown): boolean {
  if (!Array.isArray(wanted)) return false;
  return wanted.every((each: Partial<FieldValue> | null) => {
    const current = held?.find((field) => field._id === each?._id)?.value;
    return held !== undefined && (current ?? "") === each?.value;
  });
}

/** The ids of references in either form; undefined when they have another. */
function idsIn(references: unknown): string[] | undefined {
  if (!Array.isArray(references)) return undefined;
  const ids = references.map((each: unknown) =>
    typeof each === "string" ? each : (each as IdRef | null)?._id,
  );
  return ids.every((id) => typeof id === "string") ? ids : undefined;
}
