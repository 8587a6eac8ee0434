/** Lists (specification, /api/contact-structure/{contactStructureId}/lists). */

import type { Store } from "../store/index.ts";
import type { ListPage, StoredList } from "../store/lists.ts";
import { listAnswer, listPageAnswer, listsAnswer } from "./answers.ts";
import { endpoint } from "./endpoint.ts";
import { notFound, stale } from "./refusal.ts";
import { createList, listsQuery, renameList } from "./requests.ts";
import { structureOf } from "./structures.ts";

const lists = "/api/contact-structure/:contactStructureId/lists";

export const listEndpoints = [
  endpoint({
    method: "post",
    path: lists,
    summary: "Create a list",
    scope: "contacts:write",
    body: createList,
    result: listAnswer,
    answer({ store, parameter, body, now }) {
      const structure = structureOf(store, parameter("contactStructureId"));
      const [_id] = store.newIds(now, 1) as [string];
      store.lists.add(structure._id, { _id, name: body.name, now });
      return listOf(store, structure._id, _id);
    },
  }),
  endpoint({
    method: "get",
    path: lists,
    summary: "List a page of a structure's lists",
    scope: "contacts:read",
    query: listsQuery,
    result: listPageAnswer,
    answer({ store, parameter, query }) {
      const structure = structureOf(store, parameter("contactStructureId"));
      const [sort = "_id", direction = "asc"] = (query.sort?.split(":") ?? []) as [
        ListPage["sort"]?,
        ListPage["direction"]?,
      ];
      const { page, size, criteria } = query;
      const found = store.lists.page(structure._id, { page, size, sort, direction, nameHolds: criteria });
      return { total: found.total, records: found.lists };
    },
  }),
  endpoint({
    method: "get",
    path: `${lists}/all`,
    summary: "List all of a structure's lists, without totals",
    scope: "contacts:read",
    result: listsAnswer,
    answer: ({ store, parameter }) =>
      store.lists
        .all(structureOf(store, parameter("contactStructureId"))._id)
        .map(({ totalContacts: _, ...list }) => list),
  }),
  endpoint({
    method: "get",
    path: `${lists}/:listId`,
    summary: "Read one list",
    scope: "contacts:read",
    result: listAnswer,
    answer: ({ store, parameter }) => listOf(store, parameter("contactStructureId"), parameter("listId")),
  }),
  endpoint({
    method: "patch",
    path: `${lists}/:listId`,
    summary: "Rename a list",
    scope: "contacts:write",
    body: renameList,
    result: listAnswer,
    answer({ store, parameter, body, now }) {
      const list = listOf(store, parameter("contactStructureId"), parameter("listId"));
      if (body.__v !== undefined && body.__v !== list.__v) throw stale("list");
      store.lists.rename(list._id, body.name, now);
      return listOf(store, parameter("contactStructureId"), list._id);
    },
  }),
  endpoint({
    method: "delete",
    path: `${lists}/:listId`,
    summary: "Delete a list; its contacts stay",
    scope: "contacts:write",
    status: 204,
    answer({ store, parameter }) {
      const list = listOf(store, parameter("contactStructureId"), parameter("listId"));
      store.contacts.dissolveGroup("lists", list._id);
      store.lists.remove(list._id);
      return undefined;
    },
  }),
];

function listOf(store: Store, structureId: string, id: string): StoredList {
  const list = store.lists.get(structureOf(store, structureId)._id, id);
  if (!list) throw notFound("List");
  return list;
}
