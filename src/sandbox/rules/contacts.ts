/**
 * Contacts: create, read, mutate, and what the published reference adds to these (specification,
 * /api/contact).
 */
import type { InferOutput } from "valibot";
import type { FieldValue } from "../../wire.ts";
import { type StoredContact, toWire } from "../store/contacts.ts";
import type { StoredStructure } from "../store/documents.ts";
import type { Store } from "../store/index.ts";
import { contactAnswer, contactsAnswer, literalContact, literalNewContact } from "./answers.ts";
import { type Call, endpoint } from "./endpoint.ts";
import { duplicate, invalid, Refusal, requireContact, requireNamedStructure, stale } from "./refusal.ts";
import { createContact, mutateContact, mutateContactBy, patchContact, replaceContact } from "./requests.ts";

const contact = "/api/contact/:contactId";
const maxEmailLength = 254;
const noChanges = "No changes to apply";
/** The answers of the variants of `mutate-answer`. */
const mutateAnswers = {
  contact: (contact: unknown) => contact,
  empty: () => undefined,
  other: () => ({ message: "Contact updated" }),
};

export const contactEndpoints = [
  endpoint({
    id: "createContact",
    method: "post",
    path: "/api/contact",
    summary: "Create a contact",
    scope: "contacts:write",
    body: createContact,
    result: contactAnswer,
    answer({ store, body, now }) {
      const structure = requireNamedStructure(store, body.contactStructureId);
      refuseKey(structure, body.key);
      refuseTakenKey(store, structure, body.key);
      refuseUnknown(store, structure, body);
      const [id] = store.newIds(now, 1) as [string];
      const created: StoredContact = {
        id,
        structureId: structure._id,
        key: body.key,
        fields: body.fields,
        lists: body.lists.map((list) => list._id),
        tags: body.tags.map((tag) => tag._id),
        status: { primary: "active", secondary: "confirmed" },
        createdAt: now,
        updatedAt: now,
        version: 0,
      };
      store.contacts.add(created);
      store.events.add({ contactId: id, type: "contact-created", at: now });
      return toWire(created);
    },
    literal: literalNewContact,
  }),
  endpoint({
    id: "listContacts",
    method: "get",
    path: "/api/contact",
    summary: "Read every contact, without pages",
    scope: "contacts:read",
    result: contactsAnswer,
    answer: ({ store }) => Array.from(store.contacts.all(), toWire),
  }),
  endpoint({
    id: "getContact",
    method: "get",
    path: contact,
    summary: "Read one contact",
    scope: "contacts:read",
    result: contactAnswer,
    answer: ({ store, parameter }) => toWire(requireContact(store, parameter("contactId"))),
    literal: literalContact,
  }),
  endpoint({
    id: "mutateContact",
    method: "put",
    path: `${contact}/mutate`,
    summary: "Apply a delta to one contact: all of it, or nothing",
    scope: "contacts:write",
    body: mutateContact,
    result: contactAnswer,
    bodyBy: (variants) => mutateContactBy[variants["mutate-elements"]],
    answer({ store, parameter, body, now, variants }) {
      const before = requireContact(store, parameter("contactId"));
      if (body.__v !== undefined && body.__v !== before.version) throw stale("contact");
      const structure = store.structures.get(before.structureId)!;
      refuseUnknown(store, structure, { fields: body.updateFields }, "updateFields");
      for (const member of ["addLists", "removeLists"] as const) {
        refuseUnknown(store, structure, { lists: body[member] }, member);
      }
      for (const member of ["addTags", "removeTags"] as const) {
        refuseUnknown(store, structure, { tags: body[member] }, member);
      }
      const after = applyDelta(before, body, now);
      if (!after) throw new Refusal(400, { errorType: variants.noop, message: noChanges });
      store.contacts.replace(before, after);
      store.events.add({ contactId: before.id, type: "contact-updated", at: now });
      return toWire(after);
    },
    literal: literalContact,
    vary: (answer, variants) => mutateAnswers[variants["mutate-answer"]](answer),
    refused: noteRefusal,
  }),
  endpoint({
    id: "setContactStatus",
    method: "patch",
    path: contact,
    summary: "Change a contact's status; an inactive contact cannot become active again",
    scope: "contacts:write",
    body: patchContact,
    result: contactAnswer,
    answer({ store, parameter, body, now }) {
      const before = requireContact(store, parameter("contactId"));
      const { status } = body;
      const was = before.status;
      const isInactive = was.primary.toLowerCase() === "inactive";
      if (status.primary === "Active" && isInactive) {
        throw invalid("An inactive contact cannot be made active", { field: "status" });
      }
      // What a creation calls active and confirmed is Active here.
      const isStillActive = !isInactive && status.primary === "Active";
      const isSame = status.primary === was.primary && status.secondary === was.secondary;
      if (isSame || isStillActive) return toWire(before);
      if (status.primary === "active" || (status.secondary && status.secondary !== "Unsubscribe")) {
        throw invalid(
          'status must be { primary: "Active" } or { primary: "Inactive", secondary: "Unsubscribe" }',
          {
            field: "status",
          },
        );
      }
      const after = { ...before, status, updatedAt: now, version: before.version + 1 };
      store.contacts.replace(before, after);
      const type = status.primary === "Inactive" && !isInactive ? "contact-unsubscribed" : "contact-updated";
      store.events.add({ contactId: before.id, type, at: now });
      return toWire(after);
    },
    literal: literalContact,
    refused: noteRefusal,
  }),
  endpoint({
    id: "replaceContact",
    method: "put",
    path: contact,
    summary: "Replace a contact: what is left out is lost",
    scope: "contacts:write",
    body: replaceContact,
    result: contactAnswer,
    answer({ store, parameter, body, now }) {
      const before = requireContact(store, parameter("contactId"));
      if (body.__v !== before.version) throw stale("contact");
      const structure = store.structures.get(before.structureId)!;
      if (body.contactStructureId !== undefined && body.contactStructureId !== structure._id) {
        throw invalid("contactStructureId cannot be changed", { field: "contactStructureId" });
      }
      const { status = before.status } = body;
      if (status.primary !== before.status.primary || status.secondary !== before.status.secondary) {
        throw invalid("status is changed by PATCH alone", { field: "status" });
      }
      refuseKey(structure, body.key);
      refuseTakenKey(store, structure, body.key, before.id);
      refuseUnknown(store, structure, body);
      const after: StoredContact = {
        ...before,
        key: body.key,
        fields: body.fields,
        lists: body.lists.map((list) => list._id),
        tags: body.tags.map((tag) => tag._id),
        updatedAt: now,
        version: before.version + 1,
      };
      store.contacts.replace(before, after);
      store.events.add({ contactId: before.id, type: "contact-updated", at: now });
      return toWire(after);
    },
    refused: noteRefusal,
  }),
  endpoint({
    id: "deleteContact",
    method: "delete",
    path: contact,
    summary: "Delete a contact for good",
    scope: "contacts:write",
    result: contactAnswer,
    answer({ store, parameter }) {
      const removed = requireContact(store, parameter("contactId"));
      store.contacts.remove(removed);
      return toWire(removed);
    },
  }),
];

/** Notes that a change of a contact was refused; that nothing would have changed is no failure. */
function noteRefusal({ store, parameter, now }: Call<never, never>, { status, error }: Refusal): void {
  if (status !== 400 || error.message === noChanges) return;
  store.events.add({ contactId: parameter("contactId"), type: "contact-update-failed", at: now });
}

/** Refuses a key that is empty, or no email address where one is needed. */
function refuseKey(structure: StoredStructure, key: string): void {
  if (key.trim() === "") throw invalid("key must not be empty", { field: "key" });
  if (structure.keyType === "email" && !isEmail(key)) {
    throw invalid("key must be an email address", { field: "key" });
  }
}

/** Refuses a key that another contact has. @param ownId id of the contact that may have it */
function refuseTakenKey(store: Store, structure: StoredStructure, key: string, ownId?: string): void {
  const holder = store.contacts.findIdByKey(structure._id, key);
  if (holder !== undefined && holder !== ownId) {
    throw duplicate("A contact with this key already exists", "key");
  }
}

/** Whether a key is an email address, as far as this service looks. */
export function isEmail(text: string): boolean {
  return text.length <= maxEmailLength && /^[^\s@\p{Cc}]+@[^\s@\p{Cc}.]+(\.[^\s@\p{Cc}.]+)+$/u.test(text);
}

interface Named {
  fields?: { _id: string }[];
  lists?: { _id: string }[];
  tags?: { _id: string }[];
}

/**
 * Refuses ids that the structure does not have.
 * @param member what to call the input, where it has another name
 */
function refuseUnknown(store: Store, structure: StoredStructure, named: Named, member?: string): void {
  const fieldId = findUnknown(named.fields, structure.fields);
  if (fieldId !== undefined) {
    const field = member ?? "fields";
    throw invalid(`${field} names an unknown field id`, { field, fieldId });
  }
  if (findUnknown(named.tags, structure.tags) !== undefined) {
    throw invalid(`${member ?? "tags"} names an unknown tag id`, { field: member ?? "tags" });
  }
  if (named.lists?.some(({ _id }) => !store.lists.has(structure._id, _id))) {
    throw invalid(`${member ?? "lists"} names an unknown list id`, { field: member ?? "lists" });
  }
}

/** The first id that is not defined. */
function findUnknown(named: { _id: string }[] | undefined, defined: { _id: string }[]): string | undefined {
  const ids = new Set(defined.map(({ _id }) => _id));
  return named?.find(({ _id }) => !ids.has(_id))?._id;
}

type Delta = InferOutput<typeof mutateContact>;
type Ref = { _id: string };

/**
 * The contact after the delta, one version later; undefined when nothing is asked for or nothing would
 * change. Its ids are known to exist, and its version is not stale.
 * @throws Refusal when one id is both added and removed
 */
function applyDelta(before: StoredContact, delta: Delta, now: number): StoredContact | undefined {
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
