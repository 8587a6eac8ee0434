/**
 * What an undo asks before it creates again whom a move has
 * deleted: whether they have left under their new key.
 */

import { ServiceError } from "../../errors.ts";
import type { Account } from "../../service/account.ts";
import { findContactsOfKey } from "../../service/erase-contact.ts";
import { fetchContact } from "../../service/mutate-contact.ts";
import type { Contact, Send } from "../../wire.ts";
import { isActive } from "../plan/found.ts";
import type { Manifest } from "../runs/folder.ts";
import { readWrittenContacts, type WrittenContact } from "./written-contacts.ts";

interface UndoneMove {
  manifest: Manifest;
  folder: string;
}

/** The contact that a person has now, whose other one the run deleted. */
export interface MovedTo {
  contactId: string;
  key: string;
}

function isMove({ kind, options }: Manifest): boolean {
  return kind === "move" || (kind === "apply" && options.applies === "move");
}

/**
 * To whom the contact moved that the run deleted. No other run both creates contacts and deletes some: a move,
 * and the undo of one.
 * @returns undefined for a run that moved nobody; "gone" where the account does not hold them any more
 */
export async function findMovedTo(
  { manifest, folder }: UndoneMove,
  send: Send,
  account: Account,
): Promise<MovedTo | "gone" | undefined> {
  for await (const written of readWrittenContacts(folder, true)) {
    const contactId = findNewId(written, isMove(manifest));
    if (contactId !== undefined) return { contactId, key: written.key };
  }
  if (manifest.kind !== "move") return undefined;
  // The new contact lacked nothing: the run did not write it.
  const key = String(manifest.options.to);
  const [contact] = await findContactsOfKey(send, account, [key]);
  return contact ? { contactId: contact._id, key: contact.key } : "gone";
}

/** Of the contact that somebody moved to: it was created, or got what it lacked. */
function findNewId({ operation, createdId }: WrittenContact, isMerge: boolean): string | undefined {
  if (operation.kind === "create") return createdId;
  return isMerge && operation.kind === "change" ? operation.contactId : undefined;
}

/** Whether somebody is not known to be active any more under the key that they moved to. */
export async function hasLeftSince(
  movedTo: MovedTo | "gone",
  send: Send,
  isSuppressed: (key: string) => boolean,
): Promise<boolean> {
  if (movedTo === "gone" || isSuppressed(movedTo.key)) return true;
  const contact = await contactWith(send, movedTo.contactId);
  return !contact || !isActive(contact);
}

async function contactWith(send: Send, id: string): Promise<Contact | undefined> {
  try {
    return await fetchContact(send, id);
  } catch (error) {
    if (error instanceof ServiceError && error.status === 404) return undefined;
    throw error;
  }
}
