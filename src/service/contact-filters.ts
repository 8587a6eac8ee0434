/** What a search is to find, as typed → filters. Names of lists and tags resolve to ids here. */
import { UsageError } from "../errors.ts";
import type { ContactStructure, Criteria, Filter, SearchBody } from "../wire.ts";
import type { Account } from "./account.ts";
import { keyFilter } from "./contacts.ts";
import { resolveTag } from "./names.ts";

export interface WantedContacts {
  key?: string[];
  status?: string;
  list?: string[];
  tag?: string[];
  /** `COLUMN OPERATOR VALUE[,VALUE]…` */
  filter?: string[];
}

/** All must hold; several keys, lists or tags are one filter with several values, of which any will do. */
export async function contactFilters(
  account: Account,
  structure: ContactStructure,
  wanted: WantedContacts,
): Promise<Filter[]> {
  const criterias: Criteria[] = [
    ...(wanted.status === undefined ? [] : [equals("CONTACT_STATUS", [wanted.status])]),
    ...(wanted.list?.length ? [equals("LIST_ID", wanted.list)] : []),
    ...(wanted.tag?.length ? [equals("TAG_ID", wanted.tag)] : []),
    ...(wanted.filter ?? []).map(parseFilter),
  ];
  const filters: Filter[] = wanted.key?.length ? [keyFilter(wanted.key)] : [];
  for (const criteria of criterias) {
    filters.push({ criterias: [{ ...criteria, values: await idsOf(account, structure, criteria) }] });
  }
  return filters;
}

/** Any column and operator passes; which exist is the service's to say. A value in double quotes may hold commas. */
export function parseFilter(text: string): Criteria {
  const [, columnToFilter, operator, values] = /^\s*(\S+)\s+(\S+)\s+(\S[\s\S]*?)\s*$/.exec(text) ?? [];
  if (!columnToFilter || !operator || !values) {
    throw new UsageError(
      `--filter ${JSON.stringify(text)} is not "COLUMN OPERATOR VALUE[,VALUE]…"`,
      'such as --filter "CONTACT_STATUS EQ active"; for anything else there is --filter-json',
    );
  }
  return { columnToFilter, operator, values: splitValues(values) };
}

/** An array becomes the filters; an object is the whole specification. @throws UsageError for anything else. */
export function parseFilterJson(json: string): Filter[] | NonNullable<SearchBody["contactSpecification"]> {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    throw new UsageError(`--filter-json is not JSON: ${(error as Error).message}`);
  }
  if (typeof value === "object" && value !== null) return value as ReturnType<typeof parseFilterJson>;
  throw new UsageError(
    "--filter-json is neither an array of filters nor an object",
    'such as \'[{"criterias":[{"columnToFilter":"KEY","operator":"EQ","values":["ada@example.com"]}]}]\'',
  );
}

function equals(columnToFilter: string, values: string[]): Criteria {
  return { columnToFilter, operator: "EQ", values };
}

async function idsOf(account: Account, structure: ContactStructure, criteria: Criteria): Promise<string[]> {
  const column = criteria.columnToFilter.toUpperCase();
  if (column === "LIST_ID") {
    return Promise.all(criteria.values.map(async (name) => (await account.list(structure, name))._id));
  }
  if (column === "TAG_ID") {
    const whole = await account.complete(structure);
    return criteria.values.map((label) => resolveTag(whole, label)._id);
  }
  return criteria.values;
}

function splitValues(text: string): string[] {
  const values: string[] = [];
  const value = /\s*(?:"((?:[^"]|"")*)"\s*|([^",][^,]*?|)\s*)(,|$)/y;
  for (;;) {
    const match = value.exec(text);
    if (!match) throw new UsageError(`--filter: a quote in ${JSON.stringify(text)} is not closed`);
    values.push(match[1]?.replaceAll('""', '"') ?? match[2]!);
    if (match[3] === "") return values;
  }
}
