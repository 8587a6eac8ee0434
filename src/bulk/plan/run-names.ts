/**
 * What the fields, lists and tags that a run speaks of are
 * called, so that it can be shown without the account.
 */
import { join } from "node:path";
import { fileNames } from "../runs/folder.ts";
import { readJournal } from "../runs/journal.ts";
import { mergeNames, type StoredNames, toStandInName } from "./names.ts";
import { readPlanHead } from "./plan-file.ts";

/** As they were when the run was planned; what it created is there too. */
export async function readRunNames(folder: string): Promise<StoredNames> {
  const plan = await readPlanHead(join(folder, fileNames.plan)).catch(() => undefined);
  // Ids are shown as they are.
  if (!plan) return { fields: {}, lists: {}, tags: {} };
  if (plan.creations.length === 0) return plan.head.names;
  const created: Record<string, string> = {};
  // A damaged journal may still tell them.
  for await (const { record } of readJournal(join(folder, fileNames.journal), () => undefined)) {
    if (record.kind !== "names") continue;
    for (const [standIn, id] of Object.entries(record.ids)) created[id] = toStandInName(standIn)!;
  }
  // An id says what it is of: no two kinds share one.
  return mergeNames(plan.head.names, { fields: created, lists: created, tags: created });
}
