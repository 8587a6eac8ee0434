/**
 * What a search is to find, as typed → what the service decides, and what is decided here. Names of lists and
 * tags resolve to ids here.
 */

import { createEquals, createFilter } from "../api/contacts.ts";
import { normalizeKey } from "../api/key-spelling.ts";
import { isEmailKey } from "../api/structures.ts";
import { usageError } from "../errors.ts";
import { isObject } from "../json.ts";
import type { Account } from "../service/account.ts";
import { resolveListRefs, resolveTagRefs } from "../service/contact-changes.ts";
import type { ContactStructure, Criteria, Filter, SearchBody } from "../wire.ts";
import { type Conditions, combine, createStatusCondition, createTagCondition } from "./conditions.ts";
import { parseStatus } from "./status-filter.ts";

export interface RequestedContacts {
  key?: string[];
  status?: string;
  list?: string[];
  tag?: string[];
  /** `COLUMN OPERATOR VALUE[,VALUE]…` */
  filter?: string[];
}

/**
 * All must hold; of several keys, lists or tags any will do. No column of a search is published for tags, so
 * these are decided here, on what the service finds for the rest.
 */
export async function resolveContactConditions(
  account: Account,
  structure: ContactStructure,
  { key, status: statusText, list, tag, filter = [] }: RequestedContacts,
): Promise<Conditions> {
  // As it was typed, and as an import would have written it.
  const keys = [...new Set(key?.flatMap((each) => [each, normalizeKey(each, structure.keyType)]))];
  const status = statusText === undefined ? undefined : parseStatus(statusText);
  const criterias: Criteria[] = [
    ...(keys.length === 1 ? [createEquals("KEY", keys)] : []),
    ...(status ? [createEquals("CONTACT_STATUS", [status.primary])] : []),
  ];
  for (const each of filter.map(parseFilter)) {
    const namesLists = each.columnToFilter.toUpperCase() === "LIST_ID";
    const values = namesLists ? await resolveLists(account, structure, each.values) : each.values;
    criterias.push({ ...each, values });
  }
  const lists = await resolveLists(account, structure, list);
  const ofLists = lists.length > 0 && (await account.anyOfLists(structure, lists));
  const tags = await resolveTags(account, structure, tag);
  const keeps = combine(
    tags.length > 0 && createTagCondition(tags),
    status?.secondary !== undefined && createStatusCondition(status),
  );
  return {
    filters: ofLists ? ofLists(criterias) : createFilter(...criterias),
    ...(keys.length > 1 && { keys: { values: keys, areEmails: isEmailKey(structure.keyType) } }),
    ...(keeps && { keeps }),
  };
}

/** @throws NotFoundError */
export async function resolveLists(
  account: Account,
  structure: ContactStructure,
  names: readonly string[] = [],
): Promise<string[]> {
  return (await resolveListRefs(account, structure, names)).map(({ _id }) => _id);
}

/** @throws NotFoundError */
export async function resolveTags(
  account: Account,
  structure: ContactStructure,
  labels: readonly string[] = [],
): Promise<string[]> {
  return (await resolveTagRefs(account, structure, labels)).map(({ _id }) => _id);
}

/** Any column and operator passes; which exist is the service's to say. */
export function parseFilter(text: string): Criteria {
  const [, columnToFilter, operator, values] = /^\s*(\S+)\s+(\S+)\s+(\S[\s\S]*?)\s*$/.exec(text) ?? [];
  if (!columnToFilter || !operator || !values) {
    throw usageError(
      `--filter ${JSON.stringify(text)} is not "COLUMN OPERATOR VALUE[,VALUE]…"`,
      'Such as --filter "CONTACT_STATUS EQ active"; for anything else use --filter-json',
    );
  }
  return { columnToFilter, operator, values: values.split(",").map((value) => value.trim()) };
}

/**
 * An array becomes the filters; an object is the whole specification.
 * @throws UsageError for anything else.
 */
export function parseFilterJson(json: string): Filter[] | NonNullable<SearchBody["contactSpecification"]> {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    throw usageError(`--filter-json is not JSON: ${(error as Error).message}`);
  }
  if (isObject(value) || Array.isArray(value)) return value as ReturnType<typeof parseFilterJson>;
  throw usageError(
    "--filter-json is neither a JSON array of filters nor a JSON object",
    'Such as \'[{"criterias":[{"columnToFilter":"KEY","operator":"EQ","values":["ada@example.com"]}]}]\'',
  );
}
