import type { Command } from "commander";
import type { RowJob } from "../../bulk/row-run.ts";
import type { Manifest } from "../../bulk/run-folder.ts";
import type { Context } from "../../context.ts";
import { UsageError } from "../../errors.ts";
import { addBulkFlags, type BulkFlags, endRun, openEngine, runOptionsFrom } from "../bulk-flags.ts";
import { describeCommand } from "../help-text.ts";

export function registerRunsResume(parent: Command, context: Context): void {
  const command = parent
    .command("resume")
    .description("go on with a run that stopped; so does the command that began it")
    .argument("<run>", "its id, the beginning of it, or last")
    .action((run: string, flags: BulkFlags) => runRunsResume(context, run, flags));
  addBulkFlags(command, { isResume: true });
  describeCommand(command, {
    examples: ["ecm runs resume last", "ecm runs resume 20261121-1402 --max-requests 1000"],
    output: "as the command that began it",
    writes: true,
    exitCodes: { 3: "finished, and some rows were rejected", 7: "stopped by a budget; it can go on later" },
  });
}

async function runRunsResume(context: Context, wanted: string, flags: BulkFlags): Promise<void> {
  const [{ findRun }, { isFinished }, { runRowJob }, { displayRun }] = await Promise.all([
    import("../../bulk/run-folder.ts"),
    import("../../bulk/run-entry.ts"),
    import("../../bulk/row-run.ts"),
    import("../bulk-progress.ts"),
  ]);
  const { manifest } = await findRun(context.folders.state, wanted);
  if (isFinished(manifest)) throw finished(manifest);
  const options = { ...runOptionsFrom(flags, context.clock.now()), isFresh: false };
  options.rejects ??= manifest.rejects;
  const display = displayRun(context, `going on with run ${manifest.id}: ${manifest.input.name}`);
  try {
    const engine = await openEngine(context, options.concurrency);
    requireSameAccount(manifest, engine.account.baseUrl);
    engine.account.preferredStructure = manifest.account.structureId;
    const result = await runRowJob(engine, await jobOf(manifest), options, display.on, manifest);
    display.end(result.summary);
    await endRun(context, result);
  } finally {
    display.close();
  }
}

async function jobOf(manifest: Manifest): Promise<RowJob> {
  const input = { name: manifest.input.name, path: manifest.input.file };
  const { importJob, importOptionsFrom } = await import("../../bulk/import-job.ts");
  return importJob(importOptionsFrom(manifest.options, input));
}

function requireSameAccount({ id, account }: Manifest, baseUrl: string): void {
  if (account.baseUrl === baseUrl) return;
  const profile = account.profile === undefined ? "" : `, with --profile ${account.profile}`;
  throw new UsageError(
    `run ${id} belongs to ${account.baseUrl}, and this would go on at ${baseUrl}`,
    `name that account${profile}`,
  );
}

function finished({ id, supersededBy }: Manifest): UsageError {
  return new UsageError(
    supersededBy === undefined
      ? `run ${id} is finished: there is nothing to go on with`
      : `run ${id} was started over as run ${supersededBy}`,
    `see: ecm runs show ${supersededBy ?? id}`,
  );
}
