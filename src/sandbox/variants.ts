/**
 * How the service may behave where its documents leave it open: the sandbox can behave in each of these ways.
 */
import { usageError } from "../errors.ts";
import { advise, ecm } from "../hint.ts";

/** The decision on each open question; `defaultVariants` has the defaults. */
export interface Variants {
  keys: "any" | "refused" | "first";
  /** Greatest number of values of one criteria, and of filters in one search. */
  "max-keys": number;
  page: PageLimit;
  lists: "records" | "array";
  "mutate-elements": "object" | "id" | "both";
  "mutate-answer": "contact" | "empty" | "other";
  /** The errorType that rejects a mutate without effect. */
  noop: string;
  /** Milliseconds until a search sees a write. */
  "search-lag": number;
  "hourly-headers": "sent" | "missing";
  /** The names that a search's `source` takes. */
  source: "published" | "specified";
  /** Whether the service has the endpoints and members that the specification shows, and no others. */
  literal: "no" | "yes";
}

/** How a page larger than `size` is treated: it is cut without notice, or the request is refused. */
interface PageLimit {
  beyond: "cap" | "refuse";
  size: number;
}

export type VariantName = keyof Variants;

interface Variant<Value> {
  /** Value as typed → its meaning. The first is the default; N and TYPE are placeholders. */
  values: Record<string, string>;
  /** The value as the rules use it; undefined for a text that is not a value. */
  read(text: string): Value | undefined;
}

/** Records on one page, of every listing and search. */
export const maxPageSize = 1000;
const maxKeys = 100_000;
const maxSearchLag = 86_400_000;

const table: { [Name in VariantName]: Variant<Variants[Name]> } = {
  keys: choice({
    any: "KEY EQ with several values finds the contacts of all of them",
    refused: "KEY EQ with several values is refused with 400",
    first: "KEY EQ with several values finds the contact of the first value only",
  }),
  "max-keys": {
    values: {
      [maxKeys]: "A search may have as many values and filters as fit in its body",
      N: "A search with more than N values of a criteria, or more than N filters, is refused with 400",
    },
    read: (text) => parseNumber(text, 1, maxKeys),
  },
  page: {
    values: {
      [`refuse:${maxPageSize}`]: `A pageSize or size greater than ${maxPageSize} is refused with 400`,
      "refuse:N": "A pageSize or size greater than N is refused with 400",
      "cap:N": "A pageSize or size greater than N is answered with pages of N, without an error",
    },
    read(text) {
      const [beyond, number = "", ...rest] = text.split(":");
      const size = parseNumber(number, 1, maxPageSize);
      if ((beyond !== "cap" && beyond !== "refuse") || size === undefined || rest.length > 0)
        return undefined;
      return { beyond, size };
    },
  },
  lists: choice({
    records: "A page of lists is { total, records }; lists/all is an array",
    array: "A page of lists is an array; lists/all is { records }",
  }),
  "mutate-elements": choice({
    both: "A mutate takes tags and lists as { _id } and as plain ids",
    object: "A mutate takes tags and lists as { _id } only",
    id: "A mutate takes tags and lists as plain ids only",
  }),
  "mutate-answer": choice({
    contact: "A mutate answers with the contact",
    empty: "A mutate answers without a body",
    other: "A mutate answers with JSON that is not the contact",
  }),
  noop: {
    values: {
      ValidationError: "A mutate that changes nothing is rejected with the errorType ValidationError",
      TYPE: "A mutate that changes nothing is rejected with the errorType TYPE",
    },
    read: (text) => (/^[A-Za-z]\w{0,99}$/.test(text) ? text : undefined),
  },
  "search-lag": {
    values: { 0: "A search sees a write at once", N: "A search sees a write N milliseconds later" },
    read: (text) => parseNumber(text, 0, maxSearchLag),
  },
  "hourly-headers": choice({
    sent: "Answers carry the X-RateLimit headers",
    missing: "Answers do not carry the X-RateLimit headers",
  }),
  source: choice({
    published:
      "source takes the nine names of the published reference; _id and contactStructureId come along",
    specified: "source takes the members of a contact in the specification, status and __v among them",
  }),
  literal: choice({
    no: "The service has what the published reference adds to the specification",
    yes: "Endpoints, members and names that the specification does not show do not exist; implies source=specified",
  }),
};

/** The variants that `literal` implies, unless they are given. */
const literalVariants: Partial<Variants> = { source: "specified" };

export const variantNames = Object.keys(table) as VariantName[];

const firstValues: Partial<Variants> = Object.fromEntries(
  variantNames.map((name) => [name, readVariant(name, Object.keys(table[name].values)[0]!)]),
);
/** The decisions that follow the documents. */
export const defaultVariants = firstValues as Variants;

/** The meaning of each value of a variant, the default first. */
export function describeVariant(name: VariantName): { value: string; means: string }[] {
  return Object.entries(table[name].values).map(([value, means]) => ({ value, means }));
}

/** The defaults, with these decisions as typed over them. @throws UsageError that names the known values */
export function variantsFrom(given: Record<string, unknown>): Variants {
  const decisions: Partial<Variants> = Object.fromEntries(
    Object.entries(given).map(([name, value]) => [name, readVariant(name, value)]),
  );
  const implied = decisions.literal === "yes" ? literalVariants : {};
  return { ...defaultVariants, ...implied, ...decisions };
}

function readVariant(name: string, value: unknown): Variants[VariantName] {
  const variant = variantNames.includes(name as VariantName) ? table[name as VariantName] : undefined;
  if (!variant) {
    throw usageError(
      `--variant: there is no variant ${JSON.stringify(name)}`,
      advise`Variants: ${variantNames.join(", ")}; see: ${ecm`sandbox variants`}`,
    );
  }
  const isText = typeof value === "string" || typeof value === "number";
  const read = isText ? variant.read(String(value)) : undefined;
  if (read !== undefined) return read;
  throw usageError(
    `--variant ${name}: ${JSON.stringify(value)} is not one of its values`,
    advise`Values of ${name}: ${Object.keys(variant.values).join(", ")}; see: ${ecm`sandbox variants`}`,
  );
}

/** Splits `NAME=VALUE`; `literal` alone means `literal=yes`. @throws UsageError without a `=` */
export function splitVariant(text: string): [name: string, value: string] {
  if (text === "literal") return [text, "yes"];
  const at = text.indexOf("=");
  if (at > 0) return [text.slice(0, at), text.slice(at + 1)];
  throw usageError(
    `--variant ${JSON.stringify(text)}: a variant is NAME=VALUE`,
    advise`See: ${ecm`sandbox variants`}`,
  );
}

function choice<Value extends string>(values: Record<Value, string>): Variant<Value> {
  return { values, read: (text) => (Object.hasOwn(values, text) ? (text as Value) : undefined) };
}

function parseNumber(text: string, min: number, max: number): number | undefined {
  if (!/^\d{1,9}$/.test(text)) return undefined;
  const number = Number(text);
  return number >= min && number <= max ? number : undefined;
}
