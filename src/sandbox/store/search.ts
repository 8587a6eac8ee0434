/**
 * Finding contacts, in the order of their ids. A page is entered by its offset in the
 * index of memberships, or right after the last page that was read of the same search, as
 * long as no contact has joined or left its groups since.
 */
import type { Database, Value } from "../database.ts";
import {
  type ContactStore,
  contactGroups,
  foldKey,
  type StoredContact,
  type UnseenWrites,
} from "./contacts.ts";

/** All conditions must hold. */
export interface StoredContactQuery {
  structureId: string;
  /** The contact has one of these keys. */
  keys?: string[];
  /** For each inner array: the contact is in one of these groups. */
  groups: string[][];
}

export interface FoundContacts {
  total: number;
  contacts: StoredContact[];
}

const maxCount = 2 ** 31;
const maxUnion = 50;
const maxRemembered = 100;

/** A search by groups and its last page; valid as long as none of the groups changes. */
interface Remembered {
  signature: string;
  total: number;
  /** Where the last page ended: the number of contacts up to there, and the last one's id. */
  end: { offset: number; id: string };
}

/** A query that selects ids, without an order. */
type Selection = [sql: string, values: Value[]];

const start = { offset: 0, id: "" };

export class ContactSearch {
  private readonly database: Database;
  private readonly contacts: ContactStore;
  private readonly unseen: UnseenWrites | undefined;
  private readonly remembered = new Map<string, Remembered>();

  /** @param unseen writes that it does not see yet */
  constructor(database: Database, contacts: ContactStore, unseen?: UnseenWrites) {
    this.database = database;
    this.contacts = contacts;
    this.unseen = unseen;
  }

  /** The contacts for which one of the alternatives holds. */
  find(alternatives: StoredContactQuery[], offset: number, count: number): FoundContacts {
    const earlier = this.unseen?.statesBefore();
    if (!earlier?.size) return this.findNow(alternatives, offset, count);
    const now = this.findNow(alternatives, 0, maxCount).contacts;
    const before = [...earlier.values()].filter(
      (contact) => contact !== undefined && alternatives.some((query) => matches(contact, query)),
    ) as StoredContact[];
    const shown = [...now.filter(({ id }) => !earlier.has(id)), ...before];
    shown.sort((a, b) => (a.id < b.id ? -1 : 1));
    return { total: shown.length, contacts: shown.slice(offset, offset + count) };
  }

  private findNow(alternatives: StoredContactQuery[], offset: number, count: number): FoundContacts {
    const possible = alternatives.filter(({ groups }) => groups.every((anyOf) => anyOf.length > 0));
    const [first] = possible;
    if (!first) return { total: 0, contacts: [] };
    const isByKeyAlone = possible.length === 1 && first.groups.length === 0;
    if (isByKeyAlone && first.keys && first.keys.length <= count) {
      // All of them fit into one page: one query reads them.
      const found = this.contacts.findByKeys(first.structureId, first.keys);
      return { total: found.length, contacts: found.slice(offset, offset + count) };
    }
    const isByGroups = possible.every(({ keys }) => keys === undefined);
    const { total, ids } = isByGroups
      ? this.findByGroups(possible, offset, count)
      : this.findByKeys(possible, offset, count);
    return { total, contacts: this.contacts.getAll(ids) };
  }

  private findByKeys(alternatives: StoredContactQuery[], offset: number, count: number) {
    const selection = union(
      alternatives.map((query) => (query.keys ? keySelection(query, query.keys) : groupSelection(query, ""))),
    );
    const total = this.count(selection);
    return { total, ids: this.selectIds(selection, count, offset) };
  }

  private findByGroups(alternatives: StoredContactQuery[], offset: number, count: number) {
    const name = JSON.stringify(alternatives);
    const ordered = alternatives.map((query) => this.smallestFirst(query));
    const signature = this.signature(ordered.map(({ revision }) => revision));
    const queries = ordered.map(({ query }) => query);
    let known = this.remembered.get(name);
    if (known?.signature !== signature) known = { signature, total: this.total(queries), end: start };
    const from = known.end.offset <= offset ? known.end : start;
    let ids: string[] = [];
    if (offset < known.total) {
      const selection = union(queries.map((query) => groupSelection(query, from.id)));
      ids = this.selectIds(selection, count, offset - from.offset);
    }
    const last = ids.at(-1);
    const end = last === undefined ? known.end : { offset: offset + ids.length, id: last };
    this.remember(name, { ...known, end });
    return { total: known.total, ids };
  }

  /** The total of a single group is kept with its memberships; others are counted. */
  private total(queries: StoredContactQuery[]): number {
    const [sets] = queries.map(groupSets);
    const [[groupId, ...others] = [], ...otherSets] = sets!;
    const isOneGroup = queries.length === 1 && others.length === 0 && otherSets.length === 0;
    if (!isOneGroup) return this.count(union(queries.map((query) => groupSelection(query, ""))));
    const row = this.database.get<{ total: number }>("SELECT total FROM totals WHERE group_id = ?", groupId!);
    return row?.total ?? 0;
  }

  /**
   * Puts the smallest set first: the search walks along that one. The revision grows with each change of a
   * group.
   */
  private smallestFirst(query: StoredContactQuery): { query: StoredContactQuery; revision: number } {
    const sets = groupSets(query).map((anyOf) => {
      const row = this.database.get<{ total: number | null; revision: number | null }>(
        `SELECT sum(total) AS total, sum(revision) AS revision FROM json_each(?) AS wanted
          JOIN totals ON group_id = wanted.value`,
        JSON.stringify(anyOf),
      );
      return { anyOf, total: row?.total ?? 0, revision: row?.revision ?? 0 };
    });
    sets.sort((a, b) => a.total - b.total);
    return {
      query: { ...query, groups: sets.map(({ anyOf }) => anyOf) },
      revision: sets.reduce((sum, { revision }) => sum + revision, 0),
    };
  }

  /** Changes when a group changes, and when the tables are replaced, where revisions begin again. */
  private signature(revisions: number[]): string {
    const tables = this.database.get<{ schema_version: number }>("PRAGMA schema_version")?.schema_version;
    return [tables, ...revisions].join(" ");
  }

  private count([sql, values]: Selection): number {
    const row = this.database.get<{ total: number }>(`SELECT count(*) AS total FROM (${sql})`, ...values);
    return row?.total ?? 0;
  }

  private selectIds([sql, values]: Selection, count: number, offset: number): string[] {
    // One text instead of a row each: a row costs more to hand over than to parse.
    const row = this.database.get<{ ids: string }>(
      `SELECT json_group_array(id) AS ids FROM (${sql} ORDER BY id LIMIT ? OFFSET ?)`,
      ...values,
      count,
      offset,
    );
    return JSON.parse(row!.ids);
  }

  /** Puts an entry last, and forgets the oldest beyond the limit. */
  private remember(name: string, entry: Remembered): void {
    this.remembered.delete(name);
    this.remembered.set(name, entry);
    if (this.remembered.size > maxRemembered) this.remembered.delete(this.remembered.keys().next().value!);
  }
}

/** Whether the contact is one of those that the query asks for. */
function matches(contact: StoredContact, { structureId, keys, groups }: StoredContactQuery): boolean {
  if (contact.structureId !== structureId) return false;
  if (keys) {
    if (!keys.some((key) => foldKey(key) === foldKey(contact.key))) return false;
  }
  const memberGroups = new Set(contactGroups(contact));
  return groups.every((anyOf) => anyOf.some((group) => memberGroups.has(group)));
}

/** For each condition the groups of which one will do; without any condition, everyone in the structure. */
function groupSets({ groups, structureId }: StoredContactQuery): string[][] {
  return groups.length === 0 ? [[structureId]] : groups.map((anyOf) => [...new Set(anyOf)]);
}

function union(selections: Selection[]): Selection {
  const [only, ...others] = selections;
  if (only && others.length === 0) return only;
  return [
    selections.map(([sql]) => `SELECT id FROM (${sql})`).join(" UNION "),
    selections.flatMap(([, values]) => values),
  ];
}

function keySelection({ groups, structureId }: StoredContactQuery, keys: string[]): Selection {
  const conditions = groups.map(() => isMember("contacts.id")).join("");
  return [
    `SELECT DISTINCT contacts.id AS id FROM json_each(?) AS wanted
      JOIN contacts ON structure_id = ? AND folded_key = wanted.value WHERE true${conditions}`,
    [JSON.stringify(keys.map(foldKey)), structureId, ...groups.map((anyOf) => JSON.stringify(anyOf))],
  ];
}

/** All contacts after an id that are in one group of each set. */
function groupSelection(query: StoredContactQuery, after: string): Selection {
  const [along = [], ...others] = groupSets(query);
  const conditions = others.map(() => isMember("walked.contact_id")).join("");
  const conditionValues = others.map((anyOf) => JSON.stringify(anyOf));
  // A union of ordered walks is merged as it is read; one walk over many groups has to be sorted first.
  if (along.length > maxUnion) {
    return [
      `SELECT DISTINCT contact_id AS id FROM members AS walked
        WHERE group_id IN (SELECT value FROM json_each(?)) AND contact_id > ?${conditions}`,
      [JSON.stringify(along), after, ...conditionValues],
    ];
  }
  const one = `SELECT contact_id AS id FROM members AS walked WHERE group_id = ? AND contact_id > ?${conditions}`;
  return [
    along.map(() => one).join(" UNION "),
    along.flatMap((groupId): Value[] => [groupId, after, ...conditionValues]),
  ];
}

function isMember(contactId: string): string {
  return ` AND EXISTS (SELECT 1 FROM members WHERE group_id IN (SELECT value FROM json_each(?))
    AND contact_id = ${contactId})`;
}
