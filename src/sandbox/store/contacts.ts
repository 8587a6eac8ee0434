/** Contacts in the database. */
import type { Clock, Contact, FieldValue } from "../../wire.ts";
import { type Database, Tables, type Value } from "../database.ts";

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

/** A write that a search does not see yet. */
interface Unseen {
  /** The contact before it; undefined: there was none. */
  before: StoredContact | undefined;
  /** When it is seen; milliseconds since the epoch. */
  until: number;
}

/**
 * Writes that a search sees only after a while. Effects of lists and structures on contacts it sees at once.
 */
export class UnseenWrites extends Tables {
  private readonly milliseconds: number;
  private readonly clock: Clock;
  private readonly byId = new Map<string, Unseen[]>();
  private knownAccount: number | undefined;

  constructor(database: Database, milliseconds: number, clock: Clock) {
    super(database);
    this.milliseconds = milliseconds;
    this.clock = clock;
  }

  note(id: string, before: StoredContact | undefined): void {
    const until = this.clock.now() + this.milliseconds;
    this.byId.set(id, [...(this.current().get(id) ?? []), { before, until }]);
  }

  /** By the ids of the contacts, the oldest first. */
  current(): ReadonlyMap<string, Unseen[]> {
    // A reset or a loaded snapshot replaces the account: contacts of before are neither shown nor hidden.
    const { replaced } = this.database.get<{ replaced: number }>("SELECT replaced FROM settings")!;
    if (replaced !== this.knownAccount) this.byId.clear();
    this.knownAccount = replaced;
    for (const [id, writes] of this.byId) {
      const left = writes.filter(({ until }) => until > this.clock.now());
      if (left.length > 0) this.byId.set(id, left);
      else this.byId.delete(id);
    }
    return this.byId;
  }
}

export class ContactStore extends Tables {
  private readonly unseen: UnseenWrites | undefined;

  /** @param unseen takes note of each write, for a search that does not see it yet */
  constructor(database: Database, unseen?: UnseenWrites) {
    super(database);
    this.unseen = unseen;
  }

  get(id: string): StoredContact | undefined {
    const row = this.database.get<{ contact: string }>("SELECT contact FROM contacts WHERE id = ?", id);
    return row && JSON.parse(row.contact);
  }

  /** @param ids SQL that selects ids, in the order wanted */
  getAll(ids: string, values: Value[]): StoredContact[] {
    return this.select(`(${ids}) AS wanted CROSS JOIN contacts ON contacts.id = wanted.id`, values);
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
      const contacts = this.select(`contacts WHERE id > ? ORDER BY id LIMIT ${batchSize}`, [after]);
      yield* contacts;
      if (contacts.length < batchSize) return;
      after = contacts.at(-1)!.id;
    }
  }

  add(contact: StoredContact): void {
    this.change(
      "INSERT INTO contacts VALUES (?, ?, ?, ?, ?)",
      contact.id,
      contact.structureId,
      foldKey(contact.key),
      contact.status.primary.toLowerCase(),
      JSON.stringify(contact),
    );
    this.join(contact.lists, contact.id);
    this.unseen?.note(contact.id, undefined);
  }

  /** Stores a later state of a contact. */
  replace(before: StoredContact, after: StoredContact): void {
    this.change(
      "UPDATE contacts SET folded_key = ?, status = ?, contact = ? WHERE id = ?",
      foldKey(after.key),
      after.status.primary.toLowerCase(),
      JSON.stringify(after),
      after.id,
    );
    if (before.lists.join() !== after.lists.join()) {
      this.leave(before);
      this.join(after.lists, after.id);
    }
    this.unseen?.note(before.id, before);
  }

  remove(contact: StoredContact): void {
    this.leave(contact);
    this.change("DELETE FROM contacts WHERE id = ?", contact.id);
    this.unseen?.note(contact.id, contact);
  }

  /** Puts the members of these lists into another list, which is empty. */
  copyMembers(listIds: string[], listId: string): void {
    this.database.run(
      `INSERT INTO members SELECT DISTINCT ?, contact_id FROM members
        WHERE list_id IN (SELECT value FROM json_each(?))`,
      listId,
      JSON.stringify(listIds),
    );
    this.change(
      `UPDATE contacts SET contact = json_insert(contact, '$.lists[#]', ?)
        WHERE id IN (SELECT contact_id FROM members WHERE list_id = ?)`,
      listId,
      listId,
    );
  }

  /** Takes a list, a tag or a field's value from every contact. */
  drop(member: "lists" | "tags" | "fields", id: string): void {
    const [kept, idOf] = member === "fields" ? ["json(value)", "value ->> '_id'"] : ["value", "value"];
    this.change(
      `UPDATE contacts SET contact = json_set(contact, '$.${member}', json(
          (SELECT json_group_array(${kept}) FROM json_each(contact, '$.${member}') WHERE ${idOf} <> ?)))
        WHERE instr(contact, ?)`,
      id,
      `"${id}"`,
    );
    if (member === "lists") this.database.run("DELETE FROM members WHERE list_id = ?", id);
  }

  private change(sql: string, ...values: Value[]): void {
    this.database.run(sql, ...values);
    this.database.run("UPDATE settings SET contacts_state = hex(randomblob(8))");
  }

  private join(listIds: string[], contactId: string): void {
    for (const listId of listIds) this.database.run("INSERT INTO members VALUES (?, ?)", listId, contactId);
  }

  private leave({ id, lists }: StoredContact): void {
    for (const list of lists) {
      this.database.run("DELETE FROM members WHERE list_id = ? AND contact_id = ?", list, id);
    }
  }

  /** One text instead of a row each: a row costs more to hand over than to parse. */
  private select(from: string, values: Value[]): StoredContact[] {
    const row = this.database.get<{ contacts: string }>(
      `SELECT '[' || coalesce(group_concat(contact), '') || ']' AS contacts FROM (SELECT contact FROM ${from})`,
      ...values,
    );
    return JSON.parse(row!.contacts);
  }
}

/** A contact as reading one answers it: the status is one object. */
type WireContact = Required<Omit<Contact, "contactStatus" | "contactSubStatus">>;

const wireParts: { [Name in keyof WireContact]: (contact: StoredContact) => WireContact[Name] } = {
  _id: ({ id }) => id,
  key: ({ key }) => key,
  contactStructureId: ({ structureId }) => structureId,
  fields: ({ fields }) => fields,
  lists: ({ lists }) => lists.map((_id) => ({ _id })),
  tags: ({ tags }) => tags.map((_id) => ({ _id })),
  status: ({ status }) => status,
  createdAt: ({ createdAt }) => new Date(createdAt).toISOString(),
  updatedAt: ({ updatedAt }) => new Date(updatedAt).toISOString(),
  __v: ({ version }) => version,
};

/** A contact as the service answers it. */
export const toWire = searchedParts(Object.keys(wireParts)) as (contact: StoredContact) => WireContact;

/** Picks the members of a contact that a search asks for; the status also in two parts. */
export function searchedParts(source: string[]): (contact: StoredContact) => Partial<Contact> {
  const readers: Record<string, (contact: StoredContact) => unknown> = {
    ...wireParts,
    contactStatus: ({ status }) => status.primary,
    contactSubStatus: ({ status }) => status.secondary,
  };
  return (contact) => {
    const parts: Record<string, unknown> = {};
    for (const name of source) {
      const value = readers[name]!(contact);
      if (value !== undefined) parts[name] = value;
    }
    return parts;
  };
}
