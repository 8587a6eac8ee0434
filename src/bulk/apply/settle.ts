/**
 * Writes of which nobody knows whether they were applied (of a lost answer, or of a process that was killed):
 * what the account holds now tells, by the operation itself.
 */
import { isInactive } from "../../api/contacts.ts";
import type { Contact } from "../../wire.ts";
import { hasAll } from "../decide.ts";
import type { Item, Operation } from "../desired.ts";
import type { Found } from "../plan/lookup.ts";
import type { Session } from "../plan/session.ts";
import type { OpenIntent } from "../runs/ledger.ts";

/** The service's clock is known to whole seconds, and its records are stamped before they are seen. */
const clockToleranceMilliseconds = 5000;

/**
 * Whether an open intent turns out to have been applied. Pure. When it was not, or when others have changed the
 * contact since, the decision made now is carried out.
 *
 * A create is ours when the contact holds our values and is no older than the intent. A change is ours when
 * nothing of it is left to do, an unsubscription when the contact is inactive, a deletion when the contact is gone.
 */
export function wasApplied({ operation, at }: OpenIntent, found: Partial<Contact> | undefined): boolean {
  if (operation.kind === "delete") return found?._id !== operation.id;
  if (!found) return false;
  if (operation.kind === "unsubscribe") return isInactive(found);
  if (operation.kind === "change") return hasAll(operation.values, found);
  const createdAt = found.createdAt === undefined ? undefined : Date.parse(found.createdAt);
  const isNewer = createdAt === undefined || createdAt >= at - clockToleranceMilliseconds;
  return isNewer && hasAll(operation.values, found);
}

/**
 * What a write of which nobody knows whether it was applied was meant for, as it is now: by its id, since a
 * search may lag behind, and may not show who is inactive. Only an id that does not exist proves a deletion;
 * who is gone otherwise is looked up by the key.
 */
export async function readWritten({ lookup }: Session, item: Item, operation: Operation): Promise<Found> {
  if (operation.kind === "create") return lookup.findOne(item);
  const found = await lookup.read(operation.id);
  return found.contact || operation.kind === "delete" ? found : lookup.findOne(item);
}
