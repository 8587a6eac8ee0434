/** Which contacts are meant, from what was typed: what the service filters, and what is decided here. */

import type { Account } from "../service/account.ts";
import type { Contact, ContactStructure, Filter } from "../wire.ts";
import {
  combine,
  createListCondition,
  createPrimaryCondition,
  createSecondaryCondition,
  createTagCondition,
} from "./conditions.ts";
import { resolveContactConditions, resolveTagIds } from "./contact-filters.ts";
import { parseStatus } from "./status-filter.ts";
import type { Where } from "./where.ts";

/** As typed; all must hold. Of several lists or tags any will do. */
export interface RequestedSelection {
  list?: string[];
  tag?: string[];
  status?: string;
  where?: Where;
}

/** The conditions as a plan carries them: lists and tags by their ids, the rest as typed. */
export interface StoredSelection {
  lists: string[];
  tags: string[];
  status?: string;
  where?: string;
}

export interface Selection extends SelectionCheck {
  /** What the service filters. */
  filters: Filter[];
  /** Absent where nothing narrows the account. */
  stored?: StoredSelection;
}

/** Whether a contact is chosen, without the service's help. */
export interface SelectionCheck {
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
  const { filters } = await resolveContactConditions(account, structure, requested);
  const lists = filters
    .flatMap(({ criterias }) => criterias)
    .flatMap(({ columnToFilter, values }) => (columnToFilter === "LIST_ID" ? values : []));
  const stored: StoredSelection = {
    lists: [...new Set(lists)],
    tags: await resolveTagIds(account, structure, requested.tag ?? []),
    ...(requested.status !== undefined && { status: requested.status }),
    ...(where && { where: where.text }),
  };
  const check = await createCheck(account, structure, stored, where);
  return { filters, ...check, ...(check.needs.length > 0 && { stored }) };
}

/** From a plan. @throws UsageError for a condition that speaks of what does not exist any more */
export async function restoreSelection(
  account: Account,
  structure: ContactStructure,
  stored: StoredSelection,
): Promise<SelectionCheck> {
  // Loaded only where a plan has conditions: a search needs little of this file.
  const { parseWhere } = await import("./where.ts");
  const where = stored.where === undefined ? undefined : await parseWhere(stored.where);
  return createCheck(account, structure, stored, where);
}

async function createCheck(
  account: Account,
  structure: ContactStructure,
  { lists, tags, status }: StoredSelection,
  where: Where | undefined,
): Promise<SelectionCheck> {
  const parsedStatus = status === undefined ? undefined : parseStatus(status);
  const conditions = combine(
    lists.length > 0 ? createListCondition(lists) : undefined,
    parsedStatus && createPrimaryCondition(parsedStatus),
    tags.length > 0 ? createTagCondition(tags) : undefined,
    parsedStatus && createSecondaryCondition(parsedStatus),
    await where?.compile(account, structure),
  );
  return conditions ?? { needs: [], holds: () => true };
}
