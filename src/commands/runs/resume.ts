import type { Command } from "@commander-js/extra-typings";
import type { Closed, Manifest, RowJob, RunOptions } from "../../bulk/index.ts";
import type { Context } from "../../context.ts";
import { UsageError } from "../../errors.ts";
import { advise, ecm } from "../../hint.ts";
import {
  createAgreement,
  type Danger,
  findDanger,
  requireAnswer,
  undoAgreement,
} from "../shared/bulk/agree.ts";
import { claimFiles } from "../shared/bulk/distinct-files.ts";
import { addBulkFlags, type BulkFlags, endRun, toRunOptions } from "../shared/bulk/flags.ts";
import type { RunDisplay } from "../shared/bulk/progress.ts";
import { requireSameAccount } from "../shared/bulk/run-account.ts";
import { isAtTerminal, type OpenRun, withRun } from "../shared/bulk/start.ts";
import { describeCommand } from "../shared/help-text.ts";
import { findNamedRun, requireRun } from "./shared/choose.ts";

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
  const { isFinished } = await import("../../bulk/index.ts");
  const idOrLast = await requireRun(context, run, "resume", (each) => !isFinished(each));
  const { manifest } = await findNamedRun(context, idOrLast);
  if (isFinished(manifest)) throw finishedError(manifest);
  const runOptions = toRunOptions(flags, context.clock.now());
  const options = {
    ...runOptions,
    isFresh: false,
    isAtTerminal: isAtTerminal(context),
    guards: { ...manifest.guards, ...runOptions.guards },
  };
  options.rejects ??= manifest.rejects;
  requireAnswer(context, findRunDanger(manifest), options.isDryRun);
  const { isSpooled, file } = manifest.input;
  const inputs = isSpooled || file === "" ? [] : [file];
  claimFiles(context, inputs[0], { ...flags, rejects: options.rejects });
  await context.tellUnderWay({ kind: "run", what: `Run ${manifest.id}`, inputs });
  const what = `Resuming run ${manifest.id}: ${manifest.input.name}`;
  // Its plan was shown, or written to a file, before it began.
  const outputs = { report: flags.report, redact: flags.redact, rejects: flags.rejects, show: 0 };
  const result = await withRun(context, { what, options, flags: outputs }, async (open) => {
    await requireSameAccount(context, manifest, "runs resume");
    open.engine.account.preferredStructure = manifest.account.structureId;
    return resumeByKind({ ...open, context, manifest });
  });
  await endRun(context, result);
}

function findRunDanger({ kind, options }: Manifest): Danger {
  if (kind === "unsubscribe" || kind === "delete") return kind;
  return kind === "undo" && options.deletesCreated === true ? "delete" : "change";
}

/** What a run that changes contacts does before the first write of this invocation. */
async function createSteps(
  context: Context,
  display: RunDisplay,
  manifest: Manifest,
): Promise<Pick<RunOptions, "agree" | "backUp">> {
  const agree = createAgreement(context, display, findRunDanger(manifest));
  const { kind, backup } = manifest;
  if (kind !== "delete") return { agree };
  const { createBackUp } = await import("../shared/bulk/backup.ts");
  return { agree, backUp: createBackUp(context, backup) };
}

async function restoreJob({ kind, input: { name, file }, options, after }: Manifest): Promise<RowJob> {
  const input = { name, path: file };
  if (kind === "mutate" || kind === "unsubscribe" || kind === "delete") {
    const { editJob, restoreEditOptions } = await import("../../bulk/index.ts");
    const edit = restoreEditOptions(kind, options, file === "" ? undefined : input);
    return editJob({ ...edit, title: name, after });
  }
  if (kind === "sync") {
    const { syncJob, restoreSyncOptions } = await import("../../bulk/index.ts");
    return syncJob(restoreSyncOptions(options, input));
  }
  const { importJob, restoreImportOptions } = await import("../../bulk/index.ts");
  return importJob(restoreImportOptions(options, input));
}

/** A run that goes on. */
interface Resuming extends OpenRun {
  context: Context;
  manifest: Manifest;
}

async function resumeByKind(resuming: Resuming): Promise<Closed> {
  const { context, display, engine, manifest, options } = resuming;
  if (manifest.kind === "undo") return resumeUndoing(resuming);
  if (manifest.kind === "apply") return resumeApplying(resuming);
  const { runJob } = await import("../../bulk/index.ts");
  const steps = await createSteps(context, display, manifest);
  return runJob(engine, await restoreJob(manifest), { ...options, ...steps, resumes: manifest }, display.on);
}

/** Of what the run has planned already; one that was stopped before that begins with the plan file again. */
async function resumeApplying({ context, display, engine, manifest, options }: Resuming): Promise<Closed> {
  const [{ applyPlanFile, openPlannedFile, openPlanFile }, { createBackUp }] = await Promise.all([
    import("../../bulk/index.ts"),
    import("../shared/bulk/backup.ts"),
  ]);
  const { input, backup } = manifest;
  const plan =
    (await openPlannedFile(engine.stateFolder, manifest)) ?? (await openPlanFile(input.file, input.sha256));
  const danger = findDanger(plan);
  requireAnswer(context, danger, options.isDryRun);
  const steps = { agree: createAgreement(context, display, danger), backUp: createBackUp(context, backup) };
  return applyPlanFile(
    engine,
    plan,
    { ...options, ...(plan.deletes > 0 ? steps : { agree: steps.agree }) },
    display.on,
  );
}

async function resumeUndoing({ context, display, engine, manifest, options }: Resuming): Promise<Closed> {
  const {
    input,
    options: { isPartial, deletesCreated },
  } = manifest;
  const { findRun, undoRun } = await import("../../bulk/index.ts");
  const source = await findRun(context.folders.state, input.name);
  const agree = undoAgreement(context, display);
  const undo = {
    isPartial: isPartial === true,
    deletesCreated: deletesCreated === true,
  };
  return undoRun(engine, source, { ...options, agree, undo }, display.on);
}

function finishedError({ id, supersededBy }: Manifest): UsageError {
  return new UsageError(
    supersededBy === undefined
      ? `Run ${id} is finished; there is nothing to resume`
      : `Run ${id} was started over as run ${supersededBy}`,
    advise`See: ${ecm`runs show ${supersededBy ?? id}`}`,
  );
}
