/** A run as `ecm runs` shows it: from its manifest, and from its journal where it was not closed. */

import { formatResetTime } from "../pace/run-stop.ts";
import { readRunRecord } from "./damage.ts";
import { isFinished } from "./enter.ts";
import type { Manifest } from "./folder.ts";
import { type Summary, sumCounts } from "./report.ts";
import { readWait } from "./wait-note.ts";

export interface RunView {
  run: string;
  kind: Manifest["kind"];
  /**
   * `unfinished`: it is at work now, or was killed. `damaged`: its
   * journal cannot be believed, as `damage` says.
   */
  status: "completed" | "stopped" | "unfinished" | "superseded" | "damaged";
  damage: string | null;
  file: string;
  startedAt: string;
  baseUrl: string;
  profile: string | null;
  structureId: string;
  /** Null while it was never closed: then only `done` is known. */
  rows: Summary["rows"] | null;
  /** Contacts with an outcome, from the journal. */
  done: number;
  /** Writes of which it is not known whether they were applied. */
  open: number;
  stoppedBy: string | null;
  /** When the limit that stopped it allows requests again. */
  resumableAt: string | null;
  /** Of a run that is at work, and waits: until when (RFC 3339), and why. */
  waiting: { until: string; why: string } | null;
  rejects: string | null;
  codes: Summary["codes"] | null;
  folder: string;
}

export async function viewRun({
  manifest,
  folder,
}: {
  manifest: Manifest;
  folder: string;
}): Promise<RunView> {
  const { ledger, damage } = await readRunRecord({ manifest, folder });
  const { summary } = manifest;
  const wait = await readWait({ manifest, folder });
  const counts = ledger.counts;
  return {
    run: manifest.id,
    kind: manifest.kind,
    status: damage === undefined ? toRunStatus(manifest, ledger.isEnded) : "damaged",
    damage: damage ?? null,
    file: manifest.input.name,
    startedAt: manifest.startedAt,
    baseUrl: manifest.account.baseUrl,
    profile: manifest.account.profile ?? null,
    structureId: manifest.account.structureId,
    rows: summary?.rows ?? null,
    done: sumCounts(counts),
    open: ledger.openCount,
    stoppedBy: ledger.stoppedBy ?? null,
    resumableAt: (ledger.stoppedBy === undefined ? undefined : summary?.resumableAt) ?? null,
    waiting: wait ? { until: formatResetTime(wait.until)!, why: wait.why } : null,
    rejects: summary?.rejects ?? null,
    codes: summary?.codes ?? null,
    folder,
  };
}

function toRunStatus(manifest: Manifest, isEnded: boolean): RunView["status"] {
  if (manifest.supersededBy !== undefined) return "superseded";
  if (isFinished(manifest) || (isEnded && !manifest.after?.length)) return "completed";
  return manifest.summary ? "stopped" : "unfinished";
}

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
