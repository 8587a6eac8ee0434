/** Searching contacts (specification, POST /api/contact/search; published reference, its filters). */
import type { InferOutput } from "valibot";
import { foldKey, searchedParts } from "../store/contacts.ts";
import type { StoredStructure } from "../store/documents.ts";
import type { Store } from "../store/index.ts";
import type { StoredContactQuery } from "../store/search.ts";
import type { Variants } from "../variants.ts";
import { searchAnswer } from "./answers.ts";
import { endpoint } from "./endpoint.ts";
import { invalid, requireNamedStructure } from "./refusal.ts";
import { limitPageSize, searchContacts, searchContactsBy } from "./requests.ts";

type Filter = InferOutput<typeof searchContacts>["contactSpecification"]["filters"][number];
type Criteria = Filter["criterias"][number];

// Each becomes a condition of one query, and the database does not take a query of any length.
const maxCriterias = 20;
const maxAlternatives = 20;

export const searchEndpoints = [
  endpoint({
    id: "searchContacts",
    method: "post",
    path: "/api/contact/search",
    summary: "Search contacts: those that all criterias of one of the filters hold for",
    scope: "contacts:read",
    body: searchContacts,
    bodyBy: ({ source }) => searchContactsBy[source],
    result: searchAnswer,
    answer({ store, body, variants }) {
      const structure = requireNamedStructure(store, body.contactStructureId);
      const size = limitPageSize(body.pageSize, "pageSize", variants);
      const { filters } = body.contactSpecification;
      refuseTooMany(filters, variants);
      const alternatives = (filters.length > 0 ? filters : [{ criterias: [] }]).map((filter) =>
        toQuery(store, structure, filter, variants),
      );
      const queries = mergeKeys(alternatives);
      if (queries.length > maxAlternatives) {
        throw tooMany(`more than ${maxAlternatives} filters that differ in more than their keys`);
      }
      const found = store.search.find(queries, (body.page - 1) * size, size);
      return {
        totalRecords: found.total,
        contacts: found.contacts.map(searchedParts(answeredNames(variants, body.source))),
      };
    },
    literal: (answer) => answer,
  }),
];

/** Ids come along unasked (published reference). */
function answeredNames({ source }: Variants, names: string[]): string[] {
  return source === "specified" ? names : ["_id", "contactStructureId", ...names];
}

function refuseTooMany(filters: Filter[], variants: Variants): void {
  const maxFilters = variants["max-keys"];
  if (filters.length > maxFilters) throw tooMany(`more than ${maxFilters} filters`);
  for (const { criterias } of filters) {
    if (criterias.length > maxCriterias) throw tooMany(`more than ${maxCriterias} criterias in a filter`);
    for (const each of criterias) refuseCriteria(each, variants);
  }
}

function refuseCriteria({ columnToFilter, values }: Criteria, variants: Variants): void {
  if (columnToFilter === "LIST_ID" && variants.literal === "yes") {
    throw invalid("columnToFilter must be KEY or CONTACT_STATUS", { field: "contactSpecification" });
  }
  const maxValues = variants["max-keys"];
  if (values.length > maxValues) throw tooMany(`more than ${maxValues} values of a criteria`);
  if (columnToFilter === "KEY" && values.length > 1 && variants.keys === "refused") {
    throw tooMany("more than one value of KEY");
  }
}

function tooMany(what: string) {
  return invalid(`contactSpecification must not hold ${what}`, { field: "contactSpecification" });
}

/** All criterias of a filter must hold, and any value of a criteria will do. */
function toQuery(
  store: Store,
  structure: StoredStructure,
  { criterias }: Filter,
  variants: Variants,
): StoredContactQuery {
  const query: StoredContactQuery = { structureId: structure._id, statuses: [], lists: [] };
  for (const { columnToFilter, values } of criterias) {
    switch (columnToFilter) {
      case "KEY":
        query.keys = commonKeys(query, variants.keys === "first" ? values.slice(0, 1) : values);
        break;
      case "CONTACT_STATUS":
        query.statuses.push(values.map((value) => value.toLowerCase()));
        break;
      case "LIST_ID":
        query.lists.push(values.filter((id) => store.lists.has(structure._id, id)));
        break;
    }
  }
  return query;
}

/** The keys that a further criteria leaves of those of the query. */
function commonKeys({ keys }: StoredContactQuery, values: string[]): string[] {
  const wanted = new Set(values.map(foldKey));
  return keys ? keys.filter((key) => wanted.has(key)) : [...wanted];
}

/** Alternatives that differ in their keys alone become one. */
function mergeKeys(alternatives: StoredContactQuery[]): StoredContactQuery[] {
  const byGroups = new Map<string, StoredContactQuery>();
  const others: StoredContactQuery[] = [];
  for (const query of alternatives) {
    if (!query.keys) {
      others.push(query);
      continue;
    }
    const name = JSON.stringify([query.statuses, query.lists]);
    const known = byGroups.get(name);
    if (known) known.keys!.push(...query.keys);
    else byGroups.set(name, { ...query, keys: [...query.keys] });
  }
  return [...byGroups.values(), ...others];
}
