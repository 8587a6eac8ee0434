/** Edits of a structure, sent: planned again on fresh state where someone else was faster. */

import { readStructure, updateStructureRequest } from "../api/structures.ts";
import { isServiceError, notFoundError } from "../errors.ts";
import { addParts, editKnown, type StructureEdit } from "../structure/edit.ts";
import type { ContactStructure, Send } from "../wire.ts";
import type { Account } from "./account.ts";

const maxAttempts = 3;

/**
 * Applies the edit and returns the structure as it is afterwards. The edit is a pure
 * function, so a stale version costs another read and no one's work; it may return
 * `undefined` when the wanted state is there already.
 * @throws ServiceError `ConcurrencyError` when others keep changing it
 */
export async function updateStructure(
  send: Send,
  account: Account,
  structure: ContactStructure,
  edit: StructureEdit,
): Promise<ContactStructure> {
  let current = structure;
  for (let attempt = 1; ; attempt++) {
    const body = editKnown(current, edit);
    if (!body) return current;
    try {
      const updated = readStructure(await send(updateStructureRequest(current._id, body)));
      await account.forgetBefore(updated);
      return updated;
    } catch (error) {
      if (attempt === maxAttempts || !isStale(error)) throw error;
      current = await readFreshStructure(account, structure._id);
    }
  }
}

function isStale(error: unknown): boolean {
  return isServiceError(error) && error.type === "ConcurrencyError";
}

/** The structure as it is now. @throws NotFoundError when it is gone */
export async function readFreshStructure(account: Account, structureId: string): Promise<ContactStructure> {
  account.forget();
  const found = (await account.structures()).find((each) => each._id === structureId);
  if (!found) throw notFoundError(`The structure ${structureId} is gone`);
  return account.forUpdate(found);
}

/** Adds the missing ones of these fields and tags to the structure in one update. */
export async function ensureParts(
  send: Send,
  account: Account,
  structure: ContactStructure,
  parts: Parameters<typeof addParts>[1],
): Promise<ContactStructure> {
  return updateStructure(send, account, await account.forUpdate(structure), (known) =>
    addParts(known, parts),
  );
}
