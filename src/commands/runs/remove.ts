import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Command } from "@commander-js/extra-typings";
import type { StoredRun } from "../../bulk/index.ts";
import type { Context } from "../../context.ts";
import { formatCount, formatCounted } from "../../counts.ts";
import { takeLease } from "../../disk/lease.ts";
import { readChangeTime } from "../../disk/walk.ts";
import { isKind, usageError } from "../../errors.ts";
import { advise, ecm } from "../../hint.ts";
import { parsePastTime } from "../flags/times.ts";
import { describeCommand } from "../help/help-text.ts";
import { findNamedRun, readRuns, requireRuns } from "./shared.ts";

export function registerRunsRemove(parent: Command, context: Context): void {
  const command = parent
    .command("remove")
    .description("delete the folders of runs, and people's data with them")
    .argument("[run...]", "their full ids, or last")
    .option("--older <age>", "all finished runs to which nothing was written for so long, such as 30d")
    .action((runs, { older }) => removeRuns(context, runs, older));
  describeCommand(command, {
    examples: [
      "ecm runs remove 20261121-1402-3fa9c1",
      "ecm runs remove last --yes",
      "ecm runs remove --older 30d --yes",
    ],
    output: "nothing",
    isLocal: true,
    asks: true,
    exitCodes: {
      1: "not confirmed",
      2: "a shortened id, an age that is none, or not confirmed with --yes",
      5: "no such run",
      6: "another process is working on it",
    },
  });
}

async function removeRuns(context: Context, typedRuns: string[], older?: string): Promise<void> {
  if (older !== undefined && typedRuns.length > 0)
    throw usageError("Runs are named, or chosen with --older", "Leave out one of them");
  const runs =
    older === undefined ? await findTypedRuns(context, typedRuns) : await findOldRuns(context, older);
  if (runs.length === 0) return context.terminal.note("No finished run is that old");
  await context.confirm(formatQuestion(runs));
  const removed: string[] = [];
  for (const run of runs) {
    if (await remove(context, run, older !== undefined)) removed.push(run.manifest.id);
  }
  const what = removed.length === 1 ? `run ${removed[0]}` : formatCounted(removed.length, "run");
  context.terminal.note(`Removed ${what}`);
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
  const runs = await readRuns(context);
  const unfinished = runs.filter(({ isFinished }) => !isFinished);
  const needed = new Set(
    unfinished.flatMap(({ manifest: { id, kind, options } }) => (kind === "undo" ? [id, options.run] : [id])),
  );
  const old: StoredRun[] = [];
  for (const run of runs) {
    if (!needed.has(run.manifest.id) && (await readLastChange(run)) < before) old.push(run);
  }
  return old;
}

/** In milliseconds since the epoch. */
async function readLastChange({ folder, manifest }: StoredRun): Promise<number> {
  const names = await readdir(folder).catch(() => [] as string[]);
  const times = await Promise.all(names.map((name) => readChangeTime(join(folder, name))));
  return Math.max(Date.parse(manifest.startedAt) || 0, ...times);
}

/**
 * @param passesOver a run that another process holds is left, and this is said
 * @returns false for one that is left @throws LockedError
 */
async function remove(
  { folders, terminal }: Context,
  { manifest: { id, fingerprint }, folder }: StoredRun,
  passesOver: boolean,
): Promise<boolean> {
  const { toLocksFolder } = await import("../../bulk/index.ts");
  try {
    const lease = await takeLease(toLocksFolder(folders.state), fingerprint, `run ${id}`);
    await rm(folder, { recursive: true, force: true });
    await lease.release();
    return true;
  } catch (error) {
    if (!passesOver || !isKind(error, "locked")) throw error;
    terminal.warn(`Run ${id} stays: another process is working on it`);
    return false;
  }
}

function formatQuestion(runs: readonly StoredRun[]): string {
  const [first, ...others] = runs;
  const { id, kind, input, summary } = first!.manifest;
  const { pending = 0, read = 0 } = summary?.rows ?? {};
  const left = pending > 0 ? `, ${formatCount(pending)} of ${formatCount(read)} rows not attempted` : "";
  const state = first!.isFinished ? "" : `, unfinished${left}`;
  const what =
    others.length === 0 ? `run ${id} (${kind} of ${input.name}${state})` : formatCounted(runs.length, "run");
  const deletions = runs
    .filter(({ manifest }) => manifest.kind !== "undo")
    .reduce((sum, { manifest }) => sum + (manifest.summary?.rows.deleted ?? 0), 0);
  const lost = deletions > 0 ? ` ${formatCounted(deletions, "deletion")} can then no longer be undone.` : "";
  return `Remove ${what}? What is removed can no longer be resumed or undone.${lost}`;
}
