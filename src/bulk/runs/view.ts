/** A run as `ecm runs` shows it: from its manifest, and from its journal where it was not closed. */

import { isFinished, readLedger } from "./enter.ts";
import type { Manifest } from "./folder.ts";
import type { Summary } from "./report.ts";

export interface RunView {
  run: string;
  kind: Manifest["kind"];
  /** `unfinished`: it is at work now, or was killed. */
  status: "completed" | "stopped" | "unfinished" | "superseded";
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
  const { ledger } = await readLedger(folder);
  const { summary } = manifest;
  const counts = ledger.counts;
  return {
    run: manifest.id,
    kind: manifest.kind,
    status: statusOf(manifest, ledger.isEnded),
    file: manifest.input.name,
    startedAt: manifest.startedAt,
    baseUrl: manifest.account.baseUrl,
    profile: manifest.account.profile ?? null,
    structureId: manifest.account.structureId,
    rows: summary?.rows ?? null,
    done: Object.values(counts).reduce((sum, each) => sum + each, 0),
    open: ledger.openCount,
    stoppedBy: ledger.stoppedBy ?? null,
    rejects: summary?.rejects ?? null,
    codes: summary?.codes ?? null,
    folder,
  };
}

function statusOf(manifest: Manifest, isEnded: boolean): RunView["status"] {
  if (manifest.supersededBy !== undefined) return "superseded";
  if (isEnded || isFinished(manifest)) return "completed";
  return manifest.summary ? "stopped" : "unfinished";
}
