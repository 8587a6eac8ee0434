import type { StoredContact } from "../store/contacts.ts";
import type { Store } from "../store/index.ts";
import { notFound } from "./refusal.ts";

/** @throws Refusal 404 'Contact not found' */
export function contactOf(store: Store, id: string): StoredContact {
  const found = store.contacts.get(id);
  if (!found) throw notFound("Contact");
  return found;
}
