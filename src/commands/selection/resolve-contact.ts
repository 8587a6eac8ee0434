/** The contact that a word on the command line means. */
import type { Connection } from "../../context.ts";
import { performOnContact } from "../../service/find-contact.ts";
import { fetchContact } from "../../service/mutate-contact.ts";
import type { Contact } from "../../wire.ts";

/** Reads the contact that has this id or key. @throws NotFoundError */
export function resolveContact({ send, account }: Connection, idOrKey: string): Promise<Contact> {
  const structure = () => account.structure();
  return performOnContact({ send, structure }, idOrKey, (id) => fetchContact(send, id));
}
