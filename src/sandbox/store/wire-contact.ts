/** Contacts as answers show them. */
import type { Contact } from "../../wire.ts";
import type { StoredContact } from "./contacts.ts";

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
