/** Contacts in the database, and the groups they belong to. */
import type { Clock, Contact, FieldValue } from "../../wire.ts";
import type { Database } from "../database.ts";

/** A contact as it is stored. Times are milliseconds since the epoch. */
export interface StoredContact {
  id: string;
  structureId: string;
  key: string;
  fields: FieldValue[];
  lists: string[];
  tags: string[];
  status: { primary: string; secondary?: string };
  createdAt: number;
  updatedAt: number;
  version: number;
}

const batchSize = 1000;

/** Two spellings of one key differ in letter case alone. */
export function foldKey(key: string): string {
  return key.toLowerCase();
}

/** The group of a structure's contacts of one status. */
export function statusGroup(structureId: string, primary: string): string {
  return `${structureId}:${primary.toLowerCase()}`;
}

/** Every group that the contact is in. */
export function contactGroups(contact: StoredContact): string[] {
  return [
    contact.structureId,
    statusGroup(contact.structureId, contact.status.primary),
    ...contact.lists,
    ...contact.tags,
  ];
}

interface Write {
  /** Milliseconds since the epoch. */
  at: number;
  /** The contact before it; undefined: there was none. */
  before: StoredContact | undefined;
}

/**
 * Writes that a search sees only after a while. Effects of lists and structures on contacts it sees at once.
 */
export class UnseenWrites {
  private readonly database: Database;
  private readonly milliseconds: number;
  private readonly clock: Clock;
  /** The writes of each contact, the oldest first. */
  private readonly writes = new Map<string, Write[]>();
  private knownTables: number | undefined;

  constructor(database: Database, milliseconds: number, clock: Clock) {
    this.database = database;
    this.milliseconds = milliseconds;
    this.clock = clock;
  }

  note(id: string, before: StoredContact | undefined): void {
    this.forgetReplaced();
    const writes = this.writes.get(id) ?? [];
    this.writes.set(id, [...writes, { at: this.clock.now(), before }]);
  }

  /** The contacts that were written lately, as a search still sees them: by their ids. */
  statesBefore(): Map<string, StoredContact | undefined> {
    this.forgetReplaced();
    for (const [id, writes] of this.writes) {
      const left = writes.filter(({ at }) => this.clock.now() - at < this.milliseconds);
      if (left.length > 0) this.writes.set(id, left);
      else this.writes.delete(id);
    }
    return new Map(Array.from(this.writes, ([id, [oldest]]) => [id, oldest!.before]));
  }

  /** A reset or a loaded snapshot replaces the tables: contacts of before are neither shown nor hidden. */
  private forgetReplaced(): void {
    const row = this.database.get<{ schema_version: number }>("PRAGMA schema_version");
    if (row?.schema_version !== this.knownTables) this.writes.clear();
    this.knownTables = row?.schema_version;
  }
}

export class ContactStore {
  private readonly database: Database;
  private readonly unseen: UnseenWrites | undefined;

  /** @param unseen takes note of each write, for a search that does not see it yet */
  constructor(database: Database, unseen?: UnseenWrites) {
    this.database = database;
    this.unseen = unseen;
  }

  get(id: string): StoredContact | undefined {
    const row = this.database.get<{ json: string }>(
      `SELECT ${contactJson} AS json FROM contacts WHERE id = ?`,
      id,
    );
    return row && readContact(JSON.parse(row.json));
  }

  /** Those that exist, in the order of their ids. */
  getAll(ids: string[]): StoredContact[] {
    return this.select("contacts.id = wanted.value", ids);
  }

  /** Those with one of these keys, each given once, in the order of their ids. */
  findByKeys(structureId: string, keys: string[]): StoredContact[] {
    return this.select("structure_id = ? AND folded_key = wanted.value", keys.map(foldKey), structureId);
  }

  /** The id of the contact with this key, in any letter case. */
  findIdByKey(structureId: string, key: string): string | undefined {
    return this.database.get<{ id: string }>(
      "SELECT id FROM contacts WHERE structure_id = ? AND folded_key = ?",
      structureId,
      foldKey(key),
    )?.id;
  }

  /** Every contact, in the order of their ids, read in batches. */
  *all(): Iterable<StoredContact> {
    for (let after = ""; ; ) {
      const row = this.database.get<{ json: string }>(
        `SELECT ${contactsJson} AS json FROM
          (SELECT * FROM contacts WHERE id > ? ORDER BY id LIMIT ${batchSize})`,
        after,
      );
      const contacts: StoredContact[] = JSON.parse(row!.json).map(readContact);
      yield* contacts;
      if (contacts.length < batchSize) return;
      after = contacts.at(-1)!.id;
    }
  }

  add(contact: StoredContact): void {
    this.database.run(
      "INSERT INTO contacts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      contact.id,
      contact.structureId,
      contact.key,
      foldKey(contact.key),
      JSON.stringify(contact.fields),
      JSON.stringify(contact.lists),
      JSON.stringify(contact.tags),
      contact.status.primary,
      contact.status.secondary ?? null,
      contact.createdAt,
      contact.updatedAt,
      contact.version,
    );
    this.join(contactGroups(contact), contact.id);
    this.unseen?.note(contact.id, undefined);
  }

  /** Stores a later state of a contact, and moves it between groups. */
  replace(before: StoredContact, after: StoredContact): void {
    this.database.run(
      `UPDATE contacts SET key = ?, folded_key = ?, fields = ?, lists = ?, tags = ?, status_primary = ?,
        status_secondary = ?, updated_at = ?, version = ? WHERE id = ?`,
      after.key,
      foldKey(after.key),
      JSON.stringify(after.fields),
      JSON.stringify(after.lists),
      JSON.stringify(after.tags),
      after.status.primary,
      after.status.secondary ?? null,
      after.updatedAt,
      after.version,
      after.id,
    );
    const previousGroups = new Set(contactGroups(before));
    const groups = new Set(contactGroups(after));
    const left = [...previousGroups].filter((group) => !groups.has(group));
    const joined = [...groups].filter((group) => !previousGroups.has(group));
    if (left.length > 0) this.leave(left, after.id);
    if (joined.length > 0) this.join(joined, after.id);
    this.unseen?.note(before.id, before);
  }

  remove(contact: StoredContact): void {
    this.leave(contactGroups(contact), contact.id);
    this.database.run("DELETE FROM contacts WHERE id = ?", contact.id);
    this.unseen?.note(contact.id, contact);
  }

  /** Puts everyone who is in one of these lists into another list, which is empty. */
  copyMembers(listIds: string[], listId: string): void {
    const sources = JSON.stringify(listIds);
    this.database.run(
      `UPDATE contacts SET lists = json_insert(lists, '$[#]', ?) WHERE id IN
        (SELECT contact_id FROM members WHERE group_id IN (SELECT value FROM json_each(?)))`,
      listId,
      sources,
    );
    this.database.run(
      `INSERT INTO members SELECT DISTINCT ?, contact_id FROM members
        WHERE group_id IN (SELECT value FROM json_each(?))`,
      listId,
      sources,
    );
  }

  /** Takes a list or a tag from every contact. */
  dissolveGroup(kind: "lists" | "tags", groupId: string): void {
    this.database.run(
      `UPDATE contacts
        SET ${kind} = (SELECT json_group_array(value) FROM json_each(contacts.${kind}) WHERE value <> ?)
        WHERE id IN (SELECT contact_id FROM members WHERE group_id = ?)`,
      groupId,
      groupId,
    );
    this.database.run("DELETE FROM members WHERE group_id = ?", groupId);
    this.database.run("DELETE FROM totals WHERE group_id = ?", groupId);
  }

  /** Takes a field's value from every contact of the structure. */
  dropField(structureId: string, fieldId: string): void {
    this.database.run(
      `UPDATE contacts
        SET fields = (SELECT json_group_array(json(value)) FROM json_each(contacts.fields)
          WHERE value ->> '_id' <> ?)
        WHERE structure_id = ? AND instr(fields, ?)`,
      fieldId,
      structureId,
      `"_id":"${fieldId}"`,
    );
  }

  private join(groups: string[], contactId: string): void {
    this.database.run(
      "INSERT INTO members SELECT value, ? FROM json_each(?)",
      contactId,
      JSON.stringify(groups),
    );
  }

  private leave(groups: string[], contactId: string): void {
    this.database.run(
      "DELETE FROM members WHERE contact_id = ? AND group_id IN (SELECT value FROM json_each(?))",
      contactId,
      JSON.stringify(groups),
    );
  }

  /**
   * The contacts for one of the values, in the order of their ids. A sort in the database would copy every
   * row.
   */
  private select(match: string, values: string[], ...more: string[]): StoredContact[] {
    if (values.length === 0) return [];
    const row = this.database.get<{ json: string }>(
      `SELECT ${contactsJson} AS json FROM
        (SELECT contacts.* FROM json_each(?) AS wanted CROSS JOIN contacts ON ${match})`,
      JSON.stringify([...new Set(values)]),
      ...more,
    );
    const contacts: StoredContact[] = JSON.parse(row!.json).map(readContact);
    return contacts.sort((a, b) => (a.id < b.id ? -1 : 1));
  }
}

// One text instead of a dozen columns: a value costs more to hand over than to parse. JSON functions would
// parse the parts.
const contactJson = `'[' || concat_ws(',', json_quote(id), json_quote(structure_id), json_quote(key), fields, lists, tags,
  json_quote(status_primary), json_quote(status_secondary), created_at, updated_at, version) || ']'`;
const contactsJson = `'[' || coalesce(group_concat(${contactJson}), '') || ']'`;

type ContactValues = [
  id: string,
  structureId: string,
  key: string,
  fields: FieldValue[],
  lists: string[],
  tags: string[],
  primary: string,
  secondary: string | null,
  createdAt: number,
  updatedAt: number,
  version: number,
];

function readContact(values: ContactValues): StoredContact {
  const [id, structureId, key, fields, lists, tags, primary, secondary, createdAt, updatedAt, version] =
    values;
  const status = secondary === null ? { primary } : { primary, secondary };
  return { id, structureId, key, fields, lists, tags, status, createdAt, updatedAt, version };
}

/** A contact as reading one answers it: the status is one object. */
type WireContact = Required<Omit<Contact, "contactStatus" | "contactSubStatus">>;

const wireParts: { [Name in keyof WireContact]: (contact: StoredContact) => WireContact[Name] } = {
  _id: (contact) => contact.id,
  key: (contact) => contact.key,
  contactStructureId: (contact) => contact.structureId,
  fields: (contact) => contact.fields,
  lists: (contact) => contact.lists.map((_id) => ({ _id })),
  tags: (contact) => contact.tags.map((_id) => ({ _id })),
  status: (contact) => contact.status,
  createdAt: (contact) => new Date(contact.createdAt).toISOString(),
  updatedAt: (contact) => new Date(contact.updatedAt).toISOString(),
  __v: (contact) => contact.version,
};

/** A contact as the service answers it. */
export function toWire(contact: StoredContact): WireContact {
  // Spelled out: an object that is filled name by name costs as much as reading the contact.
  return {
    _id: wireParts._id(contact),
    key: wireParts.key(contact),
    contactStructureId: wireParts.contactStructureId(contact),
    fields: wireParts.fields(contact),
    lists: wireParts.lists(contact),
    tags: wireParts.tags(contact),
    status: wireParts.status(contact),
    createdAt: wireParts.createdAt(contact),
    updatedAt: wireParts.updatedAt(contact),
    __v: wireParts.__v(contact),
  };
}

/** The names that a search may ask for, and how each is read. */
const searchParts: Record<string, (contact: StoredContact) => unknown> = {
  ...wireParts,
  contactStatus: (contact) => contact.status.primary,
  contactSubStatus: (contact) => contact.status.secondary,
};

/** Picks the members of a contact that a search asks for. */
export function searchedParts(source: string[]): (contact: StoredContact) => Partial<Contact> {
  const names = [...new Set(source)];
  return (contact) => {
    const answer: Record<string, unknown> = {};
    for (const name of names) {
      const value = searchParts[name]!(contact);
      if (value !== undefined) answer[name] = value;
    }
    return answer;
  };
}
