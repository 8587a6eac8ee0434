/** The bulk runs of this machine: all of them in the order in which they began, one by its id, and how each is shown. */

import { rmSync, writeFileSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { sumCounts } from "../../counts.ts";
import { writeAtomically } from "../../disk/atomic-file.ts";
import { isLeaseHeld } from "../../disk/lease.ts";
import { type EcmError, isKind, notFoundError, usageError } from "../../errors.ts";
import { advise, ecm } from "../../hint.ts";
import type { Wait } from "../pace/gate.ts";
import { formatResetTime } from "../pace/run-stop.ts";
import {
  fileNames,
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
  /** Its place in the order in which runs began; 0 where it is not known. */
  number: number;
  /** Nothing is left to do: it is not resumed. */
  isFinished: boolean;
  /** Whether later runs have undone it. */
  undone: Undone | null;
}

/** What is known of a run that cannot be read. */
interface RunPlace {
  /** The name of its folder. */
  id: string;
  /** As that of a stored run. */
  number: number;
}

/** Told of each run that is passed over since it cannot be read. */
export type WhenUnreadable = (error: EcmError, place: RunPlace) => void;

/** All runs, the one that began last first. */
export async function listRuns(
  stateFolder: string,
  onUnreadable: WhenUnreadable = () => undefined,
): Promise<StoredRun[]> {
  const root = toRunsFolder(stateFolder);
  const names = await readdir(root).catch(() => [] as string[]);
  const runs: Omit<StoredRun, "undone">[] = [];
  for (const name of names.sort().reverse()) {
    const folder = join(root, name);
    try {
      const manifest = await readManifest(folder);
      if (!manifest) continue;
      const number = await readRunNumber(folder);
      runs.push({ manifest, folder, number, isFinished: isFinished(manifest) });
    } catch (error) {
      if (!isKind(error, "unreadable run")) throw error;
      onUnreadable(error, { id: name, number: await readRunNumber(folder) });
    }
  }
  const undone = findUndone(runs.map(({ manifest }) => manifest));
  return runs.map((run) => ({ ...run, undone: undone.get(run.manifest.id) ?? null })).sort(newestFirst);
}

/** By their numbers; those that have none, or the same, go by the clock of then. */
function newestFirst(one: StoredRun, other: StoredRun): number {
  if (one.number !== other.number) return other.number - one.number;
  return one.manifest.startedAt < other.manifest.startedAt ? 1 : -1;
}

/**
 * A run by its id, an unmistakable beginning of it, or `last`.
 * @param onPassedOver told of each folder that `last` leaves out since it cannot be read
 * @throws NotFoundError, UsageError; ManifestError where the last run may be one that cannot be read
 */
export async function findRun(
  stateFolder: string,
  idOrLast: string,
  onPassedOver: WhenUnreadable = () => undefined,
): Promise<StoredRun> {
  const unreadable: (RunPlace & { error: EcmError })[] = [];
  const runs = await listRuns(stateFolder, (error, place) => unreadable.push({ ...place, error }));
  if (idOrLast === "last") {
    const [newest] = runs;
    // An older run is not the last one because the last one cannot be read.
    const newer = unreadable.find((each) => isRunName(each.id) && mayBeNewer(each, newest));
    if (newer) throw newer.error;
    for (const each of unreadable) onPassedOver(each.error, each);
    if (newest) return newest;
    throw notFoundError("There is no run yet", advise`Start one with: ${ecm`import FILE`}`);
  }
  const matches = runs.filter(({ manifest }) => manifest.id === idOrLast);
  // An empty word is a variable that a script has not set, and the beginning of every id.
  const isBeginning = (id: string) => idOrLast !== "" && id.startsWith(idOrLast);
  if (matches.length === 0) matches.push(...runs.filter(({ manifest }) => isBeginning(manifest.id)));
  if (matches.length > 1) {
    const ids = matches.map(({ manifest }) => manifest.id).join(", ");
    throw usageError(`${JSON.stringify(idOrLast)} matches several runs: ${ids}`, "Give the whole id");
  }
  const damaged = unreadable.find(({ id }) => isBeginning(id));
  if (!matches[0] && damaged) throw damaged.error;
  if (!matches[0])
    throw notFoundError(`There is no run ${JSON.stringify(idOrLast)}`, advise`See: ${ecm`runs list`}`);
  return matches[0];
}

/** Where its number is lost, its name says the minute in which it began. */
function mayBeNewer({ id, number }: RunPlace, newest: StoredRun | undefined): boolean {
  if (!newest) return true;
  return number === 0 ? id.slice(0, 13) >= newest.manifest.id.slice(0, 13) : number >= newest.number;
}

/**
 * Gives a new run its number, one higher than that of any other: a clock may be set back, and then the time of a run
 * says nothing about which was the last. In a file of its own: a run whose manifest cannot be read has its place in
 * the order, too. Runs that begin at once may have the same, and go by their time.
 */
export async function numberRun(stateFolder: string, folder: string): Promise<void> {
  const root = toRunsFolder(stateFolder);
  const numbers = await Promise.all((await readdir(root)).map((name) => readRunNumber(join(root, name))));
  await writeAtomically(join(folder, fileNames.number), `${Math.max(...numbers) + 1}\n`);
}

/** 0 where it cannot be read. */
async function readRunNumber(folder: string): Promise<number> {
  const text = await readFile(join(folder, fileNames.number), "utf8").catch(() => "");
  return /^[1-9]\d{0,14}\n$/.test(text) ? Number(text) : 0;
}

/** A run as `ecm runs` shows it: from its manifest, and from its journal where it was not closed. */
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
  undone: Undone | null;
}

export async function viewRun({ manifest, folder, undone }: StoredRun): Promise<RunView> {
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
    undone,
  };
}

function toRunStatus(manifest: Manifest, isEnded: boolean): RunView["status"] {
  if (manifest.supersededBy !== undefined) return "superseded";
  if (isFinished(manifest) || (isEnded && !manifest.after?.length)) return "completed";
  return manifest.summary ? "stopped" : "unfinished";
}

/** `part`: some of its contacts could not be restored. */
type Undone = "whole" | "part";

/**
 * By the id of the run. An undo that has not come to its end is not counted, nor one that was undone itself:
 * then the run is in force again.
 */
function findUndone(manifests: Iterable<Manifest>): Map<string, Undone> {
  const undos = new Map<string, { id: string; undone: Undone }[]>();
  for (const manifest of manifests) {
    const { run, undone } = readUndo(manifest) ?? {};
    if (run !== undefined && undone) undos.set(run, [...(undos.get(run) ?? []), { id: manifest.id, undone }]);
  }
  const findUndoneOf = (run: string): Undone | undefined => {
    const valid = (undos.get(run) ?? []).flatMap(({ id, undone }): Undone[] => {
      const isUndone = findUndoneOf(id);
      return isUndone === "whole" ? [] : [isUndone ?? undone];
    });
    return valid.includes("whole") ? "whole" : valid[0];
  };
  const undone = new Map<string, Undone>();
  for (const run of undos.keys()) {
    const how = findUndoneOf(run);
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

// Until when a run waits is noted in its folder for whoever looks at it meanwhile. It is an aside: where it
// cannot be written, the run continues without it.

/** A shorter wait, such as for a lost answer, is over before anybody looks. */
const minMilliseconds = 5_000;

/** @param wait undefined: it is over */
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
async function readWait({ manifest, folder }: Run) {
  const wait = await readNote(join(folder, fileNames.wait));
  const stateFolder = dirname(dirname(folder));
  return wait && (await isLeaseHeld(toLocksFolder(stateFolder), manifest.fingerprint)) ? wait : undefined;
}

async function readNote(file: string): Promise<Wait | undefined> {
  try {
    const { until, why } = JSON.parse(await readFile(file, "utf8")) as Partial<Wait>;
    if (typeof until === "number" && typeof why === "string") return { until, why };
  } catch {
    // There is none, or it is being written.
  }
  return undefined;
}
