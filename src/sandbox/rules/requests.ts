/**
 * What requests must look like (specification, Endpoints): the schemas check them, and the OpenAPI
 * description is made of the same schemas. Members that no schema names are refused.
 */
import * as v from "valibot";
import { maxPageSize, type Variants } from "../variants.ts";
import { invalid } from "./refusal.ts";

const maxListNameLength = 1000;
const maxCriteriaLength = 50;

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
const maxPage = 2 ** 31 - 1;
const page = v.pipe(
  integer,
  v.minValue(1, "must be at least 1"),
  v.maxValue(maxPage, `must be at most ${maxPage}`),
);
/** Its greatest value is a variant: it is described here, and checked by `limitPageSize`. */
const pageSize = v.pipe(integer, v.minValue(1, "must be at least 1"), v.metadata({ maximum: maxPageSize }));

export const notArray = "must be an array";
export const notObject = "must be an object";

export const idRef = v.strictObject({ _id: text }, notObject);
export const fieldValue = v.strictObject({ _id: text, value: text }, notObject);

function withoutRepeats<T extends { _id: string }>(entries: T[]): boolean {
  return new Set(entries.map((entry) => entry._id)).size === entries.length;
}
const idRefs = v.pipe(v.array(idRef, notArray), v.check(withoutRepeats, "names one _id twice"));
const fieldValues = v.pipe(v.array(fieldValue, notArray), v.check(withoutRepeats, "names one _id twice"));

const idAsRef = v.pipe(
  text,
  v.transform((_id) => ({ _id })),
);
const mutateReferences = {
  object: idRefs,
  id: v.pipe(v.array(idAsRef, notArray), v.check(withoutRepeats, "names one _id twice")),
  both: v.pipe(
    v.array(v.union([idAsRef, idRef], "must be an object with an _id"), notArray),
    v.check(withoutRepeats, "names one _id twice"),
  ),
};

export const createContact = v.strictObject(
  {
    key: text,
    contactStructureId: text,
    fields: v.optional(fieldValues, []),
    lists: v.optional(idRefs, []),
    tags: v.optional(idRefs, []),
  },
  notObject,
);

export const replaceContact = v.strictObject(
  {
    key: text,
    contactStructureId: v.optional(text),
    fields: v.optional(fieldValues, []),
    lists: v.optional(idRefs, []),
    tags: v.optional(idRefs, []),
    // A contact that was read can be sent back: these may be there, and stay as they are.
    _id: v.optional(text),
    status: v.optional(v.strictObject({ primary: text, secondary: v.optional(text) }, notObject)),
    createdAt: v.optional(text),
    updatedAt: v.optional(text),
    __v: version,
  },
  notObject,
);

function mutateSchema(refs: v.GenericSchema<unknown[], { _id: string }[]>) {
  return v.strictObject(
    {
      addTags: v.optional(refs, []),
      removeTags: v.optional(refs, []),
      addLists: v.optional(refs, []),
      removeLists: v.optional(refs, []),
      updateFields: v.optional(fieldValues, []),
      __v: v.optional(version),
    },
    notObject,
  );
}
export const mutateContact = mutateSchema(mutateReferences.both);
/** As the variant takes the elements of its tags and lists. */
export const mutateContactBy = {
  object: mutateSchema(mutateReferences.object),
  id: mutateSchema(mutateReferences.id),
  both: mutateContact,
};

/**
 * In exactly this case (published reference). What only the service sets is taken from a contact that has it
 * already, and changes nothing.
 */
export const patchContact = v.strictObject(
  {
    status: v.variant(
      "primary",
      [
        v.strictObject({
          primary: v.literal("Active"),
          secondary: v.optional(v.never('must not be given when primary is "Active"')),
        }),
        v.strictObject({
          primary: v.literal("Inactive"),
          secondary: v.picklist(
            ["Unsubscribe", "Bounce", "Complaint-FBL"],
            'must be "Unsubscribe" when primary is "Inactive"',
          ),
        }),
        v.strictObject({ primary: v.literal("active"), secondary: v.literal("confirmed") }),
      ],
      'must be { primary: "Active" } or { primary: "Inactive", secondary: "Unsubscribe" }',
    ),
  },
  notObject,
);

export const criteria = v.strictObject(
  {
    columnToFilter: v.picklist(
      ["KEY", "CONTACT_STATUS", "LIST_ID"],
      "must be KEY, CONTACT_STATUS or LIST_ID",
    ),
    operator: v.picklist(["EQ"], "must be EQ"),
    values: v.pipe(v.array(text, notArray), v.minLength(1, "must not be empty")),
  },
  notObject,
);

/** The names that the `source` of a search takes: a closed list, in exactly this case. */
const sources = {
  /** Published reference. */
  published: [
    "_id",
    "key",
    "fields",
    "tags",
    "lists",
    "contactStatus",
    "contactSubStatus",
    "createdAt",
    "updatedAt",
  ],
  /** Specification, Contact. */
  specified: ["_id", "key", "contactStructureId", "fields", "lists", "tags", "status", "createdAt", "__v"],
} as const;

export const filter = v.strictObject({ criterias: v.array(criteria, notArray) }, notObject);

function searchWith(names: readonly string[]) {
  return v.strictObject(
    {
      contactStructureId: text,
      page,
      pageSize,
      source: v.pipe(
        v.array(v.picklist(names, `must be one of ${names.join(", ")}`), notArray),
        v.minLength(1, "must not be empty"),
      ),
      contactSpecification: v.strictObject({ filters: v.array(filter, notArray) }, notObject),
    },
    notObject,
  );
}
export const searchContacts = searchWith(sources.published);
/** As the variant takes the names of its source. */
export const searchContactsBy = {
  published: searchContacts,
  specified: searchWith(sources.specified),
};

// Further members are checked by the rule: they may be the stored field's own.
export const fieldDefinition = v.looseObject(
  {
    _id: v.optional(text),
    label: named,
    dataType: v.optional(named),
    required: v.optional(v.boolean("must be true or false")),
    predefinedField: v.optional(named),
  },
  notObject,
);
export const tagDefinition = v.looseObject({ _id: v.optional(text), label: named }, notObject);

export const updateStructure = v.strictObject(
  {
    label: named,
    keyName: named,
    fields: v.array(fieldDefinition, notArray),
    tags: v.optional(v.array(tagDefinition, notArray)),
    __v: v.optional(version),
  },
  notObject,
);

const listName = v.pipe(
  named,
  v.maxLength(maxListNameLength, `must not be longer than ${maxListNameLength} characters`),
);
export const createList = v.strictObject({ name: listName }, notObject);
export const renameList = v.strictObject({ name: listName, __v: v.optional(version) }, notObject);
/** The bodies of these three are not published: they name lists as a contact's body does. */
const someLists = v.pipe(idRefs, v.minLength(1, "must not be empty"));
export const duplicateList = v.strictObject({ name: listName }, notObject);
export const mergeLists = v.strictObject({ name: listName, lists: someLists }, notObject);
export const deleteLists = v.strictObject({ lists: someLists }, notObject);

/** A number in a query: digits alone. OpenAPI describes it as an integer from 1 on. */
const digits = (maximum: number) =>
  v.pipe(
    v.string("must be given once"),
    v.regex(/^\d{1,15}$/, "must be a positive integer"),
    v.metadata({ type: "integer", pattern: undefined, minimum: 1, maximum }),
    v.transform(Number),
  );
const pageQuery = {
  page: v.optional(v.pipe(digits(maxPage), page), "1"),
  size: v.optional(v.pipe(digits(maxPageSize), pageSize), "25"),
};
const sortedPageQuery = {
  ...pageQuery,
  sort: v.optional(
    v.pipe(
      v.string("must be given once"),
      v.regex(
        /^(name|createdAt|updatedAt)(:(asc|desc))?$/,
        "must be name, createdAt or updatedAt, with :asc or :desc",
      ),
    ),
  ),
};
export const listsQuery = v.object({
  ...sortedPageQuery,
  criteria: v.optional(
    v.pipe(text, v.maxLength(maxCriteriaLength, `must not be longer than ${maxCriteriaLength} characters`)),
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
const maxPastDays = 90;

/** Comma-separated; empty: all. */
const typesQuery = v.pipe(
  v.string("must be given once"),
  v.transform((types) => (types === "" ? undefined : types.split(",").map((type) => type.trim()))),
  v.check(
    (types) => types === undefined || types.every((type) => eventTypes.includes(type)),
    `must be types of events, separated by commas: ${eventTypes.join(", ")}`,
  ),
);
/** How many days a feed or a report looks back. */
const pastDays = v.pipe(
  digits(maxPastDays),
  v.minValue(1, "must be at least 1"),
  v.maxValue(maxPastDays, `must be at most ${maxPastDays}`),
);
export const contactEventsQuery = v.object({ ...pageQuery, types: v.optional(typesQuery) });
export const accountEventsQuery = v.object({
  ...contactEventsQuery.entries,
  pastDays: v.optional(pastDays, "30"),
});

/** How many entries a page of this size gets. @throws Refusal where larger pages are refused */
export function limitPageSize(wanted: number, field: "pageSize" | "size", { page: limit }: Variants): number {
  if (wanted <= limit.size) return wanted;
  if (limit.beyond === "cap") return limit.size;
  throw invalid(`${field} must be at most ${limit.size}`, { field });
}

export const campaignsQuery = v.object({ ...sortedPageQuery, status: v.optional(text) });
export const templatesQuery = v.object(pageQuery);

const timezone = v.optional(
  v.pipe(v.string("must be given once"), v.check(isTimeZone, "must be a time zone such as Europe/Oslo")),
  "UTC",
);
export const dashboardQuery = v.object({ pastDays, timezone });
const histogramTypes = [
  "email-sent",
  "email-delivered",
  "email-bounced",
  "first-contact-unsubscribed",
  "first-email-complaint",
  "first-email-opened",
  "first-email-clicked",
] as const;
export const histogramQuery = v.object({
  ...dashboardQuery.entries,
  eventType: v.picklist(histogramTypes, `must be one of ${histogramTypes.join(", ")}`),
});
const periods = ["24hours", "week", "month"] as const;
export const engagementQuery = v.object({
  period: v.optional(v.picklist(periods, `must be one of ${periods.join(", ")}`), "week"),
  timezone,
});

function isTimeZone(text: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: text });
    // Offsets are no names of zones.
    return /^[A-Za-z]/.test(text);
  } catch {
    return false;
  }
}
