/** How the service may decide what its documents leave open: the sandbox plays the documents, or any of these. */
import { UsageError } from "../errors.ts";

/** One decision each; the defaults are `defaultVariants`. */
export interface Variants {
  keys: "any" | "refused" | "first";
  /** Greatest number of values of one criteria, and of filters in one search. */
  "max-keys": number;
  page: PageLimit;
  lists: "records" | "array";
  created: 200 | 201;
  "mutate-elements": "object" | "id" | "both";
  "mutate-answer": "contact" | "empty" | "other";
  /** The errorType that rejects a mutate without effect. */
  noop: string;
  /** Milliseconds until a search sees a write. */
  "search-lag": number;
  "key-case": "fold" | "exact";
  inactive: "shown" | "hidden";
  structures: "whole" | "slim";
  status: "parts" | "object";
  "unknown-members": "refuse" | "ignore";
  "hourly-headers": "sent" | "missing";
}

/** What becomes of a page larger than `size`: it is cut in silence, or the request is refused. */
export interface PageLimit {
  beyond: "cap" | "refuse";
  size: number;
}

export type VariantName = keyof Variants;

/** A decision for people: what it is about, and what its values mean. The first value is the default. */
export interface VariantDescription {
  name: VariantName;
  about: string;
  values: { value: string; means: string }[];
}

interface Variant<Value> {
  about: string;
  /** Value as typed → what it means. The first is the default; N and TYPE stand for what is to be filled in. */
  values: Record<string, string>;
  /** The value as the rules use it; undefined when it is none. */
  read(text: string): Value | undefined;
}

const largestPage = 1000;
const mostKeys = 100_000;
const longestLag = 86_400_000;

const table: { [Name in VariantName]: Variant<Variants[Name]> } = {
  keys: choice("a search whose criteria KEY EQ has several values", {
    any: "finds the contacts of any of them",
    refused: "is refused with 400",
    first: "finds the contact of the first alone",
  }),
  "max-keys": {
    about: "values of one criteria, and filters of one search",
    values: { [mostKeys]: "as many as a body holds", N: "more than N are refused with 400" },
    read: (text) => numberIn(text, 1, mostKeys),
  },
  page: {
    about: "a greater pageSize of a search, or size of lists and events",
    values: {
      [`refuse:${largestPage}`]: `than ${largestPage} is refused with 400`,
      "refuse:N": "than N is refused with 400",
      "cap:N": "than N is answered with N entries, in silence",
    },
    read(text) {
      const [beyond, number = ""] = text.split(":");
      const size = numberIn(number, 1, largestPage);
      if ((beyond !== "cap" && beyond !== "refuse") || size === undefined) return undefined;
      return { beyond, size };
    },
  },
  lists: choice("the lists of a structure", {
    records: "are answered as { total, records }, all of them as an array",
    array: "are answered as an array, all of them as { records }",
  }),
  created: {
    about: "creating a list",
    values: { 200: "is answered with 200", 201: "is answered with 201" },
    read: (text) => (text === "200" ? 200 : text === "201" ? 201 : undefined),
  },
  "mutate-elements": choice("tags and lists in a mutate", {
    both: "may be { _id } or ids",
    object: "must be { _id }",
    id: "must be ids",
  }),
  "mutate-answer": choice("a mutate", {
    contact: "is answered with the contact",
    empty: "is answered without a body",
    other: "is answered with something else",
  }),
  noop: {
    about: "a mutate that changes nothing",
    values: {
      ValidationError: "is rejected with this errorType",
      TYPE: "is rejected with the errorType TYPE",
    },
    read: (text) => (/^[A-Za-z]\w{0,99}$/.test(text) ? text : undefined),
  },
  "search-lag": {
    about: "a search",
    values: { 0: "sees a write at once", N: "sees a write N milliseconds later" },
    read: (text) => numberIn(text, 0, longestLag),
  },
  "key-case": choice("keys that differ in letter case alone", {
    fold: "are one key",
    exact: "are two keys",
  }),
  inactive: choice("inactive contacts, in a search that does not ask for a status", {
    shown: "are found",
    hidden: "are not found",
  }),
  structures: choice("the list of structures", {
    whole: "tells all of each",
    slim: "leaves out tags, and which fields are required",
  }),
  status: choice("the status of a contact that is found", {
    parts: "comes as contactStatus and contactSubStatus",
    object: "comes as status, with primary and secondary",
  }),
  "unknown-members": choice("members that a request's body does not know", {
    refuse: "are refused with 400",
    ignore: "are ignored",
  }),
  "hourly-headers": choice("the X-RateLimit headers", {
    sent: "come with every answer",
    missing: "are missing",
  }),
};

export const variantNames = Object.keys(table) as VariantName[];

/** The documents as they are. */
export const defaultVariants: Variants = Object.fromEntries(
  variantNames.map((name) => [name, table[name].read(Object.keys(table[name].values)[0]!)]),
) as unknown as Variants;

export const variantDescriptions: VariantDescription[] = variantNames.map((name) => {
  const { about, values } = table[name];
  return { name, about, values: Object.entries(values).map(([value, means]) => ({ value, means })) };
});

/** The default together with decisions as typed. @throws UsageError that names the values there are */
export function variantsFrom(given: Record<string, unknown>): Variants {
  const decisions = Object.entries(given).map(([name, value]) => [name, readVariant(name, value)]);
  return { ...defaultVariants, ...Object.fromEntries(decisions) };
}

function readVariant(name: string, value: unknown): Variants[VariantName] {
  const variant = variantNames.includes(name as VariantName) ? table[name as VariantName] : undefined;
  if (!variant) {
    throw new UsageError(
      `--variant: there is no variant ${JSON.stringify(name)}`,
      `variants: ${variantNames.join(", ")}; see: ecm sandbox variants`,
    );
  }
  const isText = typeof value === "string" || typeof value === "number";
  const read = isText ? variant.read(String(value)) : undefined;
  if (read !== undefined) return read;
  throw new UsageError(
    `--variant ${name}: ${JSON.stringify(value)} is not one of its values`,
    `values of ${name}: ${Object.keys(variant.values).join(", ")}; see: ecm sandbox variants`,
  );
}

/** `NAME=VALUE` in two. @throws UsageError when there is no `=` */
export function splitVariant(text: string): [name: string, value: string] {
  const at = text.indexOf("=");
  if (at > 0) return [text.slice(0, at), text.slice(at + 1)];
  throw new UsageError(
    `--variant ${JSON.stringify(text)}: a variant is NAME=VALUE`,
    "see: ecm sandbox variants",
  );
}

function choice<Value extends string>(about: string, values: Record<Value, string>): Variant<Value> {
  const read = (text: string) => (Object.hasOwn(values, text) ? (text as Value) : undefined);
  return { about, values, read };
}

function numberIn(text: string, least: number, most: number): number | undefined {
  if (!/^\d{1,9}$/.test(text)) return undefined;
  const number = Number(text);
  return number >= least && number <= most ? number : undefined;
}
