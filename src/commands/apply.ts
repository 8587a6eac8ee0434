import { resolve } from "node:path";
import type { Command } from "@commander-js/extra-typings";
import type { Context } from "../context.ts";
import { createAgreement, findDanger, requireAnswer } from "./bulk/agree.ts";
import { claimFiles } from "./bulk/distinct-files.ts";
import { addBulkFlags, type BulkFlags, endRun, toRunOptions } from "./bulk/flags.ts";
import { writtenFileOption } from "./flags/flags.ts";
import { describeCommand } from "./help/help-text.ts";

interface ApplyFlags extends BulkFlags {
  digest?: string;
  backup?: string;
}

export function registerApply(command: Command, context: Context): void {
  command
    .description("carry out a plan file exactly as it says, or not at all")
    .argument("<file>", "written by --dry-run --plan FILE")
    .option("--digest <sha256>", "refuse any other plan than the one with this digest")
    .addOption(
      writtenFileOption(
        "--backup <file>",
        "file for the contacts that it deletes (default: in the run's folder)",
      ),
    )
    .action((file: string, flags: ApplyFlags) => runApply(context, file, flags));
  addBulkFlags(command, { isSync: true });
  describeCommand(command, {
    examples: [
      "ecm apply plan.ndjson --digest sha256:4f1c…",
      "ecm apply plan.ndjson --dry-run",
      "ecm apply plan.ndjson --max-delete 0 --yes",
    ],
    output:
      "Nothing; with --json one summary object. Who is no longer as the plan says is skipped (changed).",
    writes: true,
    exitCodes: {
      2: "not a plan, or one that was changed, cut off, or made for another account; nothing was sent",
      3: "finished, and some contacts were not as the plan says, or were rejected",
      7: "stopped by a limit; the same command resumes",
    },
  });
}

async function runApply(context: Context, file: string, flags: ApplyFlags): Promise<void> {
  const options = toRunOptions(flags, context.clock.now());
  claimFiles(context, file, flags);
  const [{ openPlanFile, jobs, runJob }, { withRun }, { createBackUp, createBackupTarget }] =
    await Promise.all([import("../bulk/index.ts"), import("./bulk/start.ts"), import("./bulk/backup.ts")]);
  const approved = await openPlanFile(file, flags.digest);
  const danger = findDanger(approved);
  requireAnswer(context, danger, options.isDryRun);
  const target = flags.backup === undefined ? undefined : createBackupTarget(context, flags.backup);
  const stateFolder = context.folders.state;
  const job = await jobs.apply({ input: { name: file, path: file }, stateFolder, plan: approved });
  const what = `Applying ${job.input.name}`;
  await context.tellUnderWay({ kind: "run", what: `A run (${what})`, inputs: [resolve(file)] });
  const result = await withRun(context, { what, options, flags }, ({ engine, display, options }) => {
    const steps = {
      agree: createAgreement(context, display, danger),
      ...(approved.deletes > 0 && { backUp: createBackUp(context, target) }),
    };
    return runJob(engine, job, { ...options, ...steps }, display.on);
  });
  await endRun(context, result);
}
