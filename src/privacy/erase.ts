/**
 * Taking people out of everything that `ecm` keeps on this machine: runs, caches, and what lies beside them;
 * and which files elsewhere runs have read or written.
 */
import { readFile, rm } from "node:fs/promises";
import { basename, dirname, join, sep } from "node:path";
import {
  type ErasedPeople,
  eraseFromRun,
  fileNames,
  type Manifest,
  readManifest,
  toLocksFolder,
  toRunsFolder,
} from "../bulk/index.ts";
import { listActivities } from "../disk/activities.ts";
import { isTemporaryName, writeAtomically } from "../disk/atomic-file.ts";
import { toCompiledFolder } from "../disk/compiled-code.ts";
import { type Lease, takeLease } from "../disk/lease.ts";
import { exists, isRegular, listFolders, readEntries, walkFiles } from "../disk/walk.ts";
import { conflictError, type EcmError, isKind } from "../errors.ts";

/**
 * Erases in all text files below our folders. Called again after a kill, it completes what is left.
 * @returns how many files were changed or removed, and the runs that cannot be resumed without their input
 * @throws EcmError (exit 6) when a run holds one of the keys and another process works on it
 */
export async function eraseFromFiles(
  folders: OwnFolders,
  people: ErasedPeople,
): Promise<{ files: number; withoutInput: string[] }> {
  const withoutInput: string[] = [];
  let files = 0;
  for (const folder of await listFolders(toRunsFolder(folders.state))) {
    const { manifest, lease, isAtWork } = await lockRun(folders.state, folder);
    try {
      if (isAtWork) await requireNobodyIn(folder, people);
      else {
        const erased = await eraseFromRun(folder, people);
        files += erased.files;
        if (erased.removesInput && manifest) withoutInput.push(manifest.id);
      }
    } finally {
      await lease?.release();
    }
  }
  for await (const file of walkOwnFiles(folders, { withRuns: false })) {
    if ((await people.search(file)) !== "found") continue;
    await eraseFromFile(file, folders, people);
    files++;
  }
  return { files, withoutInput };
}

/** What can be made again is removed; of any other text the rest stays. */
async function eraseFromFile(file: string, { cache }: OwnFolders, people: ErasedPeople): Promise<void> {
  const isScratch = isTemporaryName(basename(file)) || file.startsWith(join(cache, sep));
  if (isScratch) return rm(file, { force: true });
  const text = await readFile(file, "utf8");
  writeAtomically(file, people.mask(text) ?? text);
}

/**
 * What is under way may hold one of the keys in memory, and write it later.
 * @param account its base address
 * @throws EcmError (exit 6) when a process works on something that holds one of the keys, or cannot be
 * searched
 */
export async function requireNobodyAtWork(
  { state }: OwnFolders,
  people: ErasedPeople,
  account: string,
): Promise<void> {
  const underWay = await listActivities(state);
  for (const activity of underWay) {
    if (activity.kind === "export" && activity.account === account) throw lockedError(activity.what);
    for (const input of activity.inputs) {
      // What is read from a pipe is in the run's folder.
      if ((await isRegular(input)) && (await people.search(input)) !== "absent")
        throw lockedError(activity.what);
    }
  }
  for (const folder of await listFolders(toRunsFolder(state))) {
    const { lease, isAtWork } = await lockRun(state, folder);
    await lease?.release();
    if (isAtWork) await requireNobodyIn(folder, people);
  }
  const [first] = underWay;
  // For what is no run yet, it is not known which process writes it.
  if (first && (await isOutsideRuns(state, people))) throw lockedError(first.what);
}

/** Whether one of the keys is, or may be, in files beside the runs that belong to no run yet. */
async function isOutsideRuns(state: string, people: ErasedPeople): Promise<boolean> {
  const runs = toRunsFolder(state);
  for (const entry of await readEntries(runs)) {
    const path = join(runs, entry.name);
    const isRun = entry.isDirectory() && (await exists(join(path, fileNames.manifest)));
    if (!isRun && (entry.isFile() ? (await people.search(path)) === "found" : await isIn(path, people)))
      return true;
  }
  return false;
}

/** @throws EcmError (exit 6) for a run that another process works on, and that holds one of the keys */
async function requireNobodyIn(folder: string, people: ErasedPeople): Promise<void> {
  if (await isIn(folder, people)) throw lockedError(`Run ${basename(folder)}`);
}

/** Whether one of the keys is, or may be, in a file below the folder. */
async function isIn(folder: string, people: ErasedPeople): Promise<boolean> {
  for await (const file of walkFiles(folder)) {
    const found = await people.search(file);
    if (found === "found" || (found === "unreadable" && basename(file) === fileNames.input)) return true;
  }
  return false;
}

/** How many files below the folders hold one of the keys. */
export async function countFilesWith(folders: OwnFolders, people: ErasedPeople): Promise<number> {
  let count = 0;
  for await (const file of walkOwnFiles(folders, { withRuns: true }))
    count += Number((await people.search(file)) === "found");
  return count;
}

/** Empty for a folder that is no run, and for a run that nobody can resume: its manifest cannot be read. */
interface LockedRun {
  manifest?: Manifest;
  lease?: Lease;
  /** Another process has it. */
  isAtWork?: true;
}

async function lockRun(state: string, folder: string): Promise<LockedRun> {
  const manifest = await readManifest(folder).catch(() => undefined);
  if (!manifest) return {};
  try {
    const lease = await takeLease(toLocksFolder(state), manifest.fingerprint, `run ${manifest.id}`);
    return { manifest, lease };
  } catch (error) {
    if (isKind(error, "locked")) return { isAtWork: true };
    throw error;
  }
}

/** @param what the run or the export, in words */
function lockedError(what: string): EcmError {
  return conflictError(
    `${what} may contain this contact, and another ecm process is working on it`,
    "Wait for it to end, or stop it (it can be resumed), then erase again: steps already done are skipped",
    { type: "RunLockedError", retryable: true },
  );
}

/** Folders whose files are all this program's own. */
export interface OwnFolders {
  state: string;
  cache: string;
}

/**
 * Every file below our folders that may hold something of a person. Databases are left out: they are asked
 * themselves, since a file that is opened beside one ends the locks on it.
 */
export async function* walkOwnFiles(
  folders: OwnFolders,
  { withRuns }: { withRuns: boolean },
): AsyncGenerator<string> {
  const isBelow = (folder: string, file: string) => file.startsWith(join(folder, sep));
  const runs = toRunsFolder(folders.state);
  const compiled = toCompiledFolder(folders);
  for (const root of new Set([folders.state, folders.cache])) {
    for await (const file of walkFiles(root)) {
      const isOfRun = isBelow(runs, file) && dirname(file) !== runs;
      const isDatabase = isBelow(join(folders.state, "sandbox"), file) && /\.db(-\w+)?$/.test(file);
      if (!isBelow(compiled, file) && !isDatabase && (withRuns || !isOfRun)) yield file;
    }
  }
}

/**
 * Files outside our folders that the runs of an account have read or written, and that are still there. They
 * are not searched.
 */
export async function listFilesElsewhere({ state, cache }: OwnFolders, account: string): Promise<string[]> {
  const files = new Set<string>();
  for (const folder of await listFolders(toRunsFolder(state))) {
    const manifest = await readManifest(folder).catch(() => undefined);
    if (manifest?.account.baseUrl !== account) continue;
    for (const file of await listFilesOfRun(manifest)) files.add(file);
  }
  return [...files].filter((file) => ![state, cache].some((own) => file.startsWith(join(own, sep))));
}

/** The input, rejects, plan, backup and report of a run, as far as they are still there. */
export async function listFilesOfRun(manifest: Manifest): Promise<string[]> {
  const { input, rejects, plan, backup, report, summary } = manifest;
  const source = input.isSpooled ? undefined : input.file;
  const files = new Set([source, rejects, summary?.rejects, plan, backup?.file, report].filter(Boolean));
  const found: string[] = [];
  for (const file of files as Set<string>) if (await isRegular(file)) found.push(file);
  return found;
}
