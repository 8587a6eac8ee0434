/** What an undo wants of each contact that a run wrote: what still holds the run's value goes back. */

import type { Item } from "../items.ts";
import { type Remaining, toRecreated, toRemoved, toRestored } from "../values.ts";
import { readWrittenContacts, type WrittenContact } from "./changes.ts";

/** What an undo may do besides putting back what was changed. */
export interface UndoScope {
  /** Deletes what the run created and nobody has changed since. */
  deletesCreated: boolean;
  /** What the account still has of what contacts held before. */
  remaining: Remaining;
  toIdentity: (key: string) => string;
  isPartial: boolean;
}

/**
 * One item for each contact that the run wrote, in the order of the run. The journal has them in the order of
 * their outcomes.
 * @param refs of all of them
 */
export async function* readUndoItems(
  folder: string,
  refs: readonly number[],
  scope: UndoScope,
): AsyncGenerator<Item[]> {
  const order = [...new Set(refs)].sort((one, other) => one - other);
  const waiting = new Map<number, Item>();
  let next = 0;
  for await (const undone of readWrittenContacts(folder, scope.isPartial)) {
    waiting.set(undone.ref, toUndoItem(undone, scope));
    const ready: Item[] = [];
    for (let item = waiting.get(order[next]!); item; item = waiting.get(order[next]!)) {
      ready.push(item);
      waiting.delete(order[next++]!);
    }
    if (ready.length > 0) yield ready;
  }
  yield [...waiting.values()].sort((one, other) => one.ref - other.ref);
}

function toUndoItem(undone: WrittenContact, scope: UndoScope): Item {
  const { ref, key, operation, createdId } = undone;
  // A deleted contact's id is gone with it.
  const contactId =
    operation.kind === "create" ? createdId : operation.kind === "delete" ? undefined : operation.id;
  return {
    kind: "contact",
    ref,
    line: null,
    key: { written: key, sent: key, identity: scope.toIdentity(key) },
    cells: [key],
    ...(contactId !== undefined && { contactId }),
    desired: toDesired(undone, scope),
  };
}

function toDesired(
  { operation, isUnproven, createdId }: WrittenContact,
  { deletesCreated, remaining }: UndoScope,
): Item["desired"] {
  if (isUnproven) return { reject: { code: "unproven" } };
  switch (operation.kind) {
    case "create":
      if (!deletesCreated || createdId === undefined) return { reject: { code: "created" } };
      return toRemoved(operation, createdId);
    case "change":
      return toRestored(operation, remaining);
    case "unsubscribe":
      return { reject: { code: "unsubscribed" } };
    case "delete":
      return toRecreated(operation, remaining);
  }
}

/** Of a contact that the run has deleted: whether this is that one. No id is given twice. */
export function isDeletedOne({ desired }: Item, { _id }: { _id?: string }): boolean {
  const who = "values" in desired ? desired.who : undefined;
  return who !== undefined && "not" in who && _id === who.not;
}
