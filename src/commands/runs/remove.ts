import { rm } from "node:fs/promises";
import type { Command } from "commander";
import type { Context } from "../../context.ts";
import { UsageError } from "../../errors.ts";
import { describeCommand } from "../help-text.ts";
import { runsOr } from "./choose.ts";

export function registerRunsRemove(parent: Command, context: Context): void {
  const command = parent
    .command("remove")
    .description("delete a run's folder: it can then neither go on nor be undone")
    .argument("[run...]", "their ids, the beginning of one, or last")
    .action((runs: string[]) => runRunsRemove(context, runs));
  describeCommand(command, {
    examples: ["ecm runs remove 20261121-1402-3fa9c1", "ecm runs remove last --yes"],
    output: "nothing",
    isLocal: true,
    exitCodes: { 5: "there is no such run", 130: "not confirmed" },
  });
}

async function runRunsRemove(context: Context, given: string[]): Promise<void> {
  const wanted = await runsOr(context, given, "remove");
  const [{ findRun, runsFolder }, { isFinished }, { takeLock }] = await Promise.all([
    import("../../bulk/runs/folder.ts"),
    import("../../bulk/runs/enter.ts"),
    import("../../bulk/runs/lock.ts"),
  ]);
  const runs = [];
  for (const each of wanted) runs.push(await findRun(context.folders.state, each));
  const unfinished = runs.filter(({ manifest }) => !isFinished(manifest));
  if (unfinished.length > 0) {
    const named = unfinished.map(({ manifest: { id, kind, input, summary } }) => {
      const pending = summary ? `, ${summary.rows.pending} of ${summary.rows.read} rows not attempted` : "";
      return `${id} (${kind} of ${input.name}${pending})`;
    });
    await context.confirm(
      `${named.join(", ")} can still go on. Removed, it can neither go on nor be undone. Remove?`,
    );
  }
  for (const { manifest, folder } of runs) {
    const lock = await takeLock(runsFolder(context.folders.state), manifest.fingerprint);
    if (!lock) throw new UsageError(`run ${manifest.id} is at work`, "wait for it to end");
    await rm(folder, { recursive: true, force: true });
    await lock.release();
  }
  context.terminal.note(
    runs.length === 1 ? `removed run ${runs[0]!.manifest.id}` : `removed ${runs.length} runs`,
  );
}
