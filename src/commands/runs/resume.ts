import type { Command } from "commander";
import type { Closed } from "../../bulk/jobs/finish.ts";
import type { RowJob } from "../../bulk/jobs/job.ts";
import type { Engine, RunOptions } from "../../bulk/plan/run-context.ts";
import type { Manifest } from "../../bulk/runs/folder.ts";
import type { Context } from "../../context.ts";
import { UsageError } from "../../errors.ts";
import { agreementFor, type Danger, dangerIn, requireAnswer, undoAgreement } from "../bulk/agree.ts";
import {
  addBulkFlags,
  type BulkFlags,
  endRunAfter,
  openEngine,
  printSummary,
  requireAccountOf,
  runOptionsFrom,
} from "../bulk/flags.ts";
import type { RunDisplay } from "../bulk/progress.ts";
import { describeCommand } from "../help-text.ts";
import { runNamed, runOr } from "./choose.ts";
import { suppressedFor } from "./undo.ts";

export function registerRunsResume(parent: Command, context: Context): void {
  const command = parent
    .command("resume")
    .description("resume a run that stopped (or run the same command again)")
    .argument("[run]", "its id, the start of it, or last")
    .action((run: string | undefined, flags: BulkFlags) => runRunsResume(context, run, flags));
  addBulkFlags(command, { isResume: true });
  describeCommand(command, {
    examples: ["ecm runs resume last", "ecm runs resume 20261121-1402 --max-requests 1000"],
    output: "As the command that started it.",
    writes: true,
    exitCodes: {
      3: "finished, and some rows were rejected",
      7: "stopped by a limit; it can be resumed later",
    },
  });
}

async function runRunsResume(context: Context, run: string | undefined, flags: BulkFlags): Promise<void> {
  const [{ isFinished, requirePlanned }, { runJob }, { displayRun }] = await Promise.all([
    import("../../bulk/runs/enter.ts"),
    import("../../bulk/jobs/run-job.ts"),
    import("../bulk/progress.ts"),
  ]);
  const wanted = await runOr(context, run, "resume", (each) => !isFinished(each));
  const { manifest } = await runNamed(context, wanted);
  if (isFinished(manifest)) throw finished(manifest);
  requirePlanned(manifest);
  const given = runOptionsFrom(flags, context.clock.now());
  const options = { ...given, isFresh: false, guards: { ...manifest.guards, ...given.guards } };
  if (options.rejects !== undefined) context.noteWrittenFile(options.rejects);
  options.rejects ??= manifest.rejects;
  requireAnswer(context, dangerOf(manifest), options.isDryRun);
  const { isSpooled, file } = manifest.input;
  const inputs = isSpooled || file === "" ? [] : [file];
  await context.tellUnderWay({ kind: "run", what: `Run ${manifest.id}`, inputs });
  const display = displayRun(
    context,
    `Resuming run ${manifest.id}: ${manifest.input.name}`,
    options.isDryRun,
  );
  try {
    const engine = await openEngine(context, options);
    requireAccountOf(manifest, engine.account.baseUrl);
    engine.account.preferredStructure = manifest.account.structureId;
    const result =
      manifest.kind === "undo"
        ? await goOnUndoing(context, display, engine, manifest, options)
        : manifest.kind === "apply"
          ? await goOnApplying(context, engine, manifest, options, display)
          : await runJob(
              engine,
              await jobOf(manifest),
              { ...options, ...(await stepsOf(context, display, manifest)), resumes: manifest },
              display.on,
            );
    display.end(result);
    await endRunAfter(context, result, () => finish(context, manifest, result));
  } catch (error) {
    await printSummary(context, display.refused());
    throw error;
  } finally {
    display.close();
  }
}

function dangerOf({ kind, options }: Manifest): Danger {
  if (kind === "unsubscribe" || kind === "delete") return kind;
  return kind === "undo" && options.deletesCreated === true ? "delete" : "change";
}

/** What a run that changes contacts does before the first write of this invocation. */
async function stepsOf(
  context: Context,
  display: RunDisplay,
  manifest: Manifest,
): Promise<Pick<RunOptions, "agree" | "backUp">> {
  const agree = agreementFor(context, display, dangerOf(manifest));
  const { kind, backup } = manifest;
  if (kind !== "delete") return { agree };
  const { backUpTo } = await import("../bulk/backup.ts");
  return { agree, backUp: backUpTo(context, backup) };
}

/** What follows on a run, whichever invocation has completed it. */
async function finish(context: Context, { kind, input, options }: Manifest, result: Closed): Promise<void> {
  if (kind === "undo") {
    const [{ findRun }, { finishUndoingList }] = await Promise.all([
      import("../../bulk/runs/folder.ts"),
      import("../bulk/composed-list.ts"),
    ]);
    const undone = await findRun(context.folders.state, input.name);
    await finishUndoingList(context, undone, result, options.deletesCreated === true);
  }
  if (kind !== "merge" && kind !== "duplicate") return;
  const [{ finishComposing }, { composeOptionsFrom }] = await Promise.all([
    import("../bulk/composed-list.ts"),
    import("../../bulk/jobs/compose-list.ts"),
  ]);
  await finishComposing(context, composeOptionsFrom(kind, options), result);
}

async function jobOf({ kind, input: { name, file }, options }: Manifest): Promise<RowJob> {
  const input = { name, path: file };
  if (kind === "mutate" || kind === "unsubscribe" || kind === "delete") {
    const { editJob, editOptionsFrom } = await import("../../bulk/jobs/edit.ts");
    return editJob(editOptionsFrom(kind, options, input, file === ""));
  }
  if (kind === "merge" || kind === "duplicate") {
    const { composeListJob, composeOptionsFrom } = await import("../../bulk/jobs/compose-list.ts");
    return composeListJob(composeOptionsFrom(kind, options), true);
  }
  if (kind === "sync") {
    const { syncJob, syncOptionsFrom } = await import("../../bulk/jobs/sync.ts");
    return syncJob(syncOptionsFrom(options, input));
  }
  const { importJob, importOptionsFrom } = await import("../../bulk/jobs/import.ts");
  return importJob(importOptionsFrom(options, input));
}

/** Of what the run has planned already; one that was stopped before that begins with the plan file again. */
async function goOnApplying(
  context: Context,
  engine: Engine,
  manifest: Manifest,
  options: RunOptions,
  display: RunDisplay,
): Promise<Closed> {
  const [{ applyPlanFile, plannedFile }, { openPlanFile }, { backUpTo }] = await Promise.all([
    import("../../bulk/jobs/apply-file.ts"),
    import("../../bulk/plan/plan-import.ts"),
    import("../bulk/backup.ts"),
  ]);
  const { input, backup } = manifest;
  const plan =
    (await plannedFile(engine.stateFolder, manifest)) ?? (await openPlanFile(input.file, input.sha256));
  const danger = dangerIn(plan);
  requireAnswer(context, danger, options.isDryRun);
  const steps = { agree: agreementFor(context, display, danger), backUp: backUpTo(context, backup) };
  return applyPlanFile(
    engine,
    plan,
    { ...options, ...(plan.deletes > 0 ? steps : { agree: steps.agree }) },
    display.on,
  );
}

async function goOnUndoing(
  context: Context,
  display: RunDisplay,
  engine: Engine,
  { input, options: { isPartial, deletesCreated } }: Manifest,
  options: RunOptions,
): Promise<Closed> {
  const [{ findRun }, { undoRun }, { requireRejectsPlace }, { requestsAfterUndo }] = await Promise.all([
    import("../../bulk/runs/folder.ts"),
    import("../../bulk/jobs/undo.ts"),
    import("../../bulk/jobs/run-job.ts"),
    import("../bulk/composed-list.ts"),
  ]);
  const source = await findRun(context.folders.state, input.name);
  await requireRejectsPlace({ input: { name: input.file } }, options);
  const agree = undoAgreement(context, display);
  const undo = {
    isPartial: isPartial === true,
    deletesCreated: deletesCreated === true,
    requestsAfter: requestsAfterUndo(source.manifest, deletesCreated === true),
    isSuppressed: await suppressedFor(context, source.manifest),
  };
  return undoRun(engine, source, { ...options, agree, undo }, display.on);
}

function finished({ id, supersededBy }: Manifest): UsageError {
  return new UsageError(
    supersededBy === undefined
      ? `Run ${id} is finished; there is nothing to resume`
      : `Run ${id} was started over as run ${supersededBy}`,
    `See: ecm runs show ${supersededBy ?? id}`,
  );
}
