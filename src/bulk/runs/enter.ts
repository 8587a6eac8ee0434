/**
 * Coming into a run: the unfinished one of the same command, or a new one; alone, and knowing what was done.
 */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { type Lease, takeLease } from "../../disk/lease.ts";
import type { EcmError } from "../../errors.ts";
import { fileNames, type Manifest, makeRunFolder, type Run, toLocksFolder, writeManifest } from "./folder.ts";
import { createJournal, cutTornTail, Journal, type JournalFile } from "./journal.ts";
import { damagedJournalError, type Ledger, readRunRecord } from "./ledger.ts";
import { listRuns } from "./stored-runs.ts";

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
  openJournalFile?: (file: string) => JournalFile;
  /** Told of each run that cannot be read: it may be the unfinished one. */
  onUnreadable?(failure: EcmError): void;
  /** A process that cannot be seen from here held the run, and has gone silent. */
  onTookOver?(whose: string): void;
}

/** @throws LockedError when another process works on the same run; JournalDamagedError; JournalError */
export async function enterRun(options: EnterRunOptions): Promise<EnteredRun> {
  const { stateFolder, about, spooled, isFresh } = options;
  const place = spooled ?? (await makeRunFolder(stateFolder, options.now));
  let lease: Lease | undefined;
  try {
    lease = await takeLease(toLocksFolder(stateFolder), about.fingerprint, "this run");
    if (lease.tookOver !== undefined) options.onTookOver?.(lease.tookOver);
    const runs = await listRuns(stateFolder, isFresh ? undefined : options.onUnreadable);
    // A run that was killed between its last record and its summary is entered too: it has only to be summed up.
    const unfinished = runs.filter(
      ({ manifest, isFinished }) => manifest.fingerprint === about.fingerprint && !isFinished,
    );
    const old = isFresh ? undefined : unfinished[0];
    if (old && !spooled) await rm(place.folder, { recursive: true, force: true });
    if (isFresh) {
      for (const { manifest, folder } of unfinished)
        await writeManifest(folder, { ...manifest, supersededBy: place.id });
    }
    return await openRun(old ?? (await begin(options, place)), lease, options, old !== undefined);
  } catch (error) {
    await rm(place.folder, { recursive: true, force: true }).catch(() => undefined);
    await lease?.release();
    throw error;
  }
}

async function begin(
  { about, now }: EnterRunOptions,
  { id, folder }: { id: string; folder: string },
): Promise<Run> {
  const input = about.input.isSpooled ? { ...about.input, file: join(folder, fileNames.input) } : about.input;
  // Before the manifest: a run without a journal has lost it.
  createJournal(join(folder, fileNames.journal), { kind: "start", at: now, program: about.program });
  const manifest: Manifest = { version: 1, id, startedAt: new Date(now).toISOString(), ...about, input };
  await writeManifest(folder, manifest);
  return { manifest, folder };
}

async function openRun(
  { manifest, folder }: Run,
  lease: Lease,
  { stateFolder, openJournalFile }: EnterRunOptions,
  isResumed: boolean,
): Promise<EnteredRun> {
  const leases = [lease];
  const file = join(folder, fileNames.journal);
  const { ledger, end, damage } = await readRunRecord({ manifest, folder });
  if (damage !== undefined) throw damagedJournalError(manifest.id, damage);
  if (isResumed) await cutTornTail(file, end);
  const journal = new Journal(file, openJournalFile, () => {
    for (const each of leases) each.requireHeld();
  });
  return {
    manifest,
    folder,
    ledger,
    journal,
    isResumed,
    async become(fingerprint) {
      leases.push(await takeLease(toLocksFolder(stateFolder), fingerprint, "this run"));
      manifest.fingerprint = fingerprint;
      await writeManifest(folder, manifest);
    },
    async leave() {
      await journal.close().catch(() => undefined);
      for (const each of leases) await each.release();
    },
  };
}
