/** What follows on a run once it is complete, whichever invocation completes it: data of the run. */

interface NamedList {
  /** Absent: the list of this name that the run has created. */
  _id?: string;
  name: string;
}

export interface AfterStep {
  what: "count-members" | "delete-list" | "leave-list" | "delete-empty-list";
  list: NamedList;
  /** Of a deletion: only where everybody in it is in this list, which the run has created. */
  ifAllIn?: string;
}

/** The members; the list, two counts and its deletion; the list and its members; these and its deletion. */
const requests: Record<AfterStep["what"], number> = {
  "count-members": 1,
  "delete-list": 4,
  "leave-list": 2,
  "delete-empty-list": 3,
};

export function countRequestsAfter(steps: readonly AfterStep[] = []): number {
  return steps.reduce((sum, { what }) => sum + requests[what], 0);
}

/** The list that the run has created for its contacts, if it has. */
export function findNewList(steps: readonly AfterStep[] = []): NamedList | undefined {
  return steps.find(({ what }) => what === "count-members")?.list;
}

/** What follows on the undoing of a run: its new list stays and is named, or goes when it is empty. */
export function toStepsAfterUndo(
  steps: readonly AfterStep[] | undefined,
  lists: Readonly<Record<string, string>>,
  deletesCreated: boolean,
): AfterStep[] | undefined {
  const list = findNewList(steps);
  if (!list) return undefined;
  // The list may have another name by now.
  const _id = Object.keys(lists).find((id) => lists[id] === list.name);
  return [{ what: deletesCreated ? "delete-empty-list" : "leave-list", list: { _id, name: list.name } }];
}
