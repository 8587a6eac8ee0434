/** How long runs are kept: their folders hold people's data. */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { readChangeTime } from "../../disk/walk.ts";
import { isFinished } from "./enter.ts";
import { listRuns, type StoredRun } from "./find-runs.ts";
import type { Manifest, ManifestError } from "./folder.ts";

export interface OldRun extends StoredRun {
  /** When something was last written to its folder, in milliseconds since the epoch. */
  changedAt: number;
  /** Why it should stay; undefined for one that nothing needs any more. */
  neededFor?: "resume" | "undo";
}

/**
 * Runs to whose folders nothing was written since, the one that began last first.
 * @param before milliseconds since the epoch
 */
export async function findOldRuns(
  stateFolder: string,
  before: number,
  onUnreadable?: (error: ManifestError) => void,
): Promise<OldRun[]> {
  const runs = await listRuns(stateFolder, onUnreadable);
  const unfinished = runs.filter(({ manifest }) => !isFinished(manifest));
  /** An undo reads the journal of the run that it undoes, until its own end. */
  const undone = new Set(
    unfinished.map(({ manifest }) => (manifest.kind === "undo" ? manifest.options.run : undefined)),
  );
  const needFor = (manifest: Manifest): OldRun["neededFor"] => {
    if (!isFinished(manifest)) return "resume";
    return undone.has(manifest.id) ? "undo" : undefined;
  };
  const old: OldRun[] = [];
  for (const run of runs) {
    const changedAt = await lastChange(run);
    if (changedAt < before) old.push({ ...run, changedAt, neededFor: needFor(run.manifest) });
  }
  return old;
}

async function lastChange({ folder, manifest }: StoredRun): Promise<number> {
  const names = await readdir(folder).catch(() => [] as string[]);
  const times = await Promise.all(names.map((name) => readChangeTime(join(folder, name))));
  return Math.max(Date.parse(manifest.startedAt) || 0, ...times);
}
