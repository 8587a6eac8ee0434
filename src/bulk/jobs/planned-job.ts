/** A run whose plan is closed, ready to be carried out: the plan says everything that its job would. */
import { restoreSelection } from "../../select/selection.ts";
import type { Account } from "../../service/account.ts";
import { openPlannedNames } from "../plan/names.ts";
import type { StoredPlan } from "../plan/plan-file.ts";
import { toPlanNames } from "../plan/plan-line.ts";
import type { RunContext } from "../plan/run-context.ts";
import { type AfterStep, findNewList } from "../runs/folder.ts";
import { noInput } from "./finish.ts";
import { openLookup, openSuppressionRules } from "./open-account.ts";
import type { ReadyJob } from "./ready-job.ts";
import { isDeletedOne } from "./undo-work.ts";

export async function openPlannedJob(
  context: RunContext,
  account: Account,
  { head, creations }: Pick<StoredPlan, "head" | "creations">,
  after: readonly AfterStep[] | undefined,
): Promise<ReadyJob> {
  const { engine, send, options, kind } = context;
  const { looks, source, listIds, selection } = head;
  const { structureId, keyType } = head.account;
  // Read now, so that the price counts what the backup needs.
  if (options.backUp) {
    const structure = await account.structure();
    await Promise.all([account.readableLists(structure), account.complete(structure)]);
  }
  const names =
    creations.length === 0 ? undefined : await openPlannedNames({ send: send.plain, account, creations });
  return {
    account,
    judging: {
      structureId,
      looks,
      suppression: await openSuppressionRules(engine, looks),
      // The conditions as they were planned: their words may mean something else by now.
      selection: selection && (await restoreSelection(account, await account.structure(), selection)),
      names: toPlanNames(head.names),
    },
    lookup: openLookup(context, { ...looks, structureId, keyType, source, listIds, isGone: isDeletedOne }),
    input: noInput,
    names,
    newList: findNewList(after)?.name,
    after,
    isLenient: kind === "undo",
  };
}
