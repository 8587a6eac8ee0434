/** Puts a matching state into an empty account of the sandbox, under ids in the order of the recording. */
import type { Store } from "../sandbox/store/index.ts";
import type { KnownContact, KnownStructure, MatchingState } from "./matching-state.ts";

/** Id of the recording → id of the sandbox. */
export type Ids = Map<string, string>;

/** @param now milliseconds since the epoch */
export function seedState(store: Store, state: MatchingState, now: number): Ids {
  const ids = chooseIds(state);
  store.database.transaction(() => {
    store.database.run("DELETE FROM structures");
    for (const [id, structure] of state.structures) putStructure(store, ids, id, structure);
    for (const [id, { structureId, name, version }] of state.lists) {
      const _id = ids.get(id)!;
      store.lists.add(ids.get(structureId)!, { _id, name: name || `list ${_id}`, now });
      store.database.run("UPDATE lists SET version = ? WHERE id = ?", version, _id);
    }
    const [firstStructure] = state.structures.keys();
    if (firstStructure === undefined) return;
    const add = (id: string, contact: KnownContact) =>
      addContact(store, ids, id, { firstStructure, contact, now });
    for (const [id, contact] of state.contacts) add(id, contact);
    const { takenKeys, unseen, unseenStatus: status } = state;
    for (const [index, taken] of takenKeys.entries()) add(`taken ${index}`, { ...taken, status });
    for (let index = 0; index < unseen; index++) add(`unseen ${index}`, { status });
  });
  return ids;
}

/** Ids grow in the order in which the answers gave them; who is in no answer comes last. */
function chooseIds({ structures, lists, contacts, order, takenKeys, unseen }: MatchingState): Ids {
  const { sequences, beginnings } = order;
  const before = new Map<string, string[]>();
  for (const sequence of sequences) {
    for (const [index, id] of sequence.entries()) {
      if (index > 0) before.set(id, [...(before.get(id) ?? []), sequence[index - 1]!]);
    }
  }
  const ids: Ids = new Map();
  const visited = new Set<string>();
  const add = (id: string) => {
    if (visited.has(id)) return;
    visited.add(id);
    for (const each of before.get(id) ?? []) add(each);
    ids.set(id, (ids.size + 1).toString(16).padStart(24, "0"));
  };
  for (const sequence of beginnings) sequence.forEach(add);
  // The longest ones say most.
  for (const sequence of [...sequences].sort((a, b) => b.length - a.length)) sequence.forEach(add);
  for (const [id, { fields, tags }] of structures) [id, ...fields.keys(), ...tags.keys()].forEach(add);
  for (const id of [...lists.keys(), ...contacts.keys()]) add(id);
  for (const index of takenKeys.keys()) add(`taken ${index}`);
  for (let index = 0; index < unseen; index++) add(`unseen ${index}`);
  return ids;
}

function putStructure(store: Store, ids: Ids, id: string, structure: KnownStructure): void {
  const { label, keyName, keyType, fields, tags, version } = structure;
  store.structures.put({
    _id: ids.get(id)!,
    label: label || "Default",
    keyName: keyName ?? "Email",
    keyType: keyType ?? "email",
    fields: [...fields].map(([fieldId, field]) => ({
      dataType: "text",
      required: false,
      ...field,
      _id: ids.get(fieldId)!,
      label: field.label || `field ${fieldId}`,
    })),
    tags: [...tags].map(([tagId, tag]) => ({
      ...tag,
      _id: ids.get(tagId)!,
      label: tag.label || `tag ${tagId}`,
    })),
    __v: version ?? 0,
  });
}

interface ContactToAdd {
  firstStructure: string;
  contact: KnownContact;
  now: number;
}

function addContact(
  store: Store,
  ids: Ids,
  id: string,
  { firstStructure, contact, now }: ContactToAdd,
): void {
  const {
    structureId = firstStructure,
    key,
    fields = [],
    lists = [],
    tags = [],
    status,
    version = 0,
  } = contact;
  const worldId = ids.get(id)!;
  const toIds = (wanted: string[]) => wanted.flatMap((each) => ids.get(each) ?? []);
  store.contacts.add({
    id: worldId,
    structureId: ids.get(structureId)!,
    key: key ?? `unseen-${worldId}@example.com`,
    fields: fields.flatMap(({ _id, value }) => (ids.has(_id) ? { _id: ids.get(_id)!, value } : [])),
    lists: toIds(lists),
    tags: toIds(tags),
    status: status ?? { primary: "active", secondary: "confirmed" },
    createdAt: now,
    updatedAt: now,
    version,
  });
}
