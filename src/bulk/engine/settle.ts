/**
 * Writes of which nobody knows whether they were applied (import of a lost answer, or of a process that was killed):
 * what the account holds now tells. Pure.
 */

import type { Contact } from "../../wire.ts";
import type { Decision, Outcome } from "../items.ts";
import type { OpenIntent } from "../runs/ledger.ts";
import { holdsCreate } from "./decide.ts";

/** The service's clock is known to whole seconds, and its records are stamped before they are seen. */
const clockToleranceMilliseconds = 5000;

/**
 * The outcome that an open intent turns out to have had; undefined when it was not applied, or when others have changed
 * the contact since: then the decision made now stands.
 *
 * A create is ours when the contact holds our values and is no older than the intent. A change is ours when nothing is
 * left to change.
 */
export function outcomeOf(
  intent: OpenIntent,
  found: Partial<Contact> | undefined,
  decisionNow: Decision,
): Outcome | undefined {
  if (!found) return undefined;
  if (intent.operation.kind === "change") return decisionNow.kind === "leave" ? "updated" : undefined;
  const createdAt = found.createdAt === undefined ? undefined : Date.parse(found.createdAt);
  const isNewer = createdAt === undefined || createdAt >= intent.at - clockToleranceMilliseconds;
  return isNewer && holdsCreate(intent.operation.body, found) ? "created" : undefined;
}
