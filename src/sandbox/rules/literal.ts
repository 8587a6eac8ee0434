/** The members of an answer that the specification's tables show, for the variant `literal`. Pure. */

export const literalContact = members(
  "_id",
  "key",
  "contactStructureId",
  "fields",
  "lists",
  "tags",
  "status",
  "createdAt",
  "__v",
);
export const literalNewContact = members("_id", "key", "contactStructureId", "fields", "status", "createdAt");

const structureMembers = members("_id", "label", "keyName", "keyType", "fields", "tags", "__v");
const fieldMembers = members("_id", "label", "dataType", "required", "predefinedField");
const listedStructureMembers = members("_id", "label", "keyName", "keyType", "fields");
const listedFieldMembers = members("_id", "label", "dataType");
const tagMembers = members("_id", "label");

interface Structure {
  fields: object[];
  tags: object[];
}

export function literalStructure(structure: Structure): object {
  const { fields, tags } = structure;
  return {
    ...structureMembers(structure),
    fields: fields.map(fieldMembers),
    tags: tags.map(tagMembers),
  };
}

/** A structure in the list of structures. */
export function literalListedStructure(structure: Structure): object {
  return { ...listedStructureMembers(structure), fields: structure.fields.map(listedFieldMembers) };
}

export const literalList = members("_id", "name", "totalContacts");
export const literalNewList = members("_id", "name");

/** Keeps the members of these names. */
function members(...names: string[]): (whole: object) => object {
  return (whole) => Object.fromEntries(Object.entries(whole).filter(([name]) => names.includes(name)));
}
