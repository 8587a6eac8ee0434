/**
 * What did not exist when the plan was made is named by a stand-in
 * there, and by its id once it was created. Pure.
 */
import type { Planned } from "../plan/plan-file.ts";

type Wanted = Pick<Planned, "desired" | "before">;

/** Replaces ids alone: a value may read like a stand-in. @param ids stand-in → id */
export function replaceStandIns({ desired, before }: Wanted, ids: ReadonlyMap<string, string>): Wanted {
  if (ids.size === 0) return { desired, before };
  const toRealId = <T extends { id: string }>(value: T): T => ({
    ...value,
    id: ids.get(value.id) ?? value.id,
  });
  return {
    desired: { ...desired, values: desired.values.map(toRealId) },
    before: before && { ...before, values: before.values.map(toRealId) },
  };
}
