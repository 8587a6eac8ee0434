/** Looks up what the ids in a path name; where there is nothing, the request is refused with 404. */
import type { StoredContact } from "../store/contacts.ts";
import type { StoredDocument } from "../store/documents.ts";
import type { Store } from "../store/index.ts";
import type { StoredList } from "../store/lists.ts";
import type { StoredStructure } from "../store/structures.ts";
import { notFound } from "./refusal.ts";

/** @throws Refusal 404 */
export function requireContact(store: Store, id: string): StoredContact {
  const contact = store.contacts.get(id);
  if (!contact) throw notFound("Contact");
  return contact;
}

/** @throws Refusal 404 */
export function requireStructure(store: Store, id: string): StoredStructure {
  const structure = store.structures.get(id);
  if (!structure) throw notFound("Contact structure");
  return structure;
}

/** @throws Refusal 404 */
export function requireList(store: Store, structureId: string, id: string): StoredList {
  const list = store.lists.get(requireStructure(store, structureId)._id, id);
  if (!list) throw notFound("List");
  return list;
}

/** @throws Refusal 404 */
export function requireCampaign(store: Store, id: string): StoredDocument {
  const campaign = store.documents.get("campaign", id);
  if (!campaign) throw notFound("Campaign");
  return campaign;
}
