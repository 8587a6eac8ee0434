/** Which contacts are meant, from what was typed: what the service filters, and what is decided here. */

import { findStatus, statusParts } from "../api/contacts.ts";
import { EcmError, exitCodes } from "../errors.ts";
import type { Account } from "../service/account.ts";
import type { Contact, ContactStructure, Filter } from "../wire.ts";
import type { LocalCondition } from "./conditions.ts";
import { resolveContactConditions } from "./contact-filters.ts";
import type { Where } from "./where.ts";

/** As typed; all must hold. Of several lists or tags any will do. */
export interface RequestedSelection {
  list?: string[];
  tag?: string[];
  status?: string;
  where?: Where;
}

export interface Selection {
  /** What the service filters. */
  filters: Filter[];
  /** The parts of a contact that `holds` reads, as a search's `source` names them. */
  needs: readonly string[];
  /**
   * Whether every condition holds for a contact, the service's own among them: a write
   * must not reach a contact that a looser search let through. A part that the service
   * filters by and does not tell is taken to be right.
   */
  holds(contact: Partial<Contact>): boolean;
}

/** Resolves the names. @throws NotFoundError, UsageError naming what does not exist */
export async function resolveSelection(
  account: Account,
  structure: ContactStructure,
  { where, ...requested }: RequestedSelection,
): Promise<Selection> {
  const { filters, keeps } = await resolveContactConditions(account, structure, requested);
  const criterias = filters.flatMap((filter) => filter.criterias);
  const conditions: LocalCondition[] = [];
  const collectValues = (column: string) => [
    ...new Set(criterias.flatMap(({ columnToFilter, values }) => (columnToFilter === column ? values : []))),
  ];
  const [listIds, statuses] = [collectValues("LIST_ID"), collectValues("CONTACT_STATUS")];
  if (listIds.length > 0) conditions.push(createListCondition(listIds));
  if (statuses.length > 0) conditions.push(createStatusCondition(statuses));
  if (keeps) conditions.push(keeps);
  if (where) conditions.push(await where.compile(account, structure));
  return {
    filters,
    needs: [...new Set(conditions.flatMap(({ needs }) => needs))],
    holds: (contact) => conditions.every((condition) => condition.holds(contact)),
  };
}

/** @param time in milliseconds since the epoch */
export function createUpdatedAfter(time: number): LocalCondition {
  return {
    needs: ["updatedAt"],
    wanted: { updatedAfter: time },
    holds({ updatedAt }) {
      const at = Date.parse(updatedAt ?? "");
      if (!Number.isNaN(at)) return at > time;
      throw new EcmError(exitCodes.failed, "The service did not say when the contacts were updated", {
        type: "UnreadableAnswerError",
        hint: "--since cannot be evaluated without it",
      });
    },
  };
}

function createListCondition(listIds: readonly string[]): LocalCondition {
  return {
    needs: ["lists"],
    wanted: { listIds },
    holds: ({ lists }) => lists?.some(({ _id }) => listIds.includes(_id)) ?? true,
  };
}

function createStatusCondition(values: readonly string[]): LocalCondition {
  const lowerCaseValues = values.map((value) => value.toLowerCase());
  return {
    needs: statusParts,
    wanted: { status: values },
    holds(contact) {
      const primary = findStatus(contact)?.primary.toLowerCase();
      return primary === undefined || lowerCaseValues.includes(primary);
    },
  };
}
