/** What the page at /__sandbox/ shows of the account: by names, not by ids. */
import type { Store } from "../store/index.ts";

export interface AccountOverview {
  total: number;
  /** The newest first. */
  contacts: {
    key: string;
    status: { primary: string; secondary?: string };
    fields: Record<string, string>;
    lists: string[];
    tags: string[];
  }[];
  lists: { name: string; contacts: number }[];
}

const mostContacts = 100;

export function accountOverview(store: Store): AccountOverview {
  const structure = store.structures.all()[0]!;
  const lists = store.lists.all(structure._id);
  const names = new Map(
    [...structure.fields, ...structure.tags, ...lists].map((each) => [
      each._id,
      "name" in each ? each.name : each.label,
    ]),
  );
  const nameOf = (id: string) => names.get(id) ?? id;
  const everyone = [{ structureId: structure._id, keyCase: "fold" as const, groups: [] }];
  const { total } = store.search(everyone, 0, 0);
  const newest = store.search(everyone, Math.max(0, total - mostContacts), mostContacts).contacts.reverse();
  return {
    total,
    contacts: newest.map(({ key, status, fields, lists, tags }) => ({
      key,
      status,
      fields: Object.fromEntries(fields.map(({ _id, value }) => [nameOf(_id), value])),
      lists: lists.map(nameOf),
      tags: tags.map(nameOf),
    })),
    lists: lists.map(({ name, totalContacts }) => ({ name, contacts: totalContacts })),
  };
}
