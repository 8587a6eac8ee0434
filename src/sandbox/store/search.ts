/** Finding contacts, in the order of their ids. */
import { type Database, Tables, type Value } from "../database.ts";
import { type ContactStore, foldKey, type StoredContact, type UnseenWrites } from "./contacts.ts";

/** All conditions must hold. */
export interface StoredContactQuery {
  structureId: string;
  /** The contact has one of these keys, which are folded. */
  keys?: string[];
  /** For each inner array: the contact has one of these primary statuses, in lower case. */
  statuses: string[][];
  /** For each inner array: the contact is in one of these lists. */
  lists: string[][];
}

interface FoundContacts {
  total: number;
  contacts: StoredContact[];
}

const all = 2 ** 31;

export class ContactSearch extends Tables {
  private readonly contacts: ContactStore;
  private readonly unseen: UnseenWrites | undefined;

  /** @param unseen writes that it does not see yet */
  constructor(database: Database, contacts: ContactStore, unseen?: UnseenWrites) {
    super(database);
    this.contacts = contacts;
    this.unseen = unseen;
  }

  /** The contacts for which one of the alternatives holds. */
  find(alternatives: StoredContactQuery[], offset: number, count: number): FoundContacts {
    const unseen = this.unseen?.current();
    if (!unseen?.size) return this.findNow(alternatives, offset, count);
    const now = this.findNow(alternatives, 0, all).contacts.filter(({ id }) => !unseen.has(id));
    const before = Array.from(unseen.values(), ([oldest]) => oldest!.before).filter(
      (contact) => contact !== undefined && alternatives.some((query) => matches(contact, query)),
    ) as StoredContact[];
    const shown = [...now, ...before].sort((a, b) => (a.id < b.id ? -1 : 1));
    return { total: shown.length, contacts: shown.slice(offset, offset + count) };
  }

  private findNow(alternatives: StoredContactQuery[], offset: number, count: number): FoundContacts {
    const selections = alternatives.map(toSelection);
    const sql = selections.map((each) => each.sql).join(" UNION ");
    const values = selections.flatMap((each) => each.values);
    const row = this.database.get<{ ids: string }>(
      `SELECT json_group_array(id) AS ids FROM (SELECT id FROM (${sql}) ORDER BY id LIMIT ? OFFSET ?)`,
      ...values,
      count,
      offset,
    );
    const ids: string[] = JSON.parse(row!.ids);
    // A key is one contact's at most.
    const most = alternatives.reduce((sum, { keys }) => sum + (keys?.length ?? count + 1), 0);
    const isWhole = offset === 0 && (ids.length < count || most <= count);
    const total = isWhole
      ? ids.length
      : this.database.get<{ total: number }>(`SELECT count(*) AS total FROM (${sql})`, ...values)!.total;
    return { total, contacts: this.contacts.getAll(ids) };
  }
}

/** Whether the contact is one of those that the query asks for. */
function matches(
  contact: StoredContact,
  { structureId, keys, statuses, lists }: StoredContactQuery,
): boolean {
  return (
    contact.structureId === structureId &&
    (keys === undefined || keys.includes(foldKey(contact.key))) &&
    statuses.every((anyOf) => anyOf.includes(contact.status.primary.toLowerCase())) &&
    lists.every((anyOf) => anyOf.some((list) => contact.lists.includes(list)))
  );
}

type Condition = [sql: string, value: Value];

/** An equality keeps the order of an index. */
function isOneOf(column: string, values: string[]): Condition {
  if (values.length === 1) return [`${column} = ?`, values[0]!];
  return [`${column} IN (SELECT value FROM json_each(?))`, JSON.stringify(values)];
}

/** A query for ids, without an order. Where nothing but lists is asked for, it walks along their members. */
function toSelection({ structureId, keys, statuses, lists }: StoredContactQuery): {
  sql: string;
  values: Value[];
} {
  const isByLists = keys === undefined && statuses.length === 0 && lists.length > 0;
  const id = isByLists ? "walked.contact_id" : "contacts.id";
  const [first = [], ...others] = isByLists ? lists : [[], ...lists];
  const conditions: Condition[] = isByLists
    ? [isOneOf("list_id", first)]
    : [
        ["structure_id = ?", structureId],
        ...(keys ? [isOneOf("folded_key", keys)] : []),
        ...statuses.map((anyOf) => isOneOf("status", anyOf)),
      ];
  for (const anyOf of others) {
    const [isListed, value] = isOneOf("list_id", anyOf);
    conditions.push([`EXISTS (SELECT 1 FROM members WHERE ${isListed} AND contact_id = ${id})`, value]);
  }
  const distinct = first.length > 1 ? "DISTINCT " : "";
  const index = keys
    ? "contacts_by_key"
    : statuses.length > 0
      ? "contacts_by_status"
      : "contacts_of_structure";
  const from = isByLists ? "members AS walked" : `contacts INDEXED BY ${index}`;
  return {
    sql: `SELECT ${distinct}${id} AS id FROM ${from} WHERE ${conditions.map(([sql]) => sql).join(" AND ")}`,
    values: conditions.map(([, value]) => value),
  };
}
