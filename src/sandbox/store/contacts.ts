/** Contacts in the database, and the groups they belong to. */
import type { Contact, FieldValue } from "../../wire.ts";
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

/** Whether keys that differ in letter case alone are one key. */
export type KeyCase = "fold" | "exact";

export interface Contacts {
  get(id: string): StoredContact | undefined;
  /** Those that exist, in the order of their ids. */
  some(ids: string[]): StoredContact[];
  /** Those with one of these keys, each given once, in the order of their ids. */
  ofKeys(structureId: string, keys: string[], keyCase: KeyCase): StoredContact[];
  /** Every contact, in the order of their ids, read in portions. */
  all(): Iterable<StoredContact>;
  /** How many there are, and when those of this span were created. */
  createdBetween(from: number, to: number): { total: number; created: { at: number }[] };
  /** The contact of this key, in any letter case or in exactly this one. */
  idOfKey(structureId: string, key: string, keyCase?: KeyCase): string | undefined;
  add(contact: StoredContact): void;
  /** Stores a later state of a contact, and moves it between groups. */
  replace(before: StoredContact, after: StoredContact): void;
  remove(contact: StoredContact): void;
  /** Puts everyone who is in one of these lists into another list, which is empty. */
  joinMembersOf(listIds: string[], listId: string): void;
  /** Takes a list or a tag from every contact. */
  dissolveGroup(kind: "lists" | "tags", groupId: string): void;
  /** Takes a field's value from every contact of the structure. */
  dropField(structureId: string, fieldId: string): void;
}

const portion = 1000;

/** Two spellings of one key differ in letter case alone. */
export function foldKey(key: string): string {
  return key.toLowerCase();
}

/** The group of a structure's contacts of one status. */
export function statusGroup(structureId: string, primary: string): string {
  return `${structureId}:${primary.toLowerCase()}`;
}

export function contactsIn(database: Database): Contacts {
  const join = (groups: string[], contactId: string) =>
    database.run("INSERT INTO members SELECT value, ? FROM json_each(?)", contactId, JSON.stringify(groups));
  const leave = (groups: string[], contactId: string) =>
    database.run(
      "DELETE FROM members WHERE contact_id = ? AND group_id IN (SELECT value FROM json_each(?))",
      contactId,
      JSON.stringify(groups),
    );

  /** The contacts for one of the values, in the order of their ids. A sort in the database would copy every row. */
  const readAll = (match: string, values: string[], ...more: string[]): StoredContact[] => {
    if (values.length === 0) return [];
    const row = database.get<{ json: string }>(
      `SELECT ${contactsJson} AS json FROM
        (SELECT contacts.* FROM json_each(?) AS wanted CROSS JOIN contacts ON ${match})`,
      JSON.stringify([...new Set(values)]),
      ...more,
    );
    const contacts: StoredContact[] = JSON.parse(row!.json).map(readContact);
    return contacts.sort((a, b) => (a.id < b.id ? -1 : 1));
  };

  return {
    get(id) {
      const row = database.get<{ json: string }>(
        `SELECT ${contactJson} AS json FROM contacts WHERE id = ?`,
        id,
      );
      return row && readContact(JSON.parse(row.json));
    },
    idOfKey(structureId, key, keyCase = "fold") {
      return database.get<{ id: string }>(
        "SELECT id FROM contacts WHERE structure_id = ? AND folded_key = ? AND (? OR key = ?)",
        structureId,
        foldKey(key),
        keyCase === "fold" ? 1 : 0,
        key,
      )?.id;
    },
    some: (ids) => readAll("contacts.id = wanted.value", ids),
    ofKeys(structureId, keys, keyCase) {
      const found = readAll("structure_id = ? AND folded_key = wanted.value", keys.map(foldKey), structureId);
      if (keyCase === "fold") return found;
      const exact = new Set(keys);
      return found.filter(({ key }) => exact.has(key));
    },
    *all() {
      for (let after = ""; ; ) {
        const row = database.get<{ json: string }>(
          `SELECT ${contactsJson} AS json FROM
            (SELECT * FROM contacts WHERE id > ? ORDER BY id LIMIT ${portion})`,
          after,
        );
        const contacts: StoredContact[] = JSON.parse(row!.json).map(readContact);
        yield* contacts;
        if (contacts.length < portion) return;
        after = contacts.at(-1)!.id;
      }
    },
    createdBetween: (from, to) => ({
      total: database.get<{ total: number }>("SELECT count(*) AS total FROM contacts")!.total,
      created: database.all<{ at: number }>(
        "SELECT created_at AS at FROM contacts WHERE created_at >= ? AND created_at <= ?",
        from,
        to,
      ),
    }),
    add(contact) {
      database.run(
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
      join(groupsOf(contact), contact.id);
    },
    replace(before, after) {
      database.run(
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
      const had = new Set(groupsOf(before));
      const has = new Set(groupsOf(after));
      const left = [...had].filter((group) => !has.has(group));
      const joined = [...has].filter((group) => !had.has(group));
      if (left.length > 0) leave(left, after.id);
      if (joined.length > 0) join(joined, after.id);
    },
    remove(contact) {
      leave(groupsOf(contact), contact.id);
      database.run("DELETE FROM contacts WHERE id = ?", contact.id);
    },
    joinMembersOf(listIds, listId) {
      const sources = JSON.stringify(listIds);
      database.run(
        `UPDATE contacts SET lists = json_insert(lists, '$[#]', ?) WHERE id IN
          (SELECT contact_id FROM members WHERE group_id IN (SELECT value FROM json_each(?)))`,
        listId,
        sources,
      );
      database.run(
        `INSERT INTO members SELECT DISTINCT ?, contact_id FROM members
          WHERE group_id IN (SELECT value FROM json_each(?))`,
        listId,
        sources,
      );
    },
    dissolveGroup(kind, groupId) {
      database.run(
        `UPDATE contacts
          SET ${kind} = (SELECT json_group_array(value) FROM json_each(contacts.${kind}) WHERE value <> ?)
          WHERE id IN (SELECT contact_id FROM members WHERE group_id = ?)`,
        groupId,
        groupId,
      );
      database.run("DELETE FROM members WHERE group_id = ?", groupId);
      database.run("DELETE FROM totals WHERE group_id = ?", groupId);
    },
    dropField(structureId, fieldId) {
      database.run(
        `UPDATE contacts
          SET fields = (SELECT json_group_array(json(value)) FROM json_each(contacts.fields)
            WHERE value ->> '_id' <> ?)
          WHERE structure_id = ? AND instr(fields, ?)`,
        fieldId,
        structureId,
        `"_id":"${fieldId}"`,
      );
    },
  };
}

/** Every group that the contact is in. */
export function groupsOf(contact: StoredContact): string[] {
  return [
    contact.structureId,
    statusGroup(contact.structureId, contact.status.primary),
    ...contact.lists,
    ...contact.tags,
  ];
}

// One text instead of a dozen columns: a value costs more to hand over than to parse. JSON functions would parse the parts.
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

/** The names that a search may ask for, and what each tells. */
const searchParts: Record<string, (contact: StoredContact) => unknown> = {
  ...wireParts,
  contactStatus: (contact) => contact.status.primary,
  contactSubStatus: (contact) => contact.status.secondary,
};

/** What a search that asks for these names tells of a contact. Ids come along unasked. */
export function searchReader(source: string[]): (contact: StoredContact) => Partial<Contact> {
  const names = [...new Set(source)];
  return (contact) => {
    const told: Record<string, unknown> = {};
    for (const name of names) {
      const value = searchParts[name]!(contact);
      if (value !== undefined) told[name] = value;
    }
    return told;
  };
}
