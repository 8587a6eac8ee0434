/**
 * `runs resume`: goes on with a run by its plan and journal alone once the plan is closed; before that by the
 * job that its record states, and its input.
 */

import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { type Lease, takeLease } from "../../disk/lease.ts";
import { readOnlyCommandError } from "../../errors.ts";
import { restoreSelection } from "../../select/selection.ts";
import type { Account } from "../../service/account.ts";
import type { RunEvent } from "../plan/events.ts";
import { openPlannedNames, requireKeptNames } from "../plan/names.ts";
import {
  openPlanFile,
  type PlanEnd,
  readPlanLines,
  readStoredPlan,
  type StoredPlan,
} from "../plan/plan-file.ts";
import { toPlanNames } from "../plan/plan-line.ts";
import { type Engine, openContext, type RunContext, type RunOptions } from "../plan/run-context.ts";
import {
  type AfterStep,
  fileNames,
  findNewList,
  type Manifest,
  requireStatePlace,
  toLocksFolder,
} from "../runs/folder.ts";
import { findRun } from "../runs/stored-runs.ts";
import { applyPlanFile } from "./apply-file.ts";
import { type EditOptions, editJob } from "./edit.ts";
import { closeUnlessRefused, enterJob, findPlannedSync, leaveRun } from "./enter-job.ts";
import { type Closed, noInput } from "./finish.ts";
import { importJob, restoreImportOptions } from "./import.ts";
import type { RowJob } from "./job.ts";
import { openAccount, openLookup, openSuppressionRules } from "./open-account.ts";
import { planAndApply } from "./plan-and-apply.ts";
import type { ReadyJob } from "./ready-job.ts";
import { runJob } from "./run-job.ts";
import { type SyncOptions, syncJob } from "./sync.ts";
import { isDeletedOne, undoRun } from "./undo.ts";

interface StoppedRun {
  manifest: Manifest;
  folder: string;
}

type Emit = (event: RunEvent) => void;

/** What cannot be taken back of what the run may do: it is confirmed again. */
export async function foreseeWrites({
  manifest,
  folder,
}: StoppedRun): Promise<{ deletes: number; unsubscribes: boolean }> {
  const { kind, options, input } = manifest;
  if (kind === "apply") {
    const own = await readStoredPlan(join(folder, fileNames.plan));
    if (!own?.end) return openPlanFile(input.file, input.sha256);
    const { deleted, unsubscribed } = own.end.tally;
    return { deletes: deleted, unsubscribes: unsubscribed > 0 };
  }
  const deletes = kind === "delete" || (kind === "undo" && options.deletesCreated === true);
  return { deletes: deletes ? 1 : 0, unsubscribes: kind === "unsubscribe" };
}

/** @throws what was refused before the first write of this invocation */
export async function resumeRun(
  engine: Engine,
  run: StoppedRun,
  options: RunOptions,
  emit: Emit,
): Promise<Closed> {
  const plan = options.isDryRun ? undefined : await readStoredPlan(join(run.folder, fileNames.plan));
  const { end } = plan ?? {};
  if (plan && end) return resumePlanned(engine, run, { ...plan, end }, { options, emit });
  return jobs[run.manifest.kind](engine, run, options, emit);
}

async function resumePlanned(
  engine: Engine,
  { manifest, folder }: StoppedRun,
  plan: StoredPlan & { end: PlanEnd },
  { options, emit }: { options: RunOptions; emit: Emit },
): Promise<Closed> {
  const { version: _version, id: _id, startedAt: _startedAt, summary: _summary, ...about } = manifest;
  const { kind, input } = manifest;
  const applies = kind === "apply" ? String(manifest.options.applies) : undefined;
  if (engine.account.isReadOnly) throw readOnlyCommandError();
  emit({ kind: "phase", progress: () => ({ phase: "reading", rowsRead: 0, sent: 0 }) });
  await requireStatePlace(engine.stateFolder);
  const context = openContext({ kind, applies, subject: input.name, engine, options, emit });
  if (kind !== "apply" && kind !== "undo" && (await hasChanged(input))) {
    emit({ kind: "remark", remark: { code: "input_changed", file: input.name } });
  }
  let lease: Lease | undefined;
  try {
    // No other process can work on the run that is undone.
    if (kind === "undo")
      lease = await takeLease(toLocksFolder(engine.stateFolder), input.sha256, `run ${input.name}`);
    const run = await enterJob(context, about, { isFresh: false, syncs: findPlannedSync(plan.head) });
    return await leaveRun(context, run, async () => {
      const account = openAccount(context, plan.head.account.structureId);
      const lines = () => readPlanLines(join(folder, fileNames.plan));
      await requireKeptNames({ head: plan.head, lines }, account);
      return planAndApply(context, await openPlannedJob(context, account, plan, manifest.after), run);
    });
  } catch (error) {
    return closeUnlessRefused(context, error, plan.end.input);
  } finally {
    await lease?.release();
  }
}

/** Whether the file is another one by now; one that is gone, is a pipe or cannot be read says nothing. */
async function hasChanged({ file, isSpooled, sha256, bytes }: Manifest["input"]): Promise<boolean> {
  if (isSpooled || file === "") return false;
  const found = await stat(file).catch(() => undefined);
  if (!found?.isFile()) return false;
  if (found.size !== bytes) return true;
  const hash = createHash("sha256");
  const isRead = await pipeline(createReadStream(file), hash).then(
    () => true,
    () => false,
  );
  return isRead && hash.digest("hex") !== sha256;
}

type StartAgain = (engine: Engine, run: StoppedRun, options: RunOptions, emit: Emit) => Promise<Closed>;

/** By the job that the run's record states. */
const jobs: Record<Manifest["kind"], StartAgain> = {
  import: byRows(({ options, input }) => importJob(restoreImportOptions(options, named(input)))),
  mutate: byRows(toEditJob),
  unsubscribe: byRows(toEditJob),
  delete: byRows(toEditJob),
  sync: byRows(({ options, input }) => {
    return syncJob({ ...(options as unknown as Omit<SyncOptions, "input">), input: named(input) });
  }),
  async apply(engine, { manifest: { input } }, options, emit) {
    return applyPlanFile(engine, await openPlanFile(input.file, input.sha256), options, emit);
  },
  async undo(engine, { manifest }, options, emit) {
    const { isPartial, deletesCreated } = manifest.options;
    const undo = { isPartial: isPartial === true, deletesCreated: deletesCreated === true };
    const undone = await findRun(engine.stateFolder, manifest.input.name);
    return undoRun(engine, undone, { ...options, undo }, emit);
  },
};

function byRows(toJob: (manifest: Manifest) => RowJob | Promise<RowJob>): StartAgain {
  return async (engine, { manifest }, options, emit) =>
    runJob(engine, await toJob(manifest), { ...options, resumes: manifest }, emit);
}

function toEditJob({ kind, options, input, after }: Manifest): Promise<RowJob> {
  const edit = options as unknown as EditOptions;
  // Conditions have no file.
  const named = input.file === "" ? undefined : { name: input.name, path: input.file };
  return editJob({ ...edit, kind: kind as EditOptions["kind"], input: named, title: input.name, after });
}

function named({ name, file }: Manifest["input"]): RowJob["input"] {
  return { name, path: file };
}

/** A run whose plan is closed, ready to be carried out: the plan says everything that its job would. */
async function openPlannedJob(
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
