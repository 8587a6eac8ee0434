/**
 * What a search is to find, as typed → what the service decides, and what is decided here. Names of lists and
 * tags resolve to ids here.
 */

import { createEquals, createFilter } from "../api/contacts.ts";
import { normalizeKey } from "../api/key-spelling.ts";
import { isEmailKey } from "../api/structures.ts";
import { usageError } from "../errors.ts";
import type { Account } from "../service/account.ts";
import { resolveListRefs, resolveTagRefs } from "../service/contact-changes.ts";
import type { ListFilters } from "../service/contact-search.ts";
import type { ContactStructure, Criteria, Filter, SearchBody } from "../wire.ts";
import { type Conditions, combine, createSecondaryCondition, createTagCondition } from "./conditions.ts";
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
 * @param alternatives filters as typed: what is found matches one of them, and everything else that is wanted
 */
export async function resolveContactConditions(
  account: Account,
  structure: ContactStructure,
  requested: RequestedContacts,
  alternatives: Filter[] = [],
): Promise<Conditions> {
  // As it was typed, and as an import would have written it.
  const keys = [...new Set(requested.key?.flatMap((key) => [key, normalizeKey(key, structure.keyType)]))];
  const areSeveral = keys.length > 1 && alternatives.length === 0;
  const status = requested.status === undefined ? undefined : parseStatus(requested.status);
  const criterias: Criteria[] = [
    ...(keys.length > 0 && !areSeveral ? [createEquals("KEY", keys)] : []),
    ...(status ? [createEquals("CONTACT_STATUS", [status.primary])] : []),
    ...(requested.filter ?? []).map(parseFilter),
  ];
  for (const criteria of criterias) criteria.values = await resolveIds(account, structure, criteria);
  const ofLists = await createListFilters(account, structure, requested.list);
  const filters =
    alternatives.length === 0
      ? ofLists(criterias)
      : alternatives.flatMap((filter) =>
          Array.isArray(filter?.criterias) && requested.list?.length
            ? ofLists([...criterias, ...filter.criterias])
            : addCriterias(filter, criterias),
        );
  const keeps = combine(
    requested.tag?.length
      ? createTagCondition(await resolveTagIds(account, structure, requested.tag))
      : undefined,
    status && createSecondaryCondition(status),
  );
  return {
    filters,
    ...(areSeveral && { keys: { values: keys, areEmails: isEmailKey(structure.keyType) } }),
    ...(keeps && { keeps }),
  };
}

async function createListFilters(
  account: Account,
  structure: ContactStructure,
  names: readonly string[] = [],
): Promise<ListFilters> {
  if (names.length === 0) return (further = []) => createFilter(...further);
  const lists = await resolveListRefs(account, structure, names);
  return account.anyOfLists(
    structure,
    lists.map(({ _id }) => _id),
  );
}

/** A filter that has no criterias of its own is the service's to refuse. */
function addCriterias(filter: Filter, criterias: Criteria[]): Filter {
  if (criterias.length === 0 || !Array.isArray(filter?.criterias)) return filter;
  return { ...filter, criterias: [...criterias, ...filter.criterias] };
}

/** @throws NotFoundError */
export async function resolveTagIds(
  account: Account,
  structure: ContactStructure,
  labels: readonly string[],
): Promise<string[]> {
  return (await resolveTagRefs(account, structure, labels)).map(({ _id }) => _id);
}

/**
 * Any column and operator passes; which exist is the service's to say. A value in double quotes may hold
 * commas.
 */
export function parseFilter(text: string): Criteria {
  const [, columnToFilter, operator, values] = /^\s*(\S+)\s+(\S+)\s+(\S[\s\S]*?)\s*$/.exec(text) ?? [];
  if (!columnToFilter || !operator || !values) {
    throw usageError(
      `--filter ${JSON.stringify(text)} is not "COLUMN OPERATOR VALUE[,VALUE]…"`,
      'Such as --filter "CONTACT_STATUS EQ active"; for anything else use --filter-json',
    );
  }
  return { columnToFilter, operator, values: splitValues(values) };
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
  if (typeof value === "object" && value !== null) return value as ReturnType<typeof parseFilterJson>;
  throw usageError(
    "--filter-json is neither an array of filters nor an object",
    'Such as \'[{"criterias":[{"columnToFilter":"KEY","operator":"EQ","values":["ada@example.com"]}]}]\'',
  );
}

async function resolveIds(
  account: Account,
  structure: ContactStructure,
  criteria: Criteria,
): Promise<string[]> {
  const column = criteria.columnToFilter.toUpperCase();
  if (column === "TAG_ID") return resolveTagIds(account, structure, criteria.values);
  if (column !== "LIST_ID") return criteria.values;
  return (await resolveListRefs(account, structure, criteria.values)).map(({ _id }) => _id);
}

function splitValues(text: string): string[] {
  const values: string[] = [];
  const value = /\s*(?:"((?:[^"]|"")*)"\s*|([^",][^,]*?|)\s*)(,|$)/y;
  for (;;) {
    const match = value.exec(text);
    if (!match) throw usageError(`--filter: a quote in ${JSON.stringify(text)} is not closed`);
    values.push(match[1]?.replaceAll('""', '"') ?? match[2]!);
    if (match[3] === "") return values;
  }
}
