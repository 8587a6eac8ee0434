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

/** Where the last page of a search ended, so that the next one neither skips nor counts what came before. */
interface Walk {
  total: number;
  /** The number of contacts up to there, and the last one's id. */
  offset: number;
  id: string;
}

const all = 2 ** 31;
const maxWalks = 100;

export class ContactSearch extends Tables {
  private readonly contacts: ContactStore;
  private readonly unseen: UnseenWrites | undefined;
  private readonly walks = new Map<string, Walk>();
  private knownState = "";

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
    const name = JSON.stringify(alternatives);
    const walks = this.currentWalks();
    const known = walks.get(name);
    const from = known && known.offset <= offset ? known : { offset: 0, id: "" };
    const [sql, values] = toUnion(alternatives, from.id);
    const contacts = this.contacts.getAll(`${sql} ORDER BY id LIMIT ? OFFSET ?`, [
      ...values,
      count,
      offset - from.offset,
    ]);
    // A key is one contact's at most.
    const most = alternatives.reduce((sum, { keys }) => sum + (keys?.length ?? count + 1), 0);
    const isWhole = offset === 0 && (contacts.length < count || most <= count);
    if (isWhole) return { total: contacts.length, contacts };
    const total = known?.total ?? this.count(alternatives);
    const end = contacts.length > 0 ? { offset: offset + contacts.length, id: contacts.at(-1)!.id } : from;
    walks.set(name, { ...end, total });
    return { total, contacts };
  }

  private count(alternatives: StoredContactQuery[]): number {
    const [sql, values] = toUnion(alternatives, "");
    return this.database.get<{ total: number }>(`SELECT count(*) AS total FROM (${sql})`, ...values)!.total;
  }

  /** By the searches' names; those of another state of the contacts are forgotten. */
  private currentWalks(): Map<string, Walk> {
    const { state } = this.database.get<{ state: string }>(
      "SELECT replaced || contacts_state AS state FROM settings",
    )!;
    if (state !== this.knownState || this.walks.size >= maxWalks) this.walks.clear();
    this.knownState = state;
    return this.walks;
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

/** A query for the ids after one for which one of the alternatives holds, without an order. */
function toUnion(alternatives: StoredContactQuery[], after: string): [sql: string, values: Value[]] {
  const selections = alternatives.map((query) => toSelection(query, after));
  return [selections.map(([sql]) => sql).join(" UNION "), selections.flatMap(([, values]) => values)];
}

/** By lists alone it walks along their members. */
function toSelection(
  { structureId, keys, statuses, lists }: StoredContactQuery,
  after: string,
): [sql: string, values: Value[]] {
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
  conditions.push([`${id} > ?`, after]);
  const distinct = first.length > 1 ? "DISTINCT " : "";
  const index = keys
    ? "contacts_by_key"
    : statuses.length > 0
      ? "contacts_by_status"
      : "contacts_of_structure";
  const from = isByLists ? "members AS walked" : `contacts INDEXED BY ${index}`;
  return [
    `SELECT ${distinct}${id} AS id FROM ${from} WHERE ${conditions.map(([sql]) => sql).join(" AND ")}`,
    conditions.map(([, value]) => value),
  ];
}
