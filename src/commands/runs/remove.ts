import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Command } from "@commander-js/extra-typings";
import type { StoredRun } from "../../bulk/index.ts";
import type { Context } from "../../context.ts";
import { formatCounted } from "../../counts.ts";
import { takeLease } from "../../disk/lease.ts";
import { readChangeTime } from "../../disk/walk.ts";
import { usageError } from "../../errors.ts";
import { advise, ecm } from "../../hint.ts";
import { parsePastTime } from "../flags/times.ts";
import { verb } from "../verb.ts";
import { findNamedRun, readRuns, requireRuns } from "./shared.ts";

export function registerRunsRemove(parent: Command, context: Context): void {
  const command = parent
    .command("remove")
    .description("delete the folders of runs, and people's data with them")
    .argument("[run...]", "their full ids, or last")
    .option("--older <age>", "all finished runs to which nothing was written for so long, such as 30d");
  verb(context, command, {
    examples: [
      "ecm runs remove 20261121-1402-3fa9c1",
      "ecm runs remove last --yes",
      "ecm runs remove --older 30d --yes",
    ],
    output: "nothing",
    isLocal: true,
    asks: true,
    exitCodes: {
      5: "no such run",
      6: "another process is working on it",
    },
    run: (runs, { older }) => removeRuns(context, runs, older),
  });
}

async function removeRuns(context: Context, typedRuns: string[], older?: string): Promise<void> {
  const { folders, terminal } = context;
  if (older !== undefined && typedRuns.length > 0)
    throw usageError("Runs are named, or chosen with --older", "Leave out one of them");
  const runs =
    older === undefined ? await findTypedRuns(context, typedRuns) : await findOldRuns(context, older);
  if (runs.length === 0) return terminal.note("No finished run is that old");
  await context.confirm(formatQuestion(runs));
  const { toLocksFolder } = await import("../../bulk/index.ts");
  for (const { manifest, folder } of runs) {
    const { id, fingerprint } = manifest;
    const lease = await takeLease(toLocksFolder(folders.state), fingerprint, `run ${id}`);
    await rm(folder, { recursive: true, force: true });
    await lease.release();
    terminal.note(`Removed run ${id}`);
  }
}

/** What is removed is gone: the beginning of an id, or an empty variable of a script, never chooses it. */
async function findTypedRuns(context: Context, typedRuns: string[]): Promise<StoredRun[]> {
  const { isRunName } = await import("../../bulk/index.ts");
  const runs: StoredRun[] = [];
  for (const each of await requireRuns(context, typedRuns, "remove")) {
    if (each !== "last" && !isRunName(each)) {
      throw usageError(
        `${JSON.stringify(each)} is not the full id of a run`,
        advise`Give the full id, or last; see: ${ecm`runs list`}`,
      );
    }
    runs.push(await findNamedRun(context, each));
  }
  return runs;
}

/** Unfinished runs stay, and those that an unfinished undo reads until its own end. @throws UsageError */
async function findOldRuns(context: Context, age: string): Promise<StoredRun[]> {
  if (!/^\d+[mhdw]$/.test(age))
    throw usageError(`--older: ${JSON.stringify(age)} is not an age`, "Give one such as 30d or 12w");
  const before = parsePastTime(age, "--older", context.clock.now());
  const { fileNames } = await import("../../bulk/index.ts");
  const runs = await readRuns(context);
  const needed = new Set(
    runs
      .filter(({ isFinished }) => !isFinished)
      .flatMap(({ manifest: { id, kind, options } }) => (kind === "undo" ? [id, options.run] : [id])),
  );
  const old: StoredRun[] = [];
  for (const run of runs) {
    // A finished run has written it last.
    const changedAt = await readChangeTime(join(run.folder, fileNames.manifest));
    if (!needed.has(run.manifest.id) && changedAt < before) old.push(run);
  }
  return old;
}

function formatQuestion(runs: readonly StoredRun[]): string {
  const [{ manifest, isFinished }, ...others] = runs as [StoredRun, ...StoredRun[]];
  const { id, kind, input } = manifest;
  const one = `run ${id} (${kind} of ${input.name}${isFinished ? "" : ", unfinished"})`;
  const what = others.length === 0 ? one : formatCounted(runs.length, "run");
  const deletions = runs
    .filter((run) => run.manifest.kind !== "undo")
    .reduce((sum, run) => sum + (run.manifest.summary?.rows.deleted ?? 0), 0);
  const lost = deletions > 0 ? ` ${formatCounted(deletions, "deletion")} can then no longer be undone.` : "";
  return `Remove ${what}? What is removed can no longer be resumed or undone.${lost}`;
}
