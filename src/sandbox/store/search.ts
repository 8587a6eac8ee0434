/**
 * Finding contacts, in the order of their ids. A page costs what its contacts cost, wherever it lies: a single group is
 * entered at a milestone, and a combination of groups where the page before it ended. Totals are kept, not counted.
 */
import type { Database, Value } from "../database.ts";
import { type Contacts, foldKey, groupsOf, type KeyCase, type StoredContact } from "./contacts.ts";

/** All must hold. */
export interface Wanted {
  structureId: string;
  keyCase: KeyCase;
  /** The contact has one of these keys. */
  keys?: string[];
  /** For each inner array: the contact is in one of these groups. */
  groups: string[][];
}

export interface FoundContacts {
  total: number;
  contacts: StoredContact[];
}

interface FoundIds {
  total: number;
  ids: string[];
}

/** Those for whom one of the alternatives holds. @param count Infinity: all behind the offset */
export type Search = (alternatives: Wanted[], offset: number, count: number) => FoundContacts;

const allOfThem = 2 ** 31;
const milestoneStride = 1000;
const longestUnion = 50;
const combinationsRemembered = 100;
const anchorsRemembered = 16;

/** What is known of a combination of groups, as long as none of them changes. */
interface Combination {
  signature: string;
  total: number;
  /** Offset → the contact before it. */
  anchors: Map<number, string>;
}

export function searchIn(database: Database, contacts: Contacts): Search {
  const combinations = new Map<string, Combination>();
  const find = (alternatives: Wanted[], offset: number, count: number): FoundIds => {
    const possible = alternatives.filter(({ groups }) => groups.every((anyOf) => anyOf.length > 0));
    const [wanted] = possible;
    if (!wanted) return { total: 0, ids: [] };
    if (possible.length > 1) return byAlternatives(database, possible, offset, count);
    if (wanted.keys) return byKeys(database, wanted, wanted.keys, offset, count);
    const sets = setsOf(wanted);
    if (sets.length === 1 && sets[0]!.length === 1) return byGroup(database, sets[0]![0]!, offset, count);
    return byCombination(database, combinations, sets, offset, count);
  };
  return (alternatives, offset, count) => {
    const [wanted] = alternatives;
    if (
      alternatives.length === 1 &&
      wanted?.keys &&
      wanted.groups.length === 0 &&
      wanted.keys.length <= count
    ) {
      // All of them fit into one page: they are read at once, not found first.
      const found = contacts.ofKeys(wanted.structureId, wanted.keys, wanted.keyCase);
      return { total: found.length, contacts: found.slice(offset, offset + count) };
    }
    const { total, ids } = find(alternatives, offset, Math.min(count, allOfThem));
    return { total, contacts: contacts.some(ids) };
  };
}

/** Whether the contact is one of those that are wanted. */
export function isWanted(contact: StoredContact, { structureId, keyCase, keys, groups }: Wanted): boolean {
  if (contact.structureId !== structureId) return false;
  if (keys) {
    const key = keyCase === "fold" ? foldKey(contact.key) : contact.key;
    if (!keys.some((each) => (keyCase === "fold" ? foldKey(each) : each) === key)) return false;
  }
  const has = new Set(groupsOf(contact));
  return groups.every((anyOf) => anyOf.some((group) => has.has(group)));
}

function setsOf({ groups, structureId }: Wanted): string[][] {
  return groups.length === 0 ? [[structureId]] : groups.map((anyOf) => [...new Set(anyOf)].sort());
}

function byKeys(database: Database, wanted: Wanted, keys: string[], offset: number, count: number): FoundIds {
  const [sql, values] = keyWalk(wanted, keys);
  const ids = idsOf(database, `${sql} ORDER BY id`, ...values);
  return { total: ids.length, ids: ids.slice(offset, offset + count) };
}

function keyWalk({ groups, structureId, keyCase }: Wanted, keys: string[]): [sql: string, values: Value[]] {
  const also = groups.map(() => inAnyOf("contacts.id")).join("");
  const [match, wanted] =
    keyCase === "fold"
      ? ["folded_key = wanted.value", keys.map(foldKey)]
      : [
          "folded_key = wanted.value ->> 0 AND contacts.key = wanted.value ->> 1",
          keys.map((key) => [foldKey(key), key]),
        ];
  return [
    `SELECT DISTINCT contacts.id AS id FROM json_each(?) AS wanted
      JOIN contacts ON structure_id = ? AND ${match} WHERE true${also}`,
    [JSON.stringify(wanted), structureId, ...groups.map((anyOf) => JSON.stringify(anyOf))],
  ];
}

/** Several alternatives are counted each time: nobody pages through large ones of them often enough. */
function byAlternatives(database: Database, alternatives: Wanted[], offset: number, count: number): FoundIds {
  const walks = alternatives.map((wanted) =>
    wanted.keys ? keyWalk(wanted, wanted.keys) : walk(setsOf(wanted), ""),
  );
  const sql = walks.map(([each]) => `SELECT id FROM (${each})`).join(" UNION ");
  const values = walks.flatMap(([, each]) => each);
  const row = database.get<{ total: number }>(`SELECT count(*) AS total FROM (${sql})`, ...values);
  const ids = idsOf(database, `${sql} ORDER BY id LIMIT ? OFFSET ?`, ...values, count, offset);
  return { total: row?.total ?? 0, ids };
}

function byGroup(database: Database, groupId: string, offset: number, count: number): FoundIds {
  const total =
    database.get<{ total: number }>("SELECT total FROM totals WHERE group_id = ?", groupId)?.total ?? 0;
  if (offset >= total) return { total, ids: [] };
  const start = milestoneBefore(database, groupId, offset);
  const ids = idsOf(
    database,
    `SELECT contact_id AS id FROM members WHERE group_id = ? AND contact_id > ?
      ORDER BY contact_id LIMIT ? OFFSET ?`,
    groupId,
    start.contactId,
    count,
    offset - start.ordinal,
  );
  return { total, ids };
}

/** The last milestone at or before the offset; those that were missing on the way to it are laid. */
function milestoneBefore(database: Database, groupId: string, offset: number) {
  const known = database.get<{ contact_id: string; ordinal: number }>(
    `SELECT contact_id, ordinal FROM milestones WHERE group_id = ? AND ordinal <= ?
      ORDER BY ordinal DESC LIMIT 1`,
    groupId,
    offset,
  );
  const place = { contactId: known?.contact_id ?? "", ordinal: known?.ordinal ?? 0 };
  while (offset - place.ordinal >= milestoneStride) {
    const next = database.get<{ id: string }>(
      `SELECT contact_id AS id FROM members WHERE group_id = ? AND contact_id > ?
        ORDER BY contact_id LIMIT 1 OFFSET ${milestoneStride - 1}`,
      groupId,
      place.contactId,
    );
    if (!next) break;
    place.contactId = next.id;
    place.ordinal += milestoneStride;
    database.run("INSERT INTO milestones VALUES (?, ?, ?)", groupId, place.contactId, place.ordinal);
  }
  return place;
}

function byCombination(
  database: Database,
  combinations: Map<string, Combination>,
  sets: string[][],
  offset: number,
  count: number,
): FoundIds {
  const ordered = smallestFirst(database, sets);
  const name = JSON.stringify(ordered.sets);
  let known = combinations.get(name);
  if (!known || known.signature !== ordered.signature) {
    const [sql, values] = walk(ordered.sets, "");
    const row = database.get<{ total: number }>(`SELECT count(*) AS total FROM (${sql})`, ...values);
    known = { signature: ordered.signature, total: row?.total ?? 0, anchors: new Map() };
  }
  remember(combinations, name, known, combinationsRemembered);
  if (offset >= known.total) return { total: known.total, ids: [] };

  let start = 0;
  for (const place of known.anchors.keys()) if (place <= offset && place > start) start = place;
  const [sql, values] = walk(ordered.sets, known.anchors.get(start) ?? "");
  const ids = idsOf(database, `${sql} ORDER BY id LIMIT ? OFFSET ?`, ...values, count, offset - start);
  if (ids.length > 0) remember(known.anchors, offset + ids.length, ids.at(-1)!, anchorsRemembered);
  return { total: known.total, ids };
}

/**
 * The set that the walk goes along comes first; the signature changes when any group does, and when the tables are made
 * anew and revisions begin again.
 */
function smallestFirst(database: Database, sets: string[][]): { sets: string[][]; signature: string } {
  const weighed = sets.map((anyOf) => {
    const row = database.get<{ total: number | null; revision: number | null }>(
      "SELECT sum(total) AS total, sum(revision) AS revision FROM json_each(?) AS wanted JOIN totals ON group_id = wanted.value",
      JSON.stringify(anyOf),
    );
    return { anyOf, total: row?.total ?? 0, revision: row?.revision ?? 0 };
  });
  weighed.sort((a, b) => a.total - b.total);
  const tables = database.get<{ schema_version: number }>("PRAGMA schema_version")?.schema_version;
  return {
    sets: weighed.map((each) => each.anyOf),
    signature: [tables, ...weighed.map((each) => each.revision)].join(" "),
  };
}

/** All contacts behind `after` that are in one group of each set, without an order yet. */
function walk([along = [], ...others]: string[][], after: string): [sql: string, values: Value[]] {
  const also = others.map(() => inAnyOf("walked.contact_id")).join("");
  const alsoValues = others.map((anyOf) => JSON.stringify(anyOf));
  // A union of ordered walks is merged as it is read; one walk over many groups has to be sorted first.
  if (along.length > longestUnion) {
    return [
      `SELECT DISTINCT contact_id AS id FROM members AS walked
        WHERE group_id IN (SELECT value FROM json_each(?)) AND contact_id > ?${also}`,
      [JSON.stringify(along), after, ...alsoValues],
    ];
  }
  const one = `SELECT contact_id AS id FROM members AS walked WHERE group_id = ? AND contact_id > ?${also}`;
  return [
    along.map(() => one).join(" UNION "),
    along.flatMap((groupId): Value[] => [groupId, after, ...alsoValues]),
  ];
}

function inAnyOf(contactId: string): string {
  return ` AND EXISTS (SELECT 1 FROM members WHERE group_id IN (SELECT value FROM json_each(?))
    AND contact_id = ${contactId})`;
}

function idsOf(database: Database, sql: string, ...values: Value[]): string[] {
  // One text instead of a row each: a row costs more to hand over than to parse.
  const row = database.get<{ ids: string }>(`SELECT json_group_array(id) AS ids FROM (${sql})`, ...values);
  return JSON.parse(row!.ids);
}

/** Puts an entry last, and forgets the oldest beyond the limit. */
function remember<K, V>(entries: Map<K, V>, name: K, entry: V, limit: number): void {
  entries.delete(name);
  entries.set(name, entry);
  if (entries.size > limit) entries.delete(entries.keys().next().value!);
}
