/** Lists (specification, /api/contact-structure/{contactStructureId}/lists). */

import { pageOf, type StoredList } from "../store/documents.ts";
import type { Store } from "../store/index.ts";
import {
  listAnswer,
  listNamesAnswer,
  listPageAnswer,
  literalList,
  literalNewList,
  newListAnswer,
} from "./answers.ts";
import { endpoint } from "./endpoint.ts";
import { invalid, requireList, requireStructure, stale } from "./refusal.ts";
import {
  createList,
  deleteLists,
  duplicateList,
  limitPageSize,
  listsQuery,
  mergeLists,
  renameList,
} from "./requests.ts";

const lists = "/api/contact-structure/:contactStructureId/lists";

export const listEndpoints = [
  endpoint({
    id: "createList",
    method: "post",
    path: lists,
    summary: "Create a list",
    scope: "contacts:write",
    body: createList,
    result: newListAnswer,
    answer({ store, parameter, body, now }) {
      const structure = requireStructure(store, parameter("contactStructureId"));
      return addList(store, structure._id, body.name, now);
    },
    literal: literalNewList,
  }),
  endpoint({
    id: "listLists",
    method: "get",
    path: lists,
    summary: "List a page of a structure's lists",
    scope: "contacts:read",
    query: listsQuery,
    result: listPageAnswer,
    answer({ store, parameter, query, variants }) {
      const structure = requireStructure(store, parameter("contactStructureId"));
      const { page, criteria = "", sort } = query;
      const size = limitPageSize(query.size, "size", variants);
      const lists = store.lists
        .all(structure._id)
        .filter(({ name }) => name.toLowerCase().includes(criteria.toLowerCase()));
      return pageOf(lists, { page, size, sort });
    },
    literal: ({ total, records }) => ({ total, records: records.map(literalList) }),
    vary: (answer, variants) => (variants.lists === "records" ? answer : answer.records),
  }),
  endpoint({
    id: "listAllLists",
    method: "get",
    path: `${lists}/all`,
    summary: "List all of a structure's lists, without totals",
    scope: "contacts:read",
    result: listNamesAnswer,
    answer: ({ store, parameter }) =>
      store.lists
        .all(requireStructure(store, parameter("contactStructureId"))._id)
        .map(({ _id, name, type }) => ({ _id, name, type })),
    vary: (records, variants) => (variants.lists === "records" ? records : { records }),
  }),
  endpoint({
    id: "getList",
    method: "get",
    path: `${lists}/:listId`,
    summary: "Read one list",
    scope: "contacts:read",
    result: listAnswer,
    answer: ({ store, parameter }) =>
      requireList(store, parameter("contactStructureId"), parameter("listId")),
  }),
  endpoint({
    id: "renameList",
    method: "patch",
    path: `${lists}/:listId`,
    summary: "Rename a list",
    scope: "contacts:write",
    body: renameList,
    result: listAnswer,
    answer({ store, parameter, body, now }) {
      const list = requireList(store, parameter("contactStructureId"), parameter("listId"));
      if (body.__v !== undefined && body.__v !== list.__v) throw stale("list");
      store.lists.rename(list._id, body.name, now);
      return requireList(store, parameter("contactStructureId"), list._id);
    },
  }),
  endpoint({
    id: "deleteList",
    method: "delete",
    path: `${lists}/:listId`,
    summary: "Delete a list; its contacts stay",
    scope: "contacts:write",
    status: 204,
    answer({ store, parameter }) {
      removeList(store, requireList(store, parameter("contactStructureId"), parameter("listId")));
      return undefined;
    },
  }),
  endpoint({
    id: "deleteLists",
    method: "delete",
    path: lists,
    summary: "Delete several lists; their contacts stay",
    scope: "contacts:write",
    body: deleteLists,
    status: 204,
    answer({ store, parameter, body }) {
      const structure = requireStructure(store, parameter("contactStructureId"));
      for (const list of requireLists(store, structure._id, body.lists)) removeList(store, list);
      return undefined;
    },
  }),
  endpoint({
    id: "mergeLists",
    method: "post",
    path: `${lists}/merge`,
    summary: "Make a new list of everyone in several lists, which stay",
    scope: "contacts:write",
    body: mergeLists,
    result: newListAnswer,
    answer({ store, parameter, body, now }) {
      const structure = requireStructure(store, parameter("contactStructureId"));
      const sources = requireLists(store, structure._id, body.lists);
      const merged = addList(store, structure._id, body.name, now);
      store.contacts.copyMembers(
        sources.map((list) => list._id),
        merged._id,
      );
      return merged;
    },
  }),
  endpoint({
    id: "duplicateList",
    method: "post",
    path: `${lists}/:listId/duplicate`,
    summary: "Make a new list of everyone in a list",
    scope: "contacts:write",
    body: duplicateList,
    status: 201,
    result: newListAnswer,
    answer({ store, parameter, body, now }) {
      const structure = requireStructure(store, parameter("contactStructureId"));
      const original = requireList(store, structure._id, parameter("listId"));
      const copy = addList(store, structure._id, body.name, now);
      store.contacts.copyMembers([original._id], copy._id);
      return copy;
    },
  }),
];

/** A new list as it is answered: without totals. */
function addList(store: Store, structureId: string, name: string, now: number) {
  const [newId] = store.newIds(now, 1) as [string];
  store.lists.add(structureId, { _id: newId, name, now });
  const {
    totalContacts: _contacts,
    totalCampaigns: _campaigns,
    ...list
  } = requireList(store, structureId, newId);
  return list;
}

function removeList(store: Store, list: StoredList): void {
  store.contacts.drop("lists", list._id);
  store.lists.remove(list._id);
}

/** The lists that a body names. @throws Refusal when one of them is not in the structure */
function requireLists(store: Store, structureId: string, refs: { _id: string }[]): StoredList[] {
  return refs.map(({ _id }) => {
    const list = store.lists.get(structureId, _id);
    if (!list) throw invalid("lists names an unknown list id", { field: "lists" });
    return list;
  });
}
