import { rm } from "node:fs/promises";
import type { Command } from "commander";
import type { Manifest } from "../../bulk/index.ts";
import type { Context } from "../../context.ts";
import { UsageError } from "../../errors.ts";
import { advise, ecm } from "../../hint.ts";
import { describeCommand } from "../shared/help-text.ts";
import { findNamedRun, requireRuns } from "./shared/choose.ts";

export function registerRunsRemove(parent: Command, context: Context): void {
  const command = parent
    .command("remove")
    .description("delete a run's folder; it can then no longer be resumed or undone")
    .argument("[run...]", "their full ids, or last")
    .action((runs: string[]) => runRunsRemove(context, runs));
  describeCommand(command, {
    examples: ["ecm runs remove 20261121-1402-3fa9c1", "ecm runs remove last --yes"],
    output: "nothing",
    isLocal: true,
    asks: true,
    exitCodes: {
      1: "not confirmed",
      2: "a shortened id, or not confirmed with --yes",
      5: "no such run",
      6: "another process is working on it",
    },
  });
}

async function runRunsRemove(context: Context, typedRuns: string[]): Promise<void> {
  const ids = await requireRuns(context, typedRuns, "remove");
  const [{ isRunName, toLocksFolder, isFinished }, { takeLease }] = await Promise.all([
    import("../../bulk/index.ts"),
    import("../../disk/lease.ts"),
  ]);
  const runs = [];
  for (const each of ids) {
    if (each !== "last" && !isRunName(each)) throw incompleteRunError(each);
    runs.push(await findNamedRun(context, each));
  }
  await context.confirm(formatQuestion(runs.map(({ manifest }) => [manifest, isFinished(manifest)])));
  for (const { manifest, folder } of runs) {
    const { id, fingerprint } = manifest;
    const lease = await takeLease(toLocksFolder(context.folders.state), fingerprint, `run ${id}`);
    await rm(folder, { recursive: true, force: true });
    await lease.release();
  }
  context.terminal.note(
    runs.length === 1 ? `Removed run ${runs[0]!.manifest.id}` : `Removed ${runs.length} runs`,
  );
}

/** What is removed is gone: the beginning of an id, or an empty variable of a script, never chooses it. */
function incompleteRunError(id: string): UsageError {
  return new UsageError(
    `${JSON.stringify(id)} is not the full id of a run`,
    advise`Give the full id, or last; see: ${ecm`runs list`}`,
  );
}

function formatQuestion(runs: [run: Manifest, isFinished: boolean][]): string {
  const descriptions = runs.map(([{ id, kind, input, summary }, isFinished]) => {
    const pending = summary?.rows.pending
      ? `, ${summary.rows.pending} of ${summary.rows.read} rows not attempted`
      : "";
    return `${id} (${kind} of ${input.name}${isFinished ? "" : `, unfinished${pending}`})`;
  });
  return runs.length === 1
    ? `Remove run ${descriptions[0]}? It can then no longer be resumed or undone.`
    : `Remove ${runs.length} runs: ${descriptions.join(", ")}? They can then no longer be resumed or undone.`;
}
