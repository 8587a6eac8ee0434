/** Limits on what a plan may do, checked once it is closed and before its first write. Pure. */
import { formatCount } from "../../counts.ts";
import { UsageError } from "../../errors.ts";
import { advise, ecm, toOperands } from "../../hint.ts";
import type { Limit } from "../items.ts";
import type { GuardOptions } from "../runs/folder.ts";
import { sumCounts } from "../runs/report.ts";
import type { PlanHead } from "./plan-file.ts";
import { countPlannedWrites, type PlanTally } from "./tally.ts";

/**
 * What the plan would do beyond its limits; of a run that has begun, what was done already counts too.
 * @param file the plan, where it stays for a look
 */
export function findGuardFailure(
  tally: PlanTally,
  guards: GuardOptions = {},
  { file, isFirst = true }: { file?: string; isFirst?: boolean } = {},
): UsageError | undefined {
  const contacts = countPlannedWrites(tally) + tally.unchanged + sumCounts(tally.skipped);
  const guarded: [flag: string, guard: Limit | undefined, count: number, what: string][] = [
    ["--max-changes", guards.maxChanges, countPlannedWrites(tally), "write to @ contacts"],
    ["--max-delete", guards.maxDelete, tally.deleted, "delete @ contacts"],
  ];
  for (const [flag, guard, count, what] of guarded) {
    if (!guard || !exceedsLimit(count, guard, contacts)) continue;
    const limit = "rows" in guard ? formatCount(guard.rows) : `${guard.percent} %`;
    const would = what.replace("@", formatCount(count));
    const words = count === 1 ? would.replace(/s$/, "") : would;
    const look = file === undefined ? "--dry-run --plan plan.ndjson" : ecm`plan show ${toOperands(file)}`;
    const written = isFirst ? "Nothing was written" : "Nothing more was written";
    return new UsageError(
      `This would ${words} (of ${formatCount(contacts)} looked at); ${flag} allows ${limit}`,
      advise`${written}. Look at the plan: ${look}; to allow it, pass ${flag} ${count}`,
      { type: "GuardError", allowedBy: [flag, `${count}`] },
    );
  }
  return undefined;
}

function exceedsLimit(count: number, guard: Limit, contacts: number): boolean {
  return "rows" in guard ? count > guard.rows : count * 100 > guard.percent * contacts;
}

const defaultMaxRemove: Limit = { percent: 10 };

/** Why so many members must not be taken out of a list; undefined where they may. */
export function findRemovalFailure(
  count: number,
  { members, allowed = defaultMaxRemove }: NonNullable<PlanHead["removals"]>,
  listName: string,
): UsageError | undefined {
  if (!exceedsLimit(count, allowed, members)) return undefined;
  const share = Math.round((count / members) * 1000) / 10;
  return new UsageError(
    `This would remove ${count} of the ${members} members of ${JSON.stringify(listName)} (${share} %)`,
    `Nothing was written. Check that it is the right file; to allow it, pass --max-remove ${count}`,
    { type: "TooManyRemovalsError", allowedBy: ["--max-remove", `${count}`] },
  );
}
