/** Which runs were undone: an undo is a run of its own, which names the run that it undoes. */
import { isFinished } from "./enter.ts";
import type { Manifest } from "./folder.ts";

/** `part`: some of its contacts could not be restored. */
export type Undone = "whole" | "part";

/** By the id of the run. An undo that has not come to its end is not counted. */
export function undoneRuns(manifests: Iterable<Manifest>): Map<string, Undone> {
  const undone = new Map<string, Undone>();
  for (const manifest of manifests) {
    const { run, undone: how } = readUndo(manifest) ?? {};
    if (run !== undefined && how && undone.get(run) !== "whole") undone.set(run, how);
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
