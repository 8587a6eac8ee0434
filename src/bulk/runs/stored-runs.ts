/** The bulk runs of this machine: all of them by their age, one by its id, and how each is shown. */

import { rmSync, writeFileSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { sumCounts } from "../../counts.ts";
import { isLeaseHeld } from "../../disk/lease.ts";
import { type EcmError, isKind, notFoundError, usageError } from "../../errors.ts";
import { advise, ecm } from "../../hint.ts";
import { parseJson } from "../../json.ts";
import type { Wait } from "../pace/paced-send.ts";
import { formatResetTime } from "../pace/run-stop.ts";
import {
  fileNames,
  isAbsent,
  isFinished,
  isRunName,
  type Manifest,
  type Run,
  readManifest,
  toLocksFolder,
  toRunsFolder,
} from "./folder.ts";
import { readRunRecord } from "./ledger.ts";
import type { Summary } from "./report.ts";

export interface StoredRun extends Run {
  /** Nothing is left to do: it is not resumed. */
  isFinished: boolean;
}

/**
 * All runs, the one that began last first; none where there is no folder of runs.
 * @param onUnreadable told of each run that is passed over since it cannot be read
 * @throws the system's error where the folder of runs cannot be read
 */
export async function listRuns(
  stateFolder: string,
  onUnreadable: (error: EcmError, id: string) => void = () => undefined,
): Promise<StoredRun[]> {
  const root = toRunsFolder(stateFolder);
  const runs: Run[] = [];
  const names = await readdir(root).catch((error: NodeJS.ErrnoException) => {
    // Runs that cannot be listed are not absent: one of them may be unfinished.
    if (!isAbsent(error)) throw error;
    return [];
  });
  for (const name of names.filter(isRunName)) {
    const folder = join(root, name);
    try {
      const manifest = await readManifest(folder);
      if (manifest) runs.push({ manifest, folder });
    } catch (error) {
      if (!isKind(error, "unreadable run")) throw error;
      onUnreadable(error, name);
    }
  }
  const startedAt = ({ manifest }: Run) => `${manifest.startedAt} ${manifest.id}`;
  runs.sort((one, other) => (startedAt(one) < startedAt(other) ? 1 : -1));
  return runs.map((run) => ({ ...run, isFinished: isFinished(run.manifest) }));
}

/**
 * A run by its id, an unmistakable beginning of it, or `last`.
 * @throws NotFoundError, UsageError; EcmError of a run that cannot be read, and is meant or may be the last
 *   one
 */
export async function findRun(stateFolder: string, idOrLast: string): Promise<StoredRun> {
  const isLast = idOrLast === "last";
  const unreadable: [id: string, error: EcmError][] = [];
  const runs = await listRuns(stateFolder, (error, id) => unreadable.push([id, error]));
  // An empty word is a variable that a script has not set, and the beginning of every id.
  const isMeant = (id: string) => idOrLast !== "" && id.startsWith(idOrLast);
  const matches = isLast ? runs.slice(0, 1) : runs.filter(({ manifest }) => isMeant(manifest.id));
  const found = matches.find(({ manifest }) => manifest.id === idOrLast) ?? matches[0];
  // The name of a run says its minute.
  const mayBeLast = (id: string) => !found || id.slice(0, 13) >= found.manifest.id.slice(0, 13);
  const [, failure] = unreadable.find(([id]) => (isLast ? mayBeLast(id) : !found && isMeant(id))) ?? [];
  if (failure) throw failure;
  if (!found) {
    throw isLast
      ? notFoundError("There is no run yet", advise`Start one with: ${ecm`import FILE`}`)
      : notFoundError(`There is no run ${JSON.stringify(idOrLast)}`, advise`See: ${ecm`runs list`}`);
  }
  if (matches.length === 1 || found.manifest.id === idOrLast) return found;
  const ids = matches.map(({ manifest }) => manifest.id).join(", ");
  throw usageError(`${JSON.stringify(idOrLast)} matches several runs: ${ids}`, "Give the whole id");
}

/** A run as `ecm runs` shows it: from its manifest, and from its journal where it was not closed. */
export interface RunView {
  run: string;
  kind: Manifest["kind"];
  /** `unfinished`: it is at work now, or was killed. `damaged`: its journal cannot be believed. */
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
  /** Until when a run that is at work waits (RFC 3339), and why. */
  waiting: { until: string; why: string } | null;
  rejects: string | null;
  codes: Summary["codes"] | null;
  folder: string;
}

export async function viewRun({ manifest, folder }: StoredRun): Promise<RunView> {
  const { ledger, damage } = await readRunRecord({ manifest, folder });
  const { summary } = manifest;
  const wait = await readWait({ manifest, folder });
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
    done: sumCounts(ledger.counts),
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

/** A shorter wait, such as for a lost answer, is over before anybody looks. */
const minMilliseconds = 5_000;

/** Notes until when a run waits, for people who look at it meanwhile. @param wait undefined: it is over */
export function noteWait(folder: string, wait: Wait | undefined, now: number): void {
  const file = join(folder, fileNames.wait);
  try {
    if (wait && wait.until - now >= minMilliseconds)
      writeFileSync(file, `${JSON.stringify(wait)}\n`, { mode: 0o600 });
    else rmSync(file, { force: true });
  } catch {
    // The run's next record says what is wrong with its folder.
  }
}

/** Undefined also for a run that was killed while it waited. */
async function readWait({ manifest, folder }: Run): Promise<Wait | undefined> {
  // There may be none, or it is being written.
  const text = await readFile(join(folder, fileNames.wait), "utf8").catch(() => "");
  const { until, why } = (parseJson(text) ?? {}) as Partial<Wait>;
  if (typeof until !== "number" || typeof why !== "string") return undefined;
  const locks = toLocksFolder(dirname(dirname(folder)));
  return (await isLeaseHeld(locks, manifest.fingerprint)) ? { until, why } : undefined;
}
