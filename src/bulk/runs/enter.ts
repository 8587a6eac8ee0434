/**
 * Coming into a run: the unfinished one of the same command, or a new one; alone, and knowing what was done.
 */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { type Lease, takeLease } from "../../disk/lease.ts";
import { fileNames, type Manifest, makeRunFolder, type Run, toLocksFolder, writeManifest } from "./folder.ts";
import { createJournal, cutTornTail, Journal, type JournalFile } from "./journal.ts";
import { cannotResumeError, type Ledger, readRunRecord } from "./ledger.ts";
import { listRuns, numberRun, type StoredRun, type WhenUnreadable } from "./stored-runs.ts";

export interface EnteredRun extends Run {
  ledger: Ledger;
  journal: Journal;
  isResumed: boolean;
  /** From now on it is the run of another command. @throws LockedError */
  become(fingerprint: string): Promise<void>;
  leave(): Promise<void>;
}

interface EnterRunOptions {
  stateFolder: string;
  now: number;
  /** What the manifest will say; `id` and `startedAt` are the run's own. */
  about: Omit<Manifest, "version" | "id" | "startedAt">;
  /**
   * A folder made for the spooled input: becomes the run's, unless the
   * run exists already; then it is left as it is.
   */
  spooled?: { id: string; folder: string };
  isFresh: boolean;
  /** A list that no other run may make the same as its input meanwhile. */
  syncs?: SyncedList;
  openJournalFile?: (file: string) => JournalFile;
  /** Unfinished runs of a file of this name whose content was another. */
  onChanged?(older: Manifest): void;
  /** Runs that cannot be read: one of them may be the unfinished one. */
  onUnreadable?: WhenUnreadable;
  /** A process that cannot be seen from here held the run, and has gone silent. */
  onTookOver?(whose: string): void;
}

export interface SyncedList {
  listId: string;
  /** As it was named. */
  name: string;
}

/** @throws LockedError when another process works on the same run; JournalDamagedError; JournalError */
export async function enterRun(options: EnterRunOptions): Promise<EnteredRun> {
  const { stateFolder, about, spooled, isFresh } = options;
  const place = spooled ?? (await makeRunFolder(stateFolder, options.now));
  const leases: Lease[] = [];
  try {
    const lease = await takeLease(toLocksFolder(stateFolder), about.fingerprint, "this run");
    leases.push(lease);
    if (options.syncs) leases.push(await takeListLease(options, options.syncs));
    if (lease.tookOver !== undefined) options.onTookOver?.(lease.tookOver);
    const runs = await listRuns(stateFolder, isFresh ? undefined : options.onUnreadable);
    // A run that was killed between its last record and its summary is entered too: it has only to be summed up.
    const isSame = ({ manifest, isFinished }: StoredRun) =>
      manifest.fingerprint === about.fingerprint && !isFinished;
    const unfinished = isFresh ? undefined : runs.find(isSame);
    if (unfinished && !spooled) await rm(place.folder, { recursive: true, force: true });
    const run = unfinished ?? (await begin(options, place, runs));
    return await openRun(run, { leases, options, isResumed: unfinished !== undefined });
  } catch (error) {
    await rm(place.folder, { recursive: true, force: true }).catch(() => undefined);
    for (const lease of leases) await lease.release();
    throw error;
  }
}

function takeListLease(
  { stateFolder, about: { account } }: EnterRunOptions,
  { listId, name }: SyncedList,
): Promise<Lease> {
  const matter = `sync ${account.baseUrl} ${account.structureId} ${listId}`;
  return takeLease(toLocksFolder(stateFolder), matter, `a sync of the list ${JSON.stringify(name)}`);
}

async function begin(
  options: EnterRunOptions,
  { id, folder: newFolder }: { id: string; folder: string },
  runs: readonly StoredRun[],
): Promise<Run> {
  const { about, stateFolder, isFresh } = options;
  for (const { manifest, folder, isFinished } of runs) {
    if (isFinished) continue;
    if (isFresh && manifest.fingerprint === about.fingerprint) {
      await writeManifest(folder, { ...manifest, supersededBy: id });
    }
    const isSameFile = manifest.input.file === about.input.file && !about.input.isSpooled;
    if (isSameFile && manifest.kind === about.kind && manifest.input.sha256 !== about.input.sha256) {
      options.onChanged?.(manifest);
    }
  }
  const input = about.input.isSpooled
    ? { ...about.input, file: join(newFolder, fileNames.input) }
    : about.input;
  const startedAt = new Date(options.now).toISOString();
  await numberRun(stateFolder, newFolder);
  // Before the manifest: a run without a journal has lost it.
  const start = { kind: "start", at: options.now, program: about.program } as const;
  await createJournal(join(newFolder, fileNames.journal), start);
  const manifest: Manifest = { version: 1, id, startedAt, ...about, input };
  await writeManifest(newFolder, manifest);
  return { manifest, folder: newFolder };
}

/** @param leases of the run itself, and of what it works on */
async function openRun(
  { manifest, folder }: Run,
  { leases, options, isResumed }: { leases: Lease[]; options: EnterRunOptions; isResumed: boolean },
): Promise<EnteredRun> {
  const file = join(folder, fileNames.journal);
  const { ledger, end, damage } = await readRunRecord({ manifest, folder });
  if (damage !== undefined) throw cannotResumeError(manifest.id, damage);
  if (isResumed) await cutTornTail(file, end);
  const journal = new Journal(file, options.openJournalFile, () => {
    for (const lease of leases) lease.requireHeld();
  });
  return {
    manifest,
    folder,
    ledger,
    journal,
    isResumed,
    async become(fingerprint) {
      leases.push(await takeLease(toLocksFolder(options.stateFolder), fingerprint, "this run"));
      manifest.fingerprint = fingerprint;
      await writeManifest(folder, manifest);
    },
    async leave() {
      await journal.close().catch(() => undefined);
      for (const each of leases) await each.release();
    },
  };
}
