import { rm } from "node:fs/promises";
import type { Command } from "commander";
import type { OldRun } from "../../bulk/index.ts";
import type { Context } from "../../context.ts";
import { LockedError, takeLease } from "../../disk/lease.ts";
import { UsageError } from "../../errors.ts";
import { presentList, type View } from "../../terminal/present.ts";
import { describeCommand } from "../shared/help-text.ts";
import { computeCutoffTime } from "../shared/retention.ts";

interface PruneFlags {
  older?: string;
  unfinished?: boolean;
  dryRun?: boolean;
}

interface PrunedRun {
  run: string;
  kind: string;
  file: string;
  changedAt: string;
  /** `removed`, `would be removed`, or why it stays. */
  result: string;
}

const view: View<PrunedRun> = {
  columns: [
    { name: "run", value: (run) => run.run, isWhole: true },
    { name: "kind", value: (run) => run.kind },
    { name: "file", value: (run) => run.file },
    { name: "last change", value: (run) => run.changedAt, isTime: true },
    { name: "result", value: (run) => run.result },
  ],
  id: (run) => run.run,
  empty: "No run is that old",
};

export function registerRunsPrune(parent: Command, context: Context): void {
  const command = parent
    .command("prune")
    .description("delete the folders of old runs, and people's data with them")
    .option("--older <age>", "runs that nothing was written to for so long (ECM_KEEP_RUNS, else 90d)")
    .option("--unfinished", "also those that could be resumed, or that an unfinished undo needs")
    .action((flags: PruneFlags) => runRunsPrune(context, flags));
  command.option("--dry-run", "show what would be removed, without removing it");
  describeCommand(command, {
    examples: ["ecm runs prune --dry-run", "ecm runs prune --older 30d --yes"],
    output: "One row per old run: removed, or why it stays; with -o json an array.",
    isLocal: true,
    asks: true,
    exitCodes: { 1: "not confirmed", 2: "an age that is none, or not confirmed with --yes" },
  });
}

async function runRunsPrune(context: Context, flags: PruneFlags): Promise<void> {
  const { terminal, folders } = context;
  const isDryRun = flags.dryRun === true;
  const before = computeCutoffTime(context, flags.older);
  const { findOldRuns } = await import("../../bulk/index.ts");
  const runs = await findOldRuns(folders.state, before, ({ message }) => terminal.warn(message));
  const removable = runs.filter(({ neededFor }) => neededFor === undefined || flags.unfinished);
  if (!isDryRun && removable.length > 0) await context.confirm(questionFor(removable));
  const results = new Map<OldRun, string>();
  for (const run of removable) {
    results.set(run, isDryRun ? "would be removed" : await remove(folders.state, run));
  }
  const rows = runs.map((run): PrunedRun => {
    const { id, kind, input } = run.manifest;
    const changedAt = new Date(run.changedAt).toISOString();
    return { run: id, kind, file: input.name, changedAt, result: results.get(run) ?? reasonToStay(run) };
  });
  await presentList(terminal, context.output(), rows, view);
}

function questionFor(runs: readonly OldRun[]): string {
  const open = runs.filter(({ neededFor }) => neededFor === "resume").length;
  const unfinished = open === 0 ? "" : ` (${open} unfinished)`;
  const what = runs.length === 1 ? "1 run" : `${runs.length} runs`;
  return `Remove ${what}${unfinished}? They can then no longer be resumed or undone.`;
}

function reasonToStay({ neededFor }: OldRun): string {
  return neededFor === "resume"
    ? "kept: it can be resumed (--unfinished removes it)"
    : "kept: an unfinished undo needs it (--unfinished removes it)";
}

async function remove(stateFolder: string, { manifest, folder }: OldRun): Promise<string> {
  const { toLocksFolder } = await import("../../bulk/index.ts");
  try {
    const lease = await takeLease(toLocksFolder(stateFolder), manifest.fingerprint, `run ${manifest.id}`);
    await rm(folder, { recursive: true, force: true });
    await lease.release();
    return "removed";
  } catch (error) {
    if (error instanceof LockedError) return "kept: another process is working on it";
    throw new UsageError(`Cannot remove ${folder}: ${(error as Error).message}`, "Check its rights", {
      cause: error,
    });
  }
}
