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
        const keys = new Set(values.map(foldKey));
        wanted.keys = [...keys].filter((key) => !wanted.keys || wanted.keys.includes(key));
        break;
      }
      case "CONTACT_STATUS":
        wanted.groups.push(values.map((value) => statusGroup(structure._id, value)));
        break;
      case "LIST_ID":
        wanted.groups.push(values.filter((id) => store.lists.get(structure._id, id)));
        break;
      case "TAG_ID":
        wanted.groups.push(values.filter((id) => structure.tags.some((tag) => tag._id === id)));
        break;
    }
  }
  return wanted;
}
