/**
 * Coming into a run: the unfinished one of the same command, or a new one; alone, and knowing what was done.
 */
import { join } from "node:path";
import { type Lease, takeLease } from "../../disk/lease.ts";
import { fileNames, type Manifest, type Run, type RunPlace, toLocksFolder, writeManifest } from "./folder.ts";
import { createJournal, cutTornTail, Journal, type JournalFile } from "./journal.ts";
import { damagedJournalError, type Ledger, readRunRecord } from "./ledger.ts";
import { listRuns } from "./stored-runs.ts";

export interface EnteredRun extends Run {
  ledger: Ledger;
  journal: Journal;
  isResumed: boolean;
  /** Runs in whose place it came, as they were before. */
  superseded: readonly Run[];
}

export type EntryRemark =
  | { code: "run_unreadable"; failure: Error }
  /** A process that cannot be seen from here held the run, and has gone silent. */
  | { code: "took_over"; whose: string };

interface EnterRunOptions {
  stateFolder: string;
  now: number;
  /** What the manifest will say; `id` and `startedAt` are the run's own. */
  about: Omit<Manifest, "version" | "id" | "startedAt">;
  /** Becomes the run's, unless the run exists already. */
  place: RunPlace;
  /** This invocation's leases; that on the run is added. Once one is lost, nothing more is written. */
  leases: Lease[];
  isFresh: boolean;
  /** Another run that is not resumed any more. */
  supersedes?: Run;
  openJournalFile?: (file: string) => JournalFile;
  remark(remark: EntryRemark): void;
}

/** @throws LockedError when another process works on the same run; JournalDamagedError; JournalError */
export async function enterRun(options: EnterRunOptions): Promise<EnteredRun> {
  const { stateFolder, about, leases, isFresh, supersedes, openJournalFile, remark } = options;
  const lease = await takeLease(toLocksFolder(stateFolder), about.fingerprint, "this run");
  leases.push(lease);
  if (lease.tookOver !== undefined) remark({ code: "took_over", whose: lease.tookOver });
  // A run that cannot be read may be the unfinished one.
  const runs = await listRuns(stateFolder, (failure) => {
    if (!isFresh) remark({ code: "run_unreadable", failure });
  });
  // A run that was killed between its last record and its summary is entered too, to be summed up.
  const unfinished = runs.filter(
    ({ manifest, isFinished }) => manifest.fingerprint === about.fingerprint && !isFinished,
  );
  const old = isFresh ? undefined : unfinished[0];
  const { manifest, folder } = old ?? (await begin(options));
  const superseded = [...(isFresh ? unfinished : []), ...(supersedes ? [supersedes] : [])];
  for (const each of superseded)
    await writeManifest(each.folder, { ...each.manifest, supersededBy: manifest.id });
  const file = join(folder, fileNames.journal);
  const { ledger, end, damage } = await readRunRecord({ manifest, folder });
  if (damage !== undefined) throw damagedJournalError(manifest.id, damage);
  if (old) await cutTornTail(file, end);
  const journal = new Journal(file, openJournalFile, () => {
    for (const each of leases) each.requireHeld();
  });
  return { manifest, folder, ledger, journal, isResumed: old !== undefined, superseded };
}

async function begin({ about, now, place: { id, folder } }: EnterRunOptions): Promise<Run> {
  const input = about.input.isSpooled ? { ...about.input, file: join(folder, fileNames.input) } : about.input;
  // Before the manifest: a run without a journal has lost it.
  createJournal(join(folder, fileNames.journal), { kind: "start", at: now, program: about.program });
  const manifest: Manifest = { version: 1, id, startedAt: new Date(now).toISOString(), ...about, input };
  await writeManifest(folder, manifest);
  return { manifest, folder };
}
