/** Searching contacts (specification, POST /api/contact/search). */
import { foldKey, statusGroup, toPartialWire } from "../store/contacts.ts";
import type { Store } from "../store/index.ts";
import type { Wanted } from "../store/search.ts";
import type { StoredStructure } from "../store/structures.ts";
import { searchAnswer } from "./answers.ts";
import { endpoint } from "./endpoint.ts";
import { invalid } from "./refusal.ts";
import { searchContacts } from "./requests.ts";

interface Criteria {
  columnToFilter: "KEY" | "CONTACT_STATUS" | "LIST_ID" | "TAG_ID";
  values: string[];
}

// Each becomes a condition of one query, and the database takes no boundless query.
const mostCriterias = 20;

export const searchEndpoints = [
  endpoint({
    method: "post",
    path: "/api/contact/search",
    summary: "Search contacts: all filters must hold, any value of a criteria will do",
    scope: "contacts:read",
    body: searchContacts,
    result: searchAnswer,
    answer({ store, body }) {
      const structure = store.structures.get(body.contactStructureId);
      if (!structure) {
        throw invalid("contactStructureId is not a contact structure of this account", {
          field: "contactStructureId",
        });
      }
      const criterias = body.contactSpecification.filters.flatMap((filter) => filter.criterias);
      if (criterias.length > mostCriterias) {
        throw invalid(`contactSpecification must not hold more than ${mostCriterias} criterias`, {
          field: "contactSpecification",
        });
      }
      const wanted = wantedBy(store, structure, criterias);
      const found = store.search(wanted, (body.page - 1) * body.pageSize, body.pageSize);
      const source = new Set(body.source);
      return {
        totalRecords: found.total,
        contacts: found.contacts.map((contact) => toPartialWire(contact, source)),
      };
    },
  }),
];

function wantedBy(store: Store, structure: StoredStructure, criterias: Criteria[]): Wanted {
  const wanted: Wanted = { structureId: structure._id, groups: [] };
  for (const { columnToFilter, values } of criterias) {
    switch (columnToFilter) {
      case "KEY": {
        const before = wanted.keys && new Set(wanted.keys);
        wanted.keys = [...new Set(values.map(foldKey))].filter((key) => !before || before.has(key));
        break;
      }
      case "CONTACT_STATUS":
        wanted.groups.push(values.map((value) => statusGroup(structure._id, value)));
        break;
      case "LIST_ID":
        wanted.groups.push(values.filter((id) => store.lists.get(structure._id, id)));
        break;
      case "TAG_ID": {
        const tags = new Set(structure.tags.map((tag) => tag._id));
        wanted.groups.push(values.filter((id) => tags.has(id)));
        break;
      }
    }
  }
  return wanted;
}
