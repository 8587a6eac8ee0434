/**
 * Writes of which nobody knows whether they were applied (of a lost answer, or of a process that was killed):
 * what the account holds now tells, by the operation itself. Pure.
 */
import { isInactive } from "../../api/contacts.ts";
import type { Contact } from "../../wire.ts";
import { hasAll } from "../decide.ts";
import type { OpenIntent } from "../runs/ledger.ts";
import { readCreateValues, readMutateValues } from "../values.ts";

/** The service's clock is known to whole seconds, and its records are stamped before they are seen. */
const clockToleranceMilliseconds = 5000;

/**
 * Whether an open intent turns out to have been applied. When it was not, or when others have changed the
 * contact since, the decision made now is carried out.
 *
 * A create is ours when the contact holds our values and is no older than the intent. A change is ours when
 * nothing of it is left to do, an unsubscription when the contact is inactive, a deletion when the contact is gone.
 */
export function wasApplied({ operation, at }: OpenIntent, found: Partial<Contact> | undefined): boolean {
  if (operation.kind === "delete") return found?._id !== operation.id;
  if (!found) return false;
  if (operation.kind === "unsubscribe") return isInactive(found);
  if (operation.kind === "change") return hasAll(readMutateValues(operation.body), found);
  const createdAt = found.createdAt === undefined ? undefined : Date.parse(found.createdAt);
  const isNewer = createdAt === undefined || createdAt >= at - clockToleranceMilliseconds;
  return isNewer && hasAll(readCreateValues(operation.body), found);
}
