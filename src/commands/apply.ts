import type { Command } from "@commander-js/extra-typings";
import type { Context } from "../context.ts";
import { findDanger } from "./bulk/question.ts";
import { addBulkFlags, toRunOptions } from "./flags/bulk.ts";
import { writtenFileOption } from "./flags/flags.ts";
import { verb } from "./verb.ts";

export function register(command: Command, context: Context): void {
  const described = command
    .description("carry out a plan file exactly as it says, or not at all")
    .argument("<file>", "written by --dry-run --plan FILE")
    .option("--digest <sha256>", "refuse any other plan than the one with this digest")
    .addOption(
      writtenFileOption(
        "--backup <file>",
        "file for the contacts that it deletes (default: in the run's folder)",
      ),
    );
  const applying = addBulkFlags(described, { isSync: true });
  verb(context, applying, {
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
    async run(file, flags) {
      const options = toRunOptions(flags, context.clock.now());
      const [{ openPlanFile, jobs }, { createBackUp, startRun }] = await Promise.all([
        import("../bulk/index.ts"),
        import("./bulk/start.ts"),
      ]);
      const plan = await openPlanFile(file, flags.digest);
      const danger = findDanger(plan);
      const backUp = plan.deletes > 0 ? createBackUp(context, flags.backup) : undefined;
      const stateFolder = context.folders.state;
      const job = await jobs.apply({ input: { name: file, path: file }, stateFolder, plan });
      await startRun(context, { job, options, flags, what: `Applying ${job.input.name}`, danger, backUp });
    },
  });
}
