/** What the fields, lists and tags that a run speaks of are called, so that it can be shown without the account. */
import { join } from "node:path";
import { fileOf } from "../runs/files.ts";
import { readJournal } from "../runs/journal.ts";
import { joinedNames, type KeptNames, readKeptNames } from "../runs/names-file.ts";
import { standInName } from "./names.ts";
import { readPlanHead } from "./plan-file.ts";

/** As they were when the run was planned; what it created is there too. */
export async function readRunNames(folder: string): Promise<KeptNames> {
  const plan = await readPlanHead(join(folder, fileOf.plan)).catch(() => undefined);
  if (!plan) return readKeptNames(folder);
  if (plan.creations.length === 0) return plan.head.names;
  const created: Record<string, string> = {};
  // A damaged journal may still tell them.
  for await (const { record } of readJournal(join(folder, fileOf.journal), () => undefined)) {
    if (record.kind !== "names") continue;
    for (const [standIn, id] of Object.entries(record.ids)) created[id] = standInName(standIn)!;
  }
  // An id says what it is of: no two kinds share one.
  return joinedNames(plan.head.names, { fields: created, lists: created, tags: created });
}
