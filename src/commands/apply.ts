import { resolve } from "node:path";
import type { Command } from "commander";
import type { Context } from "../context.ts";
import { findDanger, requireAnswer } from "./shared/bulk/agree.ts";
import { addBulkFlags, type BulkFlags, endRun, openEngine, toRunOptions } from "./shared/bulk/flags.ts";
import { writtenFileOption } from "./shared/flags.ts";
import { describeCommand } from "./shared/help-text.ts";

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
        "csv",
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
    danger: "destructive",
    exitCodes: {
      2: "not a plan, or one that was changed, cut off, or made for another account; nothing was sent",
      3: "finished, and some contacts were not as the plan says, or were rejected",
      7: "stopped by a limit; the same command resumes",
    },
  });
}

async function runApply(context: Context, file: string, flags: ApplyFlags): Promise<void> {
  const options = toRunOptions(flags, context.clock.now());
  const [{ openPlanFile, applyPlanFile, toPlanName }, { displayRun }, { withOutputs }, { openPlanOutput }] =
    await Promise.all([
      import("../bulk/index.ts"),
      import("./shared/bulk/progress.ts"),
      import("./shared/bulk/start.ts"),
      import("./shared/bulk/plan-output.ts"),
    ]);
  const approved = await openPlanFile(file, flags.digest);
  const danger = findDanger(approved);
  requireAnswer(context, danger, options.isDryRun);
  const { createBackUp, createBackupTarget } = await import("./shared/bulk/backup.ts");
  const target = flags.backup === undefined ? undefined : createBackupTarget(context, flags.backup);
  const name = toPlanName(context.folders.state, approved);
  await context.tellUnderWay({ kind: "run", what: `A run (Applying ${name})`, inputs: [resolve(file)] });
  const plan = await openPlanOutput(context, flags, options.isDryRun);
  const display = displayRun(context, `Applying ${name}`, options.isDryRun);
  const result = await withOutputs(context, { plan, display }, async () => {
    const { createAgreement } = await import("./shared/bulk/agree.ts");
    const engine = await openEngine(context, options);
    const planned = {
      ...options,
      takePlan: plan.take,
      planFile: flags.plan === "-" ? undefined : flags.plan,
      agree: createAgreement(context, display, danger),
      ...(approved.deletes > 0 && { backUp: createBackUp(context, target) }),
    };
    return applyPlanFile(engine, approved, planned, display.on);
  });
  await endRun(context, result);
}
