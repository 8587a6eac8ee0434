/** Which list a run makes the same as its input: two at once would leave one that is like neither. */
import type { PlanHead } from "../plan/plan-file.ts";
import type { SyncedList } from "../runs/enter.ts";
import type { MembersOptions } from "./job.ts";

export function findSyncedList(members: MembersOptions | undefined): SyncedList | undefined {
  return members && { listId: members.listId, name: members.listName };
}

/** Of a plan: it alone removes members of a list that its input does not name. */
export function findPlannedSync({ removals, listIds, names }: PlanHead): SyncedList | undefined {
  const [listId] = listIds;
  if (!removals || listId === undefined) return undefined;
  return { listId, name: names.lists[listId] ?? listId };
}
