/** Which contacts are meant, from what was typed: what the service filters, and what is decided here. */

import type { Account } from "../service/account.ts";
import type { LocalCondition } from "../service/contact-search.ts";
import type { ContactStructure, Filter } from "../wire.ts";
import { combine, createListCondition, createStatusCondition, createTagCondition } from "./conditions.ts";
import { resolveContactConditions, resolveLists, resolveTags } from "./contact-filters.ts";
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

/**
 * Every condition, the service's own among them: a write must not reach a contact that a looser search let
 * through. A part that the service filters by and does not tell is taken to be right.
 */
export interface Selection extends LocalCondition {
  /** What the service filters. */
  filters: Filter[];
  /** Absent where nothing narrows the account. */
  stored?: StoredSelection;
}

/** Resolves the names. @throws NotFoundError, UsageError naming what does not exist */
export async function resolveSelection(
  account: Account,
  structure: ContactStructure,
  { where, ...requested }: RequestedSelection,
): Promise<Selection> {
  const { status, list, tag } = requested;
  const { filters } = await resolveContactConditions(account, structure, requested);
  const stored: StoredSelection = {
    lists: await resolveLists(account, structure, list),
    tags: await resolveTags(account, structure, tag),
    ...(status !== undefined && { status }),
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
): Promise<LocalCondition> {
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
): Promise<LocalCondition> {
  const conditions = combine(
    lists.length > 0 && createListCondition(lists),
    tags.length > 0 && createTagCondition(tags),
    status !== undefined && createStatusCondition(parseStatus(status)),
    await where?.compile(account, structure),
  );
  return conditions ?? { needs: [], holds: () => true };
}
