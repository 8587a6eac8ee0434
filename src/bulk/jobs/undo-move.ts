/**
 * What an undo asks before it creates again whom a move has
 * deleted: whether they have left under their new key.
 */

import { ServiceError } from "../../errors.ts";
import { fetchContact } from "../../service/mutate-contact.ts";
import type { Contact, Send } from "../../wire.ts";
import { isActive } from "../plan/found.ts";
import type { Manifest } from "../runs/folder.ts";
import { readWrittenContacts, type WrittenContact } from "./written-contacts.ts";

interface UndoneMove {
  manifest: Manifest;
  folder: string;
}

function isMove({ kind, options }: Manifest): boolean {
  return kind === "move" || (kind === "apply" && options.applies === "move");
}

/**
 * Whether somebody to whom a contact moved is not known to be active any more. Who is gone may have been
 * deleted by this undo itself, where it deletes what the run created.
 */
export async function hasLeftSince(
  { manifest, folder }: UndoneMove,
  send: Send,
  rules: { deletesCreated: boolean; isSuppressed(key: string): boolean },
): Promise<boolean> {
  if (!isMove(manifest)) return false;
  for await (const written of readWrittenContacts(folder, true)) {
    const id = findNewId(written);
    if (id === undefined) continue;
    if (rules.isSuppressed(written.key)) return true;
    const contact = await contactWith(send, id);
    if (contact ? !isActive(contact) : !rules.deletesCreated) return true;
  }
  return false;
}

/** Of the contact that somebody moved to: it was created, or got what it lacked. */
function findNewId({ operation, createdId }: WrittenContact): string | undefined {
  if (operation.kind === "create") return createdId;
  return operation.kind === "change" ? operation.contactId : undefined;
}

async function contactWith(send: Send, id: string): Promise<Contact | undefined> {
  try {
    return await fetchContact(send, id);
  } catch (error) {
    if (error instanceof ServiceError && error.status === 404) return undefined;
    throw error;
  }
}
