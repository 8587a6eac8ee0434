/** Contact structures (specification, /api/contact-structure). */
import type { InferOutput } from "valibot";
import type { FieldDefinition, TagDefinition } from "../../wire.ts";
import type { StoredStructure } from "../store/documents.ts";
import { literalListedStructure, literalStructure, structureAnswer, structuresAnswer } from "./answers.ts";
import { endpoint } from "./endpoint.ts";
import { invalid, requireStructure, stale } from "./refusal.ts";
import { updateStructure } from "./requests.ts";

const fieldMembers = ["_id", "label", "dataType", "required", "predefinedField"];
const tagMembers = ["_id", "label"];
const predefinedFields = ["firstName", "lastName"];

export const structureEndpoints = [
  endpoint({
    id: "listStructures",
    method: "get",
    path: "/api/contact-structure",
    summary: "List the account's contact structures",
    scope: "contacts:read",
    result: structuresAnswer,
    answer: ({ store }) => store.structures.all(),
    literal: (all) => all.map(literalListedStructure),
  }),
  endpoint({
    id: "getStructure",
    method: "get",
    path: "/api/contact-structure/:contactStructureId",
    summary: "Read one contact structure",
    scope: "contacts:read",
    result: structureAnswer,
    answer: ({ store, parameter }) => requireStructure(store, parameter("contactStructureId")),
  }),
  endpoint({
    id: "updateStructure",
    method: "put",
    path: "/api/contact-structure/:contactStructureId",
    summary: "Update a contact structure: what is left out of fields and tags is gone from every contact",
    scope: "contacts:write",
    body: updateStructure,
    result: structureAnswer,
    answer({ store, parameter, body, now }) {
      const before = requireStructure(store, parameter("contactStructureId"));
      if (body.__v !== undefined && body.__v !== before.__v) throw stale("contact structure");
      refuseUnknownMembers("fields", body.fields, before.fields, fieldMembers);
      refuseUnknownMembers("tags", body.tags ?? [], before.tags, tagMembers);
      const fields = updatedFields(before, body.fields);
      const tags = body.tags === undefined ? before.tags : updatedTags(before, body.tags);
      const isNew = (definition: { _id: string }) => definition._id === "";
      const unnamed = [...fields, ...tags].filter(isNew);
      const ids = store.newIds(now, unnamed.length);
      for (const [index, definition] of unnamed.entries()) definition._id = ids[index]!;

      const kept = new Set([...fields, ...tags].map((definition) => definition._id));
      for (const member of ["fields", "tags"] as const) {
        for (const { _id } of before[member]) if (!kept.has(_id)) store.contacts.drop(member, _id);
      }
      const after = {
        ...before,
        label: body.label,
        keyName: body.keyName,
        fields,
        tags,
        __v: before.__v + 1,
      };
      store.structures.put(after);
      return after;
    },
    literal: literalStructure,
  }),
];

type Update = InferOutput<typeof updateStructure>;
type GivenField = Update["fields"][number];

/** The fields after the update; a new one has an empty id still. Further members of a stored field stay. */
function updatedFields(before: StoredStructure, given: Update["fields"]): FieldDefinition[] {
  refuseRepeats(given, "fields");
  const byId = new Map(before.fields.map((field) => [field._id, field]));
  const updated = given.map((field, index) => {
    const known = field._id === undefined ? undefined : byId.get(field._id);
    if (field._id !== undefined && !known) {
      throw invalid(`fields[${index}]._id is not a field of this contact structure`, { fieldId: field._id });
    }
    return known ? updatedField(known, field, index) : newField(field, index);
  });
  const builtIn = updated.flatMap(({ predefinedField }) => predefinedField ?? []);
  if (new Set(builtIn).size !== builtIn.length) {
    throw invalid("fields names one predefinedField twice", { field: "fields" });
  }
  return updated;
}

function updatedField(known: FieldDefinition, given: GivenField, index: number): FieldDefinition {
  const { label, dataType = known.dataType, required = known.required ?? false } = given;
  refuseOtherType(dataType, known.dataType, index);
  return { ...known, label, dataType, required, ...readPredefined(given, index) };
}

function newField(given: GivenField, index: number): FieldDefinition {
  const { label, dataType = "text", required = false } = given;
  refuseOtherType(dataType, "text", index);
  return { _id: "", label, dataType, required, ...readPredefined(given, index) };
}

function readPredefined(
  { predefinedField }: GivenField,
  index: number,
): Pick<FieldDefinition, "predefinedField"> {
  if (predefinedField === undefined) return {};
  if (predefinedFields.includes(predefinedField)) return { predefinedField };
  throw invalid(`fields[${index}].predefinedField must be firstName or lastName`, { field: "fields" });
}

function refuseOtherType(dataType: string, expected: string, index: number): void {
  if (dataType === expected) return;
  throw invalid(`fields[${index}].dataType must be ${expected}`, { field: "fields" });
}

function updatedTags(before: StoredStructure, given: NonNullable<Update["tags"]>): TagDefinition[] {
  refuseRepeats(given, "tags");
  const byId = new Map(before.tags.map((tag) => [tag._id, tag]));
  return given.map((tag, index) => {
    const known = tag._id === undefined ? undefined : byId.get(tag._id);
    if (tag._id !== undefined && !known) {
      throw invalid(`tags[${index}]._id is not a tag of this contact structure`, { field: "tags" });
    }
    return { ...known, _id: known?._id ?? "", label: tag.label };
  });
}

/** A definition may have the described members, and those of the stored one. */
function refuseUnknownMembers(
  name: "fields" | "tags",
  given: { _id?: string }[],
  stored: { _id: string }[],
  members: string[],
): void {
  const byId = new Map(stored.map((definition) => [definition._id, definition]));
  for (const [index, definition] of given.entries()) {
    const known = (definition._id !== undefined && byId.get(definition._id)) || {};
    const unknown = Object.keys(definition).find(
      (each) => !members.includes(each) && !Object.hasOwn(known, each),
    );
    if (unknown !== undefined) {
      throw invalid(`${name}[${index}].${unknown} is not accepted here`, { field: unknown });
    }
  }
}

function refuseRepeats(given: { _id?: string }[], field: string): void {
  const ids = given.flatMap(({ _id }) => (_id === undefined ? [] : [_id]));
  if (new Set(ids).size !== ids.length) throw invalid(`${field} names one _id twice`, { field });
}
