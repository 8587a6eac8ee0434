/** How structures look to people. */
import type { View } from "../../../terminal/present.ts";
import type { ContactStructure } from "../../../wire.ts";

export const structureView: View<ContactStructure> = {
  columns: [
    { name: "label", value: (structure) => structure.label },
    { name: "keyName", title: "key", value: (structure) => structure.keyName },
    { name: "keyType", title: "key type", value: (structure) => structure.keyType },
    { name: "fields", value: (structure) => structure.fields.map((field) => field.label) },
    { name: "tags", value: (structure) => structure.tags?.map((tag) => tag.label) },
    { name: "_id", title: "id", value: (structure) => structure._id, isWhole: true, isAside: true },
    { name: "__v", value: (structure) => structure.__v, optional: true },
  ],
  id: (structure) => structure._id,
};

/** Shown above the table of fields and tags. */
export const structureSummary: View<ContactStructure> = {
  ...structureView,
  columns: structureView.columns.filter(({ name }) => name !== "fields" && name !== "tags"),
};

interface StructurePart {
  kind: "field" | "tag";
  label: string;
  type?: string;
  isRequired?: boolean;
  id: string;
}

/** One line per field and tag, for people who read a single structure. */
export function listParts(structure: ContactStructure): StructurePart[] {
  return [
    ...structure.fields.map(
      ({ _id, label, dataType, required }): StructurePart => ({
        kind: "field",
        label,
        type: dataType,
        isRequired: required,
        id: _id,
      }),
    ),
    ...(structure.tags ?? []).map(({ _id, label }): StructurePart => ({ kind: "tag", label, id: _id })),
  ];
}

export const partView: View<StructurePart> = {
  columns: [
    { name: "part", value: (part) => part.kind },
    { name: "label", value: (part) => part.label },
    { name: "type", value: (part) => part.type },
    { name: "required", value: (part) => (part.isRequired ? "yes" : "") },
    { name: "_id", title: "id", value: (part) => part.id, isWhole: true },
  ],
  id: (part) => part.id,
};
