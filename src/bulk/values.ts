/**
 * Values of contacts: as jobs write down what they want, as the bodies of requests have them, and what an
 * undo wants of a contact that a run wrote. Pure.
 */
import { findStatus, toIdSet } from "../api/contacts.ts";
import type { Contact, CreateContactBody, IdRef, MutateBody } from "../wire.ts";
import type { Code, Desired, DesiredValue, Operation, WrittenValue } from "./desired.ts";

/** Ids and texts of fields, and ids of lists and tags. */
interface Changes {
  fields?: Iterable<readonly [id: string, value: string]>;
  addLists?: Iterable<string>;
  removeLists?: Iterable<string>;
  addTags?: Iterable<string>;
  removeTags?: Iterable<string>;
}

export function toValues(changes: Changes): DesiredValue[] {
  const members = (what: "list" | "tag", ids: Iterable<string> = [], to: boolean) =>
    [...ids].map((id): DesiredValue => ({ what, id, to }));
  return [
    ...[...(changes.fields ?? [])].map(([id, to]): DesiredValue => ({ what: "field", id, to })),
    ...members("list", changes.addLists, true),
    ...members("list", changes.removeLists, false),
    ...members("tag", changes.addTags, true),
    ...members("tag", changes.removeTags, false),
  ];
}

/** As `toValues`, from the body of a mutate. Of a field that it names twice the last value holds. */
export function readMutateValues(body: MutateBody): DesiredValue[] {
  const ids = (references: readonly (IdRef | string)[] = []) => toIdSet(references);
  return toValues({
    fields: new Map(body.updateFields?.map(({ _id, value }) => [_id, value])),
    addLists: ids(body.addLists),
    removeLists: ids(body.removeLists),
    addTags: ids(body.addTags),
    removeTags: ids(body.removeTags),
  });
}

export function toMutateBody({ values, version }: Extract<Operation, { kind: "change" }>): MutateBody {
  const body: MutateBody = filled({
    updateFields: toFieldValues(values),
    addLists: toRefs(values, "list", true),
    removeLists: toRefs(values, "list", false),
    addTags: toRefs(values, "tag", true),
    removeTags: toRefs(values, "tag", false),
  });
  return { ...body, ...(version !== undefined && { __v: version }) };
}

export function toCreateBody(
  { key, values }: Extract<Operation, { kind: "create" }>,
  contactStructureId: string,
): CreateContactBody {
  const parts = {
    fields: toFieldValues(values),
    lists: toRefs(values, "list", true),
    tags: toRefs(values, "tag", true),
  };
  return { key, contactStructureId, ...filled(parts) };
}

function toFieldValues(values: readonly WrittenValue[]) {
  return values.flatMap(({ what, id, to }) => (what === "field" ? [{ _id: id, value: String(to) }] : []));
}

function toRefs(values: readonly WrittenValue[], kind: "list" | "tag", wanted: boolean): IdRef[] {
  return values.flatMap(({ what, id, to }) => (what === kind && to === wanted ? [{ _id: id }] : []));
}

/** The members that are not empty. */
function filled<T>(members: Record<string, T[]>): Record<string, T[]> {
  return Object.fromEntries(Object.entries(members).filter(([, each]) => each.length > 0));
}

/** What becomes of somebody who is named and does not exist: nothing is to be done about one who has left. */
export function whereMissing(mayJoinLists: boolean): Desired["absent"] {
  return mayJoinLists ? { reject: { code: "not_found" } } : { skip: "not_subscribed" };
}

/** Ids of what the account still has; a part that is absent is not known, or nothing of it goes back. */
export type Remaining = Partial<Record<DesiredValue["what"], ReadonlySet<string>>>;

/** `not_told`: nobody knows what stood there. `gone`: the account does not have the field, list or tag. */
type Loss = "not_told" | "gone";

function findLoss({ what, id }: Pick<DesiredValue, "what" | "id">, remaining: Remaining): Loss | undefined {
  return (remaining[what]?.has(id) ?? true) ? undefined : "gone";
}

/** What a run has changed goes back, value by value, where the contact still has what the run wrote. */
export function toRestored(
  { id: contactId, values }: Extract<Operation, { kind: "change" }>,
  remaining: Remaining,
): Desired {
  return {
    values: values.map(({ what, id, to: written, was }): DesiredValue => {
      const to = was ?? (what === "field" ? "" : !written);
      // What is taken out of a contact needs no field, list or tag to go to.
      const loss = was === null ? "not_told" : to === false ? undefined : findLoss({ what, id }, remaining);
      return { what, id, to, onlyIf: written, ...(loss && { lost: loss as Code }) } as DesiredValue;
    }),
    who: { is: contactId },
    absent: { reject: { code: "gone" } },
    present: "change",
    mayJoinLists: true,
  };
}

/** A contact that a run has created goes, if nobody has changed it since. */
export function toRemoved({ values }: Extract<Operation, { kind: "create" }>, createdId: string): Desired {
  const idsOf = (kind: "list" | "tag") => toRefs(values, kind, true).map(({ _id }) => _id);
  return {
    values: [],
    end: "delete",
    who: { is: createdId },
    absent: "leave",
    present: "change",
    mayJoinLists: true,
    strict: { reject: { code: "changed_since" } },
    whole: {
      fields: toFieldValues(values),
      lists: idsOf("list"),
      tags: idsOf("tag"),
      isInactive: false,
      isUntouched: true,
    },
  };
}

/** A contact that a run has deleted is created again, with what remains of its fields, lists and tags. */
export function toRecreated(
  { id, contact }: Extract<Operation, { kind: "delete" }>,
  remaining: Remaining,
): Desired {
  const { fields = [], lists = [], tags = [] } = contact;
  const values = toValues({
    fields: fields.map(({ _id, value }) => [_id, value]),
    addLists: toIdSet(lists),
    addTags: toIdSet(tags),
  });
  return {
    values: values.map((each): DesiredValue => {
      const lost = findLoss(each, remaining);
      return lost ? { ...each, lost } : each;
    }),
    // A search may still show the one that is deleted.
    who: { not: id },
    absent: mayComeBack(contact) ? "create" : { reject: { code: "not_active" } },
    present: { skip: "exists" },
    mayJoinLists: true,
  };
}

/** Only a contact that is known to have been active: nobody who had left comes back. */
function mayComeBack(contact: Partial<Contact>): boolean {
  return findStatus(contact)?.primary.toLowerCase() === "active";
}
