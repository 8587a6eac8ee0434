import type { Command } from "@commander-js/extra-typings";
import type { Closed, Manifest, RunOptions, Summary } from "../../bulk/index.ts";
import type { Context } from "../../context.ts";
import { type EcmError, usageError } from "../../errors.ts";
import { advise, ecm } from "../../hint.ts";
import { endRun } from "../bulk/end.ts";
import type { RunDisplay } from "../bulk/progress.ts";
import { createAgreement, type Danger, findDanger, requireAnswer, undoAgreement } from "../bulk/question.ts";
import { isAtTerminal, requireSameAccount, withRun } from "../bulk/start.ts";
import { addBulkFlags, type BulkFlags, claimFiles, toRunOptions } from "../flags/bulk.ts";
import { describeCommand } from "../help/help-text.ts";
import { findNamedRun, requireRun } from "./shared.ts";

export function registerRunsResume(parent: Command, context: Context): void {
  const command = parent
    .command("resume")
    .description("resume a run that stopped (or run the same command again)")
    .argument("[run]", "its id, the start of it, or last");
  const resuming = addBulkFlags(command, { isResume: true });
  resuming.action((run, flags) => runRunsResume(context, run, flags));
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
  const { foreseeWrites, resumeRun } = await import("../../bulk/index.ts");
  const idOrLast = await requireRun(context, run, "resume", ({ isFinished }) => !isFinished);
  const stopped = await findNamedRun(context, idOrLast);
  const { manifest } = stopped;
  if (stopped.isFinished) throw finishedError(manifest);
  const runOptions = toRunOptions(flags, context.clock.now());
  const options = {
    ...runOptions,
    isFresh: false,
    isAtTerminal: isAtTerminal(context),
  };
  options.rejects ??= manifest.rejects;
  const danger = findDanger(await foreseeWrites(stopped));
  requireAnswer(context, danger, options.isDryRun);
  if (manifest.summary?.status === "completed" && !options.isDryRun) {
    await requireSameAccount(context, manifest, "runs resume");
    return endRun(context, followingAlone(manifest.summary, manifest));
  }
  const { isSpooled, file } = manifest.input;
  const inputs = isSpooled || file === "" ? [] : [file];
  claimFiles(context, inputs[0], { ...flags, rejects: options.rejects });
  await context.tellUnderWay({ kind: "run", what: `Run ${manifest.id}`, inputs });
  const what = `Resuming run ${manifest.id}: ${manifest.input.name}`;
  // Its plan was shown, or written to a file, before it began.
  const outputs = { report: flags.report, redact: flags.redact, rejects: flags.rejects, show: 0 };
  await withRun(context, { what, options, flags: outputs }, async ({ engine, display, options }) => {
    await requireSameAccount(context, manifest, "runs resume");
    engine.account.preferredStructure = manifest.account.structureId;
    const steps = await createSteps(context, display, manifest, danger);
    return resumeRun(engine, stopped, { ...options, ...steps }, display.on);
  });
}

/** All contacts are done, and what follows on the run is not: the requests are those of this invocation. */
function followingAlone(summary: Summary, { after }: Manifest): Closed {
  const requests = { search: 0, create: 0, mutate: 0, other: 0, retried: 0, total: 0 };
  return { summary: { ...summary, requests }, after };
}

/** What a run that goes on does before the first write of this invocation. */
async function createSteps(
  context: Context,
  display: RunDisplay,
  { kind, backup }: Manifest,
  danger: Danger,
): Promise<Pick<RunOptions, "agree" | "backUp">> {
  if (kind === "undo") return { agree: undoAgreement(context, display) };
  const agree = createAgreement(context, display, danger);
  if (danger !== "delete") return { agree };
  const { createBackUp } = await import("../bulk/start.ts");
  return { agree, backUp: createBackUp(context, backup) };
}

function finishedError({ id, supersededBy }: Manifest): EcmError {
  return usageError(
    supersededBy === undefined
      ? `Run ${id} is finished; there is nothing to resume`
      : `Run ${id} was started over as run ${supersededBy}`,
    advise`See: ${ecm`runs show ${supersededBy ?? id}`}`,
  );
}
