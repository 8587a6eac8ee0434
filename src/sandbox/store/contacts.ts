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

export interface ContactRow {
  id: string;
  structure_id: string;
  key: string;
  fields: string;
  lists: string;
  tags: string;
  status_primary: string;
  status_secondary: string | null;
  created_at: number;
  updated_at: number;
  version: number;
}

export interface Contacts {
  get(id: string): StoredContact | undefined;
  idOfKey(structureId: string, key: string): string | undefined;
  add(contact: StoredContact): void;
  /** Stores a later state of a contact, and moves it between groups. */
  replace(before: StoredContact, after: StoredContact): void;
  remove(contact: StoredContact): void;
  /** Takes a list or a tag from every contact. */
  dissolveGroup(kind: "lists" | "tags", groupId: string): void;
  /** Takes a field's value from every contact of the structure. */
  dropField(structureId: string, fieldId: string): void;
}

/** Two spellings of one key differ in letter case alone. */
export function foldKey(key: string): string {
  return key.toLowerCase();
}

/** The group of a structure's contacts of one status. */
export function statusGroup(structureId: string, primary: string): string {
  return `${structureId}:${primary.toLowerCase()}`;
}

export function contactsIn(database: Database): Contacts {
  const join = (groupId: string, contactId: string) =>
    database.run("INSERT INTO members VALUES (?, ?)", groupId, contactId);
  const leave = (groupId: string, contactId: string) =>
    database.run("DELETE FROM members WHERE group_id = ? AND contact_id = ?", groupId, contactId);

  return {
    get(id) {
      const row = database.get<ContactRow>("SELECT * FROM contacts WHERE id = ?", id);
      return row && readContactRow(row);
    },
    idOfKey(structureId, key) {
      return database.get<{ id: string }>(
        "SELECT id FROM contacts WHERE structure_id = ? AND folded_key = ?",
        structureId,
        foldKey(key),
      )?.id;
    },
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
      for (const group of groupsOf(contact)) join(group, contact.id);
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
      for (const group of had) if (!has.has(group)) leave(group, after.id);
      for (const group of has) if (!had.has(group)) join(group, after.id);
    },
    remove(contact) {
      for (const group of groupsOf(contact)) leave(group, contact.id);
      database.run("DELETE FROM contacts WHERE id = ?", contact.id);
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

function groupsOf(contact: StoredContact): string[] {
  return [
    contact.structureId,
    statusGroup(contact.structureId, contact.status.primary),
    ...contact.lists,
    ...contact.tags,
  ];
}

export function readContactRow(row: ContactRow): StoredContact {
  return {
    id: row.id,
    structureId: row.structure_id,
    key: row.key,
    fields: JSON.parse(row.fields),
    lists: JSON.parse(row.lists),
    tags: JSON.parse(row.tags),
    status: {
      primary: row.status_primary,
      ...(row.status_secondary === null ? {} : { secondary: row.status_secondary }),
    },
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    version: row.version,
  };
}

/** A contact as the service answers it. */
export function toWire(contact: StoredContact): Required<Contact> {
  return {
    _id: contact.id,
    key: contact.key,
    contactStructureId: contact.structureId,
    fields: contact.fields,
    lists: contact.lists.map((_id) => ({ _id })),
    tags: contact.tags.map((_id) => ({ _id })),
    status: contact.status,
    createdAt: new Date(contact.createdAt).toISOString(),
    updatedAt: new Date(contact.updatedAt).toISOString(),
    __v: contact.version,
  };
}
