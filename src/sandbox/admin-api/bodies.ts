/** What requests to /__sandbox/ may hold, and how a person writes times and durations there. */
import * as v from "valibot";
import { isObject } from "../../json.ts";
import type { RequestQuery } from "../public-types.ts";
import { maxWindowSeconds } from "../rules/limits.ts";
import { invalid, joinPlace, type Refusal } from "../rules/refusal.ts";
import { notArray, notObject, text } from "../rules/requests.ts";
import type { RequestFilter } from "../store/request-log.ts";

const count = v.pipe(
  v.number("must be a whole number"),
  v.safeInteger("must be a whole number"),
  v.minValue(0, "must not be negative"),
);
const notInWindow = `must be from 1 to ${maxWindowSeconds}`;
export const name = v.pipe(
  text,
  v.check((value) => value.trim() !== "", "must not be empty"),
  v.maxLength(1000, "must not be longer than 1000 characters"),
);

const flag = v.boolean("must be true or false");

export const resetBody = v.strictObject({ seed: v.optional(count), everything: v.optional(flag) }, notObject);

// A record of the library takes arrays, and passes over members that objects of JavaScript have, such as
// `constructor`.
const anyObject = v.custom<Record<string, unknown>>(isObject, notObject);

export const worldBody = v.strictObject(
  {
    from: v.optional(v.string("must be a string")),
    seed: v.optional(count),
    variants: v.optional(anyObject),
  },
  notObject,
);

export const clockBody = v.strictObject(
  {
    time: v.optional(v.string("must be a time such as 2027-01-31T12:00:00Z")),
    advance: v.optional(v.string("must be a duration such as 90m")),
    real: v.optional(v.literal(true, "must be true")),
  },
  notObject,
);

export const faultsBody = v.strictObject(
  { faults: v.array(v.string("must be a string"), notArray) },
  notObject,
);

const usage = v.union(
  [count, v.strictObject({ hour: v.optional(count), month: v.optional(count) })],
  "must be a whole number, or an object with hour and month",
);
export const limitsBody = v.strictObject(
  {
    hourly: v.optional(count),
    windowSeconds: v.optional(
      v.pipe(count, v.minValue(1, notInWindow), v.maxValue(maxWindowSeconds, notInWindow)),
    ),
    monthly: v.optional(count),
    used: v.optional(usage),
  },
  notObject,
);

const statusText = v.union(
  [text, v.strictObject({ primary: text, secondary: v.optional(text) })],
  "must be a status, such as Active or Unsubscribe",
);
const seedContact = v.strictObject(
  {
    key: text,
    fields: v.optional(anyObject, {}),
    lists: v.optional(v.array(name, notArray), []),
    tags: v.optional(v.array(name, notArray), []),
    status: v.optional(statusText),
  },
  notObject,
);
const seedReports = v.strictObject(
  { dashboard: v.optional(anyObject), overall: v.optional(anyObject), histogram: v.optional(anyObject) },
  notObject,
);
// Answered as they are given; what pages are made by is text.
const seedMail = v.looseObject(
  {
    name,
    status: v.optional(text),
    createdAt: v.optional(text),
    updatedAt: v.optional(text),
    report: v.optional(anyObject),
  },
  notObject,
);
const seedDomain = v.looseObject(
  { domain: v.pipe(text, v.regex(/^[a-z0-9-]+(\.[a-z0-9-]+)+$/i, "must be a domain such as example.com")) },
  notObject,
);
export const seedBody = v.strictObject(
  {
    fields: v.optional(v.array(name, notArray), []),
    tags: v.optional(v.array(name, notArray), []),
    lists: v.optional(v.array(name, notArray), []),
    contacts: v.optional(v.array(seedContact, notArray), []),
    campaigns: v.optional(v.array(seedMail, notArray)),
    templates: v.optional(v.array(seedMail, notArray)),
    domains: v.optional(v.array(seedDomain, notArray)),
    reports: v.optional(seedReports),
  },
  notObject,
);

export type CheckedSeed = v.InferOutput<typeof seedBody>;
export type SeedContact = CheckedSeed["contacts"][number];

/** The input as the schema types it. @throws Refusal whose field is the place, such as `contacts[3].key` */
export function parseBody<S extends v.GenericSchema>(
  schema: S,
  input: unknown,
  what = "The body",
): v.InferOutput<S> {
  if (Array.isArray(input)) throw invalid(`${what} ${notObject}`);
  const result = v.safeParse(schema, input, { abortEarly: true });
  if (result.success) return result.output;
  const issue = result.issues[0];
  const place = (issue.path ?? []).reduce((before, { key }) => joinPlace(before, key), "");
  if (place === "") throw invalid(`${what} ${issue.message}`);
  const isMissing = issue.received === "undefined";
  const isUnknown = issue.type === "strict_object" && issue.expected === "never";
  throw invalidAt(place, isMissing ? "is required" : isUnknown ? "is not known here" : issue.message);
}

/** A refusal that names the place in its message and in its `field`. */
export function invalidAt(place: string, message: string): Refusal {
  return invalid(`${place} ${message}`, { field: place });
}

// Ids hold the second of their making in eight hexadecimal digits.
const maxTime = Date.UTC(2100, 0, 1);

/**
 * Milliseconds since the epoch.
 * @throws Refusal unless it is RFC 3339, or a date alone, up to the year 2099
 */
export function parseTime(given: string, place: string): number {
  const isTime = /^\d{4}-\d\d-\d\d([Tt ]\d\d:\d\d(:\d\d(\.\d+)?)?([Zz]|[+-]\d\d:\d\d))?$/.test(given);
  const time = isTime ? Date.parse(given.toUpperCase().replace(" ", "T")) : Number.NaN;
  const isDay =
    isTime && new Date(`${given.slice(0, 10)}T00:00:00Z`).getUTCDate() === Number(given.slice(8, 10));
  if (!isDay || Number.isNaN(time)) {
    throw invalidAt(place, "must be a time such as 2027-01-31T12:00:00Z");
  }
  return checkTimeRange(time, place);
}

/** @throws Refusal for a time before 1970 or after 2099 */
export function checkTimeRange(time: number, place: string): number {
  if (time < 0 || time >= maxTime) throw invalidAt(place, "must lead to a time from 1970 to 2099");
  return time;
}

const unitMilliseconds: Record<string, number> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** Milliseconds of `90m`, `1h30m` or `45s`. @throws Refusal for anything else */
export function parseDuration(given: string, place: string): number {
  const parts = [...given.matchAll(/(\d{1,9}(?:\.\d{1,3})?)(ms|[smhdw])/g)];
  if (parts.length === 0 || parts.map(([part]) => part).join("") !== given) {
    throw invalidAt(place, "must be a duration such as 90m, 12h or 1h30m (units: ms, s, m, h, d, w)");
  }
  return Math.round(
    parts.reduce((sum, [, number, unit]) => sum + Number(number) * unitMilliseconds[unit!]!, 0),
  );
}

/** A text or a number that stands once in a query. */
const once = v.pipe(v.union([v.string(), v.number()], "must be given once"), v.transform(String));
const matching = (pattern: RegExp, message: string) => v.optional(v.pipe(once, v.regex(pattern, message)));
const requestsQuery = v.strictObject(
  {
    since: v.optional(once),
    method: matching(/^[a-z-]{1,40}$/i, "must be a method"),
    path: v.optional(once),
    status: matching(/^[1-5](?:\d\d|xx)$/i, "must be a status such as 404 or 4xx"),
    limit: matching(/^[1-9]\d{0,5}$/, "must be a whole number from 1 to 999999"),
  },
  notObject,
);

/** @throws Refusal for an unknown name, or an invalid value */
export function parseRequestQuery(query: RequestQuery): { filter: RequestFilter; limit?: number } {
  const { since, limit, ...filter } = parseBody(requestsQuery, query, "The query");
  return {
    filter: { ...filter, ...parseSince(since) },
    ...(limit !== undefined && { limit: Number(limit) }),
  };
}

/** A number, after which; or a time, from which. */
function parseSince(since: string | undefined): RequestFilter {
  if (since === undefined) return {};
  return /^\d{1,15}$/.test(since) ? { after: Number(since) } : { since: parseTime(since, "since") };
}
