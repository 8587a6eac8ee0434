/** Searching contacts (specification, POST /api/contact/search; published reference, its filters). */
import type { InferOutput } from "valibot";
import { searchReader, statusGroup } from "../store/contacts.ts";
import type { Store } from "../store/index.ts";
import type { Wanted } from "../store/search.ts";
import type { StoredStructure } from "../store/structures.ts";
import type { Variants } from "../variants.ts";
import { searchAnswer } from "./answers.ts";
import { endpoint } from "./endpoint.ts";
import { sizeOf } from "./pages.ts";
import { invalid } from "./refusal.ts";
import { searchContacts, searchContactsBy } from "./requests.ts";

type Filter = InferOutput<typeof searchContacts>["contactSpecification"]["filters"][number];

// Each becomes a condition of one query, and the database takes no boundless query.
const mostCriterias = 20;
const mostAlternatives = 20;

export const searchEndpoints = [
  endpoint({
    id: "searchContacts",
    method: "post",
    path: "/api/contact/search",
    summary: "Search contacts: those for whom all criterias of one of the filters hold",
    scope: "contacts:read",
    body: searchContacts,
    bodyBy: ({ source }) => searchContactsBy[source],
    result: searchAnswer,
    answer({ store, body, variants }) {
      const structure = store.structures.get(body.contactStructureId);
      if (!structure) {
        throw invalid("contactStructureId is not a contact structure of this account", {
          field: "contactStructureId",
        });
      }
      const size = sizeOf(body.pageSize, "pageSize", variants);
      const { filters } = body.contactSpecification;
      refuseTooMany(filters, variants);
      const alternatives = (filters.length > 0 ? filters : [{ criterias: [] }]).map((filter) =>
        wantedBy(store, structure, filter, variants),
      );
      const wanted = joined(alternatives);
      if (wanted.length > mostAlternatives) {
        throw tooMany(`more than ${mostAlternatives} filters that differ in more than their keys`);
      }
      const found = store.search(wanted, (body.page - 1) * size, size);
      return {
        totalRecords: found.total,
        contacts: found.contacts.map(searchReader(sourceWith(variants, body.source))),
      };
    },
    literal: (answer) => answer,
    vary({ totalRecords, contacts }, { status }) {
      if (status === "parts") return { totalRecords, contacts };
      return {
        totalRecords,
        contacts: contacts.map(({ contactStatus: primary, contactSubStatus: secondary, ...rest }) =>
          primary === undefined && secondary === undefined
            ? rest
            : { ...rest, status: { ...(primary && { primary }), ...(secondary && { secondary }) } },
        ),
      };
    },
  }),
];

/** What comes along unasked (published reference). */
function sourceWith({ source }: Variants, names: string[]): string[] {
  return source === "specified" ? names : ["_id", "contactStructureId", ...names];
}

function refuseTooMany(filters: Filter[], variants: Variants): void {
  const most = variants["max-keys"];
  if (filters.length > most) throw tooMany(`more than ${most} filters`);
  for (const { criterias } of filters) {
    if (criterias.length > mostCriterias) throw tooMany(`more than ${mostCriterias} criterias in a filter`);
    for (const { columnToFilter, values } of criterias) {
      if (columnToFilter === "LIST_ID" && variants.columns === "specified") {
        throw invalid("columnToFilter must be KEY or CONTACT_STATUS", { field: "contactSpecification" });
      }
      if (values.length > most) throw tooMany(`more than ${most} values of a criteria`);
      if (columnToFilter === "KEY" && values.length > 1 && variants.keys === "refused") {
        throw tooMany("more than one value of KEY");
      }
    }
  }
}

function tooMany(what: string) {
  return invalid(`contactSpecification must not hold ${what}`, { field: "contactSpecification" });
}

/** All criterias of a filter must hold, and any value of a criteria will do. */
function wantedBy(
  store: Store,
  structure: StoredStructure,
  { criterias }: Filter,
  variants: Variants,
): Wanted {
  const wanted: Wanted = { structureId: structure._id, keyCase: variants["key-case"], groups: [] };
  for (const { columnToFilter, values } of criterias) {
    switch (columnToFilter) {
      case "KEY": {
        const fold = wanted.keyCase === "fold";
        const keys = (variants.keys === "first" ? values.slice(0, 1) : values).map((key) =>
          fold ? key.toLowerCase() : key,
        );
        const before = wanted.keys && new Set(wanted.keys);
        wanted.keys = [...new Set(keys)].filter((key) => !before || before.has(key));
        break;
      }
      case "CONTACT_STATUS":
        wanted.groups.push(values.map((value) => statusGroup(structure._id, value)));
        break;
      case "LIST_ID":
        wanted.groups.push(values.filter((id) => store.lists.get(structure._id, id)));
        break;
    }
  }
  const asksStatus = criterias.some(({ columnToFilter }) => columnToFilter === "CONTACT_STATUS");
  if (variants.inactive === "hidden" && !asksStatus) {
    wanted.groups.push([statusGroup(structure._id, "active")]);
  }
  return wanted;
}

/** Alternatives that differ in their keys alone become one. */
function joined(alternatives: Wanted[]): Wanted[] {
  const byGroups = new Map<string, Wanted>();
  const others: Wanted[] = [];
  for (const wanted of alternatives) {
    if (!wanted.keys) {
      others.push(wanted);
      continue;
    }
    const name = JSON.stringify(wanted.groups);
    const known = byGroups.get(name);
    if (known) known.keys!.push(...wanted.keys);
    else byGroups.set(name, { ...wanted, keys: [...wanted.keys] });
  }
  return [...byGroups.values(), ...others];
}
