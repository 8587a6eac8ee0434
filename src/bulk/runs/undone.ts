/** Which runs were undone: an undo is a run of its own, which names the run that it undoes. */
import { isFinished } from "./enter.ts";
import type { Manifest } from "./folder.ts";

/** `part`: some of its contacts could not be restored. */
export type Undone = "whole" | "part";

/**
 * By the id of the run. An undo that has not come to its end is not counted, nor one that was undone itself:
 * then the run is in force again.
 */
export function undoneRuns(manifests: Iterable<Manifest>): Map<string, Undone> {
  const undos = new Map<string, { id: string; undone: Undone }[]>();
  for (const manifest of manifests) {
    const { run, undone } = readUndo(manifest) ?? {};
    if (run !== undefined && undone) undos.set(run, [...(undos.get(run) ?? []), { id: manifest.id, undone }]);
  }
  const findUndone = (run: string): Undone | undefined => {
    const valid = (undos.get(run) ?? []).flatMap(({ id, undone }): Undone[] => {
      const isUndone = findUndone(id);
      return isUndone === "whole" ? [] : [isUndone ?? undone];
    });
    return valid.includes("whole") ? "whole" : valid[0];
  };
  const undone = new Map<string, Undone>();
  for (const run of undos.keys()) {
    const how = findUndone(run);
    if (how) undone.set(run, how);
  }
  return undone;
}

/** What an undo has undone; undefined for any other run, and for an undo that has restored nothing. */
function readUndo(manifest: Manifest): { run: string; undone: Undone } | undefined {
  const { kind, options, summary, input } = manifest;
  if (kind !== "undo" || summary?.status !== "completed" || !isFinished(manifest)) return undefined;
  const { updated, created, deleted, rejected } = summary.rows;
  const isPart = rejected > 0 || (summary.partial ?? 0) > 0;
  if (isPart && updated + created + deleted === 0) return undefined;
  const run = typeof options.run === "string" ? options.run : input.name;
  return { run, undone: isPart ? "part" : "whole" };
}
