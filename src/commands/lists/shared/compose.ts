/** A new list of everyone in other lists, as a bulk run: what `lists duplicate` and `lists merge` share. */

import { requireFreeListName } from "../../../api/lists.ts";
import type { ComposeOptions, RunOptions } from "../../../bulk/index.ts";
import type { Context } from "../../../context.ts";
import { requireAnswer } from "../../shared/bulk/agree.ts";
import { type BulkFlags, endRunAfter, toRunOptions } from "../../shared/bulk/flags.ts";
import { resolveLists } from "./choose.ts";

interface ComposeRequest extends Pick<ComposeOptions, "kind" | "into" | "deleteSources"> {
  /** Names or ids. */
  sources: string[];
}

export async function composeList(
  context: Context,
  request: ComposeRequest,
  flags: BulkFlags,
): Promise<void> {
  const { kind, into, deleteSources } = request;
  const options = toRunOptions(flags, context.clock.now());
  requireAnswer(context, deleteSources ? "delete" : "change", options.isDryRun);
  await requirePlaces(context, options, flags);
  const { account } = await context.connect("bulk", options.concurrency);
  const structure = await account.structure();
  const found = await resolveLists(account, structure, request.sources);
  const sources = found.map(({ _id, name }) => ({ _id, name }));
  const composed: ComposeOptions = { kind, sources, into, deleteSources };
  const [{ composeListJob }, { startRun }, { finishComposing, noteListsInNoPlan }] = await Promise.all([
    import("../../../bulk/index.ts"),
    import("../../shared/bulk/start.ts"),
    import("../../shared/bulk/composed-list.ts"),
  ]);
  const isResumed = !options.isFresh && (await isUnfinished(context, composed, structure._id));
  if (!isResumed) requireFreeListName(into, await account.lists(structure));
  if (deleteSources && !options.isDryRun) {
    const quotedNames = found.map(({ name }) => JSON.stringify(name)).join(", ");
    await context.confirm(`Delete ${quotedNames} after all contacts are in ${JSON.stringify(into)}?`);
  }
  const job = composeListJob(composed, isResumed);
  const what = `${kind === "merge" ? "Merging" : "Duplicating"} ${job.input.name}`;
  const result = await startRun(context, { job, options, flags, what, danger: "change" });
  if (deleteSources && options.isDryRun && flags.plan) noteListsInNoPlan(context, request.sources);
  await endRunAfter(context, result, () => finishComposing(context, composed, result));
}

/**
 * Found out before the names of the lists are looked up.
 * @throws UsageError for a file that cannot be written
 */
async function requirePlaces(context: Context, options: RunOptions, flags: BulkFlags): Promise<void> {
  const [{ requireWritableRejects }, { openPlanOutput }] = await Promise.all([
    import("../../../bulk/index.ts"),
    import("../../shared/bulk/plan-output.ts"),
  ]);
  await requireWritableRejects({ input: { name: "" } }, options);
  const plan = await openPlanOutput(context, flags, options.isDryRun);
  await plan.discard();
}

/** Whether the same command has begun already: then the new list may exist. */
async function isUnfinished(
  context: Context,
  { kind, sources, into, deleteSources }: ComposeOptions,
  structureId: string,
): Promise<boolean> {
  const { listRuns, isFinished, computeFingerprint } = await import("../../../bulk/index.ts");
  const { profile } = await context.connect();
  const same = computeFingerprint({ sources, into, deleteSources: deleteSources || undefined });
  return (await listRuns(context.folders.state)).some(
    ({ manifest }) =>
      manifest.kind === kind &&
      !isFinished(manifest) &&
      manifest.account.baseUrl === profile.baseUrl.value &&
      manifest.account.structureId === structureId &&
      computeFingerprint(manifest.options) === same,
  );
}
