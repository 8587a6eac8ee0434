/** Which runs were undone: an undo is a run of its own, which names the run that it undoes. */
import { isFinished } from "./enter.ts";
import type { Manifest } from "./folder.ts";

/** `part`: some of its contacts could not be restored. */
export type Undone = "whole" | "part";

/** By the id of the run. An undo that has not come to its end is not counted. */
export function undoneRuns(manifests: Iterable<Manifest>): Map<string, Undone> {
  const undone = new Map<string, Undone>();
  for (const manifest of manifests) {
    const { kind, options, summary, input } = manifest;
    if (kind !== "undo" || !summary || summary.status !== "completed" || !isFinished(manifest)) continue;
    const { updated, created, deleted, rejected } = summary.rows;
    const run = typeof options.run === "string" ? options.run : input.name;
    const isPart = rejected > 0 || (summary.partial ?? 0) > 0;
    if (updated + created + deleted === 0 && isPart) continue;
    if (undone.get(run) !== "whole") undone.set(run, isPart ? "part" : "whole");
  }
  return undone;
}
