/** What answers look like. The OpenAPI description is made of these; the rules' own types hold the rules to them. */
import * as v from "valibot";

const id = v.pipe(v.string(), v.regex(/^[0-9a-f]{24}$/));
const time = v.pipe(v.string(), v.isoTimestamp());
const count = v.pipe(v.number(), v.integer(), v.minValue(0));

export const contactAnswer = v.object({
  _id: id,
  key: v.string(),
  contactStructureId: id,
  fields: v.array(v.object({ _id: id, value: v.string() })),
  lists: v.array(v.object({ _id: id })),
  tags: v.array(v.object({ _id: id })),
  status: v.object({ primary: v.string(), secondary: v.optional(v.string()) }),
  createdAt: time,
  updatedAt: time,
  __v: count,
});

/** What a search tells of a contact: what its `source` named, the status in two parts. */
const foundContact = v.partial(
  v.object({
    ...contactAnswer.entries,
    contactStatus: v.string(),
    contactSubStatus: v.string(),
  }),
);
export const searchAnswer = v.object({ totalRecords: count, contacts: v.array(foundContact) });

export const structureAnswer = v.object({
  _id: id,
  label: v.string(),
  keyName: v.string(),
  keyType: v.string(),
  fields: v.array(
    v.object({
      _id: id,
      label: v.string(),
      dataType: v.string(),
      required: v.optional(v.boolean()),
      predefinedField: v.optional(v.string()),
    }),
  ),
  tags: v.array(v.object({ _id: id, label: v.string() })),
  __v: count,
});
export const structuresAnswer = v.array(structureAnswer);

export const listAnswer = v.object({
  _id: id,
  name: v.string(),
  type: v.literal("static"),
  totalContacts: v.optional(count),
  createdAt: time,
  updatedAt: time,
  __v: count,
});
export const listsAnswer = v.array(listAnswer);
export const listPageAnswer = v.object({ total: count, records: listsAnswer });

export const errorAnswer = v.object({
  errors: v.pipe(
    v.array(
      v.object({
        errorType: v.string(),
        message: v.string(),
        field: v.optional(v.string()),
        fieldId: v.optional(v.string()),
      }),
    ),
    v.minLength(1),
  ),
});
