/** The delta of PUT /api/contact/{contactId}/mutate (specification, rules 1 to 7). Pure. */
import type { InferOutput } from "valibot";
import type { FieldValue } from "../../wire.ts";
import type { StoredContact } from "../store/contacts.ts";
import { invalid } from "./refusal.ts";
import type { mutateContact } from "./requests.ts";

type Delta = InferOutput<typeof mutateContact>;
type Ref = { _id: string };

/**
 * The contact after the delta, one version later; undefined when nothing is asked for or nothing would
 * change. Its ids are known to exist, and its version is not stale.
 * @throws Refusal when one id is both added and removed
 */
export function applyDelta(before: StoredContact, delta: Delta, now: number): StoredContact | undefined {
  const { addTags, removeTags, addLists, removeLists, updateFields } = delta;
  const operations = [addTags, removeTags, addLists, removeLists, updateFields];
  if (operations.every((each) => each.length === 0)) return undefined;
  refuseBoth(addTags, removeTags, "removeTags");
  refuseBoth(addLists, removeLists, "removeLists");

  const tags = changedSet(before.tags, addTags, removeTags);
  const lists = changedSet(before.lists, addLists, removeLists);
  const fields = changedFields(before.fields, updateFields);
  if (!tags && !lists && !fields) return undefined;
  return {
    ...before,
    tags: tags ?? before.tags,
    lists: lists ?? before.lists,
    fields: fields ?? before.fields,
    updatedAt: now,
    version: before.version + 1,
  };
}

function refuseBoth(added: Ref[], removed: Ref[], field: string): void {
  const ids = new Set(added.map((ref) => ref._id));
  if (removed.some((ref) => ids.has(ref._id))) {
    throw invalid(`${field} names an _id that is added in the same request`, { field });
  }
}

/** Undefined when every addition is present and every removal absent. */
function changedSet(before: string[], added: Ref[], removed: Ref[]): string[] | undefined {
  const gone = new Set(removed.map((ref) => ref._id));
  const kept = before.filter((id) => !gone.has(id));
  const had = new Set(before);
  const joined = added.map((ref) => ref._id).filter((id) => !had.has(id));
  return kept.length === before.length && joined.length === 0 ? undefined : [...kept, ...joined];
}

function changedFields(before: FieldValue[], updates: FieldValue[]): FieldValue[] | undefined {
  const values = new Map(before.map((field) => [field._id, field.value]));
  let isChanged = false;
  for (const { _id, value } of updates) {
    if (values.get(_id) === value) continue;
    values.set(_id, value);
    isChanged = true;
  }
  return isChanged ? Array.from(values, ([_id, value]) => ({ _id, value })) : undefined;
}
