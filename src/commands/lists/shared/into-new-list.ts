/** `lists duplicate` and `lists merge`: a new list, and one edit that adds everybody in the others to it. */

import { isDeepStrictEqual } from "node:util";
import { requireFreeListName } from "../../../api/lists.ts";
import type { AfterStep, EditOptions, RunOptions } from "../../../bulk/index.ts";
import type { Context } from "../../../context.ts";
import { isKind } from "../../../errors.ts";
import { advise, ecm } from "../../../hint.ts";
import { requireAnswer } from "../../bulk/agree.ts";
import { claimFiles } from "../../bulk/distinct-files.ts";
import { type BulkFlags, endRun, toRunOptions } from "../../bulk/flags.ts";
import { resolveLists } from "./choose.ts";

interface NewListRequest {
  /** Names or ids. */
  sources: string[];
  into: string;
  deletesSources?: boolean;
  by: "duplicate" | "merge";
}

export async function addToNewList(
  context: Context,
  { sources, into, deletesSources = false, by }: NewListRequest,
  flags: BulkFlags,
): Promise<void> {
  const options = toRunOptions(flags, context.clock.now());
  requireAnswer(context, deletesSources ? "delete" : "change", options.isDryRun);
  await requirePlaces(context, options, flags);
  const { account } = await context.connect("bulk", options.concurrency);
  const structure = await account.structure();
  const lists = await resolveLists(account, structure, sources).catch((error: unknown) =>
    explainGoneList(context, error, into),
  );
  const names = lists.map(({ name }) => JSON.stringify(name)).join(", ");
  const deletions = deletesSources ? lists.map(({ _id, name }) => toDeletion({ _id, name }, into)) : [];
  const edit: EditOptions = {
    kind: "mutate",
    command: ["lists", by],
    title: `${names} into ${JSON.stringify(into)}`,
    // By their ids: a list may be renamed before the run is resumed.
    conditions: { list: lists.map(({ _id }) => _id) },
    wanted: { newList: into },
    after: [{ what: "count-members", list: { name: into } }, ...deletions],
  };
  const [{ jobs }, { startRun }, { noteListsInNoPlan }] = await Promise.all([
    import("../../../bulk/index.ts"),
    import("../../bulk/start.ts"),
    import("../../bulk/after.ts"),
  ]);
  const isResumed = !options.isFresh && (await isUnfinished(context, edit, structure._id));
  if (!isResumed) requireFreeListName(into, await account.lists(structure));
  if (deletesSources && !options.isDryRun) {
    await context.confirm(`Delete ${names} after all contacts are in ${JSON.stringify(into)}?`);
  }
  const what = `${by === "merge" ? "Merging" : "Duplicating"} ${edit.title}`;
  const result = await startRun(context, {
    job: await jobs.mutate(edit),
    options,
    flags,
    what,
    danger: "change",
  });
  if (deletesSources && options.isDryRun && flags.plan) noteListsInNoPlan(context, sources);
  await endRun(context, result);
}

function toDeletion(list: { _id: string; name: string }, ifAllIn: string): AfterStep {
  return { what: "delete-list", list, ifAllIn };
}

/** A run of the same command may have deleted some of its sources, and was killed before the others. */
async function explainGoneList(context: Context, error: unknown, into: string): Promise<never> {
  if (!isKind(error, "not found")) throw error;
  const { listRuns } = await import("../../../bulk/index.ts");
  const { profile } = await context.connect();
  const begun = (await listRuns(context.folders.state)).find(
    ({ manifest, isFinished }) =>
      !isFinished &&
      manifest.account.baseUrl === profile.baseUrl.value &&
      manifest.after?.some(({ what, ifAllIn }) => what === "delete-list" && ifAllIn === into),
  );
  if (begun) error.details.hint = advise`Resume with: ${ecm`runs resume ${begun.manifest.id}`}`;
  throw error;
}

/**
 * Found out before the names of the lists are looked up.
 * @throws UsageError for a file that cannot be written
 */
async function requirePlaces(context: Context, options: RunOptions, flags: BulkFlags): Promise<void> {
  const { openPlanOutput } = await import("../../bulk/plan-output.ts");
  claimFiles(context, undefined, flags);
  const plan = await openPlanOutput(context, flags, options.isDryRun);
  await plan.discard();
}

/** Whether the same command has begun already: then the new list may exist. */
async function isUnfinished(
  context: Context,
  { kind, command, conditions, wanted, after }: EditOptions,
  structureId: string,
): Promise<boolean> {
  const { listRuns } = await import("../../../bulk/index.ts");
  const { profile } = await context.connect();
  // As a manifest has them.
  const same: unknown = JSON.parse(JSON.stringify({ options: { command, conditions, wanted }, after }));
  return (await listRuns(context.folders.state)).some(
    ({ manifest, isFinished }) =>
      manifest.kind === kind &&
      !isFinished &&
      manifest.account.baseUrl === profile.baseUrl.value &&
      manifest.account.structureId === structureId &&
      isDeepStrictEqual({ options: manifest.options, after: manifest.after }, same),
  );
}
