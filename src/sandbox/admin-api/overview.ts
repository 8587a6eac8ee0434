/** What the page at /__sandbox/ shows of the account: by names, not by ids. */
import type { Store } from "../store/index.ts";

const maxContacts = 100;

/** The newest contacts first. */
export function accountOverview(store: Store) {
  const structure = store.structures.all()[0]!;
  const lists = store.lists.all(structure._id);
  const names = new Map([
    ...[...structure.fields, ...structure.tags].map(({ _id, label }) => [_id, label] as const),
    ...lists.map(({ _id, name }) => [_id, name] as const),
  ]);
  const nameById = (id: string) => names.get(id) ?? id;
  const everyone = [{ structureId: structure._id, statuses: [], lists: [] }];
  const { total } = store.search.find(everyone, 0, 1);
  const newest = store.search
    .find(everyone, Math.max(0, total - maxContacts), maxContacts)
    .contacts.reverse();
  return {
    total,
    contacts: newest.map(({ key, status, fields, lists, tags }) => ({
      key,
      status,
      fields: Object.fromEntries(fields.map(({ _id, value }) => [nameById(_id), value])),
      lists: lists.map(nameById),
      tags: tags.map(nameById),
    })),
    lists: lists.map(({ name, totalContacts }) => ({ name, contacts: totalContacts })),
  };
}
