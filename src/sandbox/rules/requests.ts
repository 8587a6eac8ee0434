/**
 * What requests must look like (specification, Endpoints): the schemas check them, and the OpenAPI description is made
 * of the same schemas. Members that no schema names are ignored.
 */
import * as v from "valibot";
import { invalid } from "./refusal.ts";

export const largestPage = 1000;
const longestListName = 1000;
const longestCriteria = 50;

/** Text that can be kept and given back as it came: no NUL, no half of a surrogate pair. */
export const text = v.pipe(
  v.string("must be a string"),
  v.check((value) => !/[\0\ud800-\udfff]/u.test(value), "holds characters that cannot be stored"),
);

/** Text that is not blank. */
const named = v.pipe(
  text,
  v.check((value) => value.trim() !== "", "must not be empty"),
);
const integer = v.pipe(v.number("must be an integer"), v.safeInteger("must be an integer"));
const version = v.pipe(integer, v.minValue(0, "must not be negative"));
const page = v.pipe(
  integer,
  v.minValue(1, "must be at least 1"),
  v.maxValue(2 ** 31 - 1, "must be at most 2147483647"),
);
const pageSize = v.pipe(
  integer,
  v.minValue(1, "must be at least 1"),
  v.maxValue(largestPage, `must be at most ${largestPage}`),
);

const isArray = "must be an array";
const isObject = "must be an object";

const idRef = v.object({ _id: text }, isObject);
const fieldValue = v.object({ _id: text, value: text }, isObject);

function withoutRepeats<T extends { _id: string }>(entries: T[]): boolean {
  return new Set(entries.map((entry) => entry._id)).size === entries.length;
}
const idRefs = v.pipe(v.array(idRef, isArray), v.check(withoutRepeats, "names one _id twice"));
const fieldValues = v.pipe(v.array(fieldValue, isArray), v.check(withoutRepeats, "names one _id twice"));
/** In a mutate, bare ids will do. */
const idRefsOrIds = v.pipe(
  v.array(v.union([text, idRef], "must be an object with an _id"), isArray),
  v.transform((entries) => entries.map((entry) => (typeof entry === "string" ? { _id: entry } : entry))),
  v.check(withoutRepeats, "names one _id twice"),
);

export const createContact = v.object(
  {
    key: text,
    contactStructureId: text,
    fields: v.optional(fieldValues, []),
    lists: v.optional(idRefs, []),
    tags: v.optional(idRefs, []),
  },
  isObject,
);

export const replaceContact = v.object(
  {
    key: text,
    contactStructureId: v.optional(text),
    fields: v.optional(fieldValues, []),
    lists: v.optional(idRefs, []),
    tags: v.optional(idRefs, []),
    // A contact that was read can be sent back: these may be there, and stay as they are.
    status: v.optional(v.object({ primary: text, secondary: v.optional(text) }, isObject)),
    __v: version,
  },
  isObject,
);

export const mutateContact = v.object(
  {
    addTags: v.optional(idRefsOrIds, []),
    removeTags: v.optional(idRefsOrIds, []),
    addLists: v.optional(idRefsOrIds, []),
    removeLists: v.optional(idRefsOrIds, []),
    updateFields: v.optional(fieldValues, []),
    __v: v.optional(version),
  },
  isObject,
);

/** In these capitals exactly (published reference); what the service itself sets may be spelled otherwise. */
export const patchContact = v.strictObject(
  {
    status: v.variant(
      "primary",
      [
        v.strictObject({ primary: v.literal("Active") }),
        v.strictObject({
          primary: v.literal("Inactive"),
          secondary: v.literal("Unsubscribe", 'must be "Unsubscribe" when primary is "Inactive"'),
        }),
      ],
      'must be { primary: "Active" } or { primary: "Inactive", secondary: "Unsubscribe" }',
    ),
  },
  isObject,
);

const criteria = v.object(
  {
    columnToFilter: v.picklist(
      ["KEY", "CONTACT_STATUS", "LIST_ID", "TAG_ID"],
      "must be KEY, CONTACT_STATUS, LIST_ID or TAG_ID",
    ),
    operator: v.picklist(["EQ"], "must be EQ"),
    values: v.pipe(v.array(text, isArray), v.minLength(1, "must not be empty")),
  },
  isObject,
);

export const searchContacts = v.object(
  {
    contactStructureId: text,
    page: v.optional(page, 1),
    pageSize: v.optional(pageSize, 10),
    source: v.pipe(v.array(text, isArray), v.minLength(1, "must not be empty")),
    contactSpecification: v.optional(
      v.object(
        { filters: v.array(v.object({ criterias: v.array(criteria, isArray) }, isObject), isArray) },
        isObject,
      ),
      { filters: [] },
    ),
  },
  isObject,
);

const fieldDefinition = v.object(
  {
    _id: v.optional(text),
    label: named,
    dataType: v.optional(named),
    required: v.optional(v.boolean("must be true or false")),
    predefinedField: v.optional(named),
  },
  isObject,
);

export const updateStructure = v.object(
  {
    label: named,
    keyName: named,
    fields: v.array(fieldDefinition, isArray),
    tags: v.optional(v.array(v.object({ _id: v.optional(text), label: named }, isObject), isArray)),
    __v: v.optional(version),
  },
  isObject,
);

const listName = v.pipe(
  named,
  v.maxLength(longestListName, `must not be longer than ${longestListName} characters`),
);
export const createList = v.object({ name: listName }, isObject);
export const renameList = v.object({ name: listName, __v: v.optional(version) }, isObject);
/** The bodies of these three are not published: they name lists as a contact's body does. */
const someLists = v.pipe(idRefs, v.minLength(1, "must not be empty"));
export const duplicateList = v.object({ name: listName }, isObject);
export const mergeLists = v.object({ name: listName, lists: someLists }, isObject);
export const deleteLists = v.object({ lists: someLists }, isObject);

/** A number in a query: digits alone. */
const digits = v.pipe(
  v.string("must be given once"),
  v.regex(/^\d{1,15}$/, "must be a positive integer"),
  v.transform(Number),
);
const pageOfQuery = {
  page: v.optional(v.pipe(digits, page), "1"),
  size: v.optional(v.pipe(digits, pageSize), "25"),
};
export const listsQuery = v.object({
  ...pageOfQuery,
  sort: v.optional(
    v.pipe(
      v.string("must be given once"),
      v.regex(
        /^(name|createdAt|updatedAt)(:(asc|desc))?$/,
        "must be name, createdAt or updatedAt, with :asc or :desc",
      ),
    ),
  ),
  criteria: v.optional(
    v.pipe(text, v.maxLength(longestCriteria, `must not be longer than ${longestCriteria} characters`)),
  ),
});

/** Published reference, contact events. */
export const eventTypes = [
  "contact-created",
  "contact-updated",
  "contact-update-failed",
  "contact-unsubscribed",
  "contact-reactivated",
  "email-sent",
  "email-bounced",
  "email-delivered",
  "email-delayed",
  "email-rejected",
  "email-complaint",
  "email-opened",
  "email-clicked",
  "email-skipped",
];
const oldestDays = 90;

/** Comma-separated; empty: all. */
const typesOfQuery = v.pipe(
  v.string("must be given once"),
  v.transform((types) => (types === "" ? undefined : types.split(",").map((type) => type.trim()))),
  v.check(
    (types) => types === undefined || types.every((type) => eventTypes.includes(type)),
    `must be types of events, separated by commas: ${eventTypes.join(", ")}`,
  ),
);
export const contactEventsQuery = v.object({ ...pageOfQuery, types: v.optional(typesOfQuery) });
export const accountEventsQuery = v.object({
  ...contactEventsQuery.entries,
  pastDays: v.optional(
    v.pipe(
      digits,
      v.minValue(1, "must be at least 1"),
      v.maxValue(oldestDays, `must be at most ${oldestDays}`),
    ),
    "30",
  ),
});

/** What the input says, as the schema types it. @throws Refusal that names the first input at fault */
export function check<S extends v.GenericSchema>(schema: S, input: unknown): v.InferOutput<S> {
  // To a schema of optional members alone, an array would be an empty object.
  if (Array.isArray(input)) throw invalid(`The body ${isObject}`);
  const result = v.safeParse(schema, input, { abortEarly: true });
  if (result.success) return result.output;
  const issue = result.issues[0];
  const path = issue.path ?? [];
  const place = path.reduce(
    (name, { key }) =>
      typeof key === "number" ? `${name}[${key}]` : name === "" ? String(key) : `${name}.${key}`,
    "",
  );
  const field = path.length > 0 ? String(path[0]!.key) : undefined;
  if (field === undefined) throw invalid(`The body ${issue.message}`);
  const isMissing = issue.received === "undefined";
  const isUnknown = issue.type === "strict_object" && issue.expected === "never";
  throw invalid(
    `${place} ${isMissing ? "is required" : isUnknown ? "is not accepted here" : issue.message}`,
    {
      field,
    },
  );
}
