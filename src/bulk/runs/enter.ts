/** Coming into a run: the unfinished one of the same command, or a new one; alone, and knowing what was done. */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { UsageError } from "../../errors.ts";
import { fileOf } from "./files.ts";
import { listRuns, type Manifest, makeRunFolder, runsFolder, writeManifest } from "./folder.ts";
import { cutTornTail, type Journal, type JournalFile, openJournal, readJournal } from "./journal.ts";
import { createLedger, type Ledger } from "./ledger.ts";
import { type Lock, takeLock } from "./lock.ts";

export interface EnteredRun {
  manifest: Manifest;
  folder: string;
  ledger: Ledger;
  journal: Journal;
  isResumed: boolean;
  leave(): Promise<void>;
}

export interface Entrance {
  stateFolder: string;
  now: number;
  /** What the manifest will say; `id` and `startedAt` are the run's own. */
  about: Omit<Manifest, "format" | "id" | "startedAt">;
  /** A folder made for the spooled input: becomes the run's, unless the run exists already; then it is left as it is. */
  prepared?: { id: string; folder: string };
  isFresh: boolean;
  openJournalFile?: (file: string) => JournalFile;
  /** Unfinished runs of a file of this name whose content was another. */
  onChanged?(older: Manifest): void;
}

/** @throws UsageError when another process works on the same run; JournalError */
export async function enterRun(entrance: Entrance): Promise<EnteredRun> {
  const { stateFolder, about, prepared, isFresh } = entrance;
  const made = prepared ?? (await makeRunFolder(stateFolder, entrance.now));
  const lock = await takeLock(runsFolder(stateFolder), about.fingerprint);
  try {
    if (!lock) throw locked();
    const unfinished = isFresh ? undefined : await findUnfinished(entrance);
    if (!unfinished) await begin(entrance, made);
    else if (!prepared) await rm(made.folder, { recursive: true, force: true });
    const { manifest, folder } = unfinished ?? (await findById(stateFolder, made.id));
    return await open({ manifest, folder, lock, entrance, isResumed: unfinished !== undefined });
  } catch (error) {
    await rm(made.folder, { recursive: true, force: true }).catch(() => undefined);
    await lock?.release();
    throw error;
  }
}

/** What a run has done so far, without entering it. `end`: bytes of the journal that can be trusted. */
export async function readLedger(folder: string): Promise<{ ledger: Ledger; end: number }> {
  const ledger = createLedger();
  let end = 0;
  for await (const read of readJournal(join(folder, fileOf.journal))) {
    ledger.take(read.record);
    end = read.end;
  }
  return { ledger, end };
}

async function begin(entrance: Entrance, made: { id: string; folder: string }): Promise<void> {
  const { about, stateFolder, isFresh } = entrance;
  for (const { manifest, folder } of await listRuns(stateFolder)) {
    if (isFinished(manifest)) continue;
    if (isFresh && manifest.fingerprint === about.fingerprint) {
      await writeManifest(folder, { ...manifest, supersededBy: made.id });
    }
    const isSameFile = manifest.input.file === about.input.file && !about.input.isSpooled;
    if (isSameFile && manifest.kind === about.kind && manifest.input.sha256 !== about.input.sha256) {
      entrance.onChanged?.(manifest);
    }
  }
  const input = about.input.isSpooled
    ? { ...about.input, file: join(made.folder, fileOf.input) }
    : about.input;
  const startedAt = new Date(entrance.now).toISOString();
  await writeManifest(made.folder, { format: 1, id: made.id, startedAt, ...about, input });
}

async function findUnfinished({ stateFolder, about }: Entrance) {
  for (const run of await listRuns(stateFolder)) {
    if (run.manifest.fingerprint !== about.fingerprint || isFinished(run.manifest)) continue;
    // Killed between its last record and its manifest: it is finished all the same.
    if (!(await readLedger(run.folder)).ledger.isEnded) return run;
  }
  return undefined;
}

async function findById(stateFolder: string, id: string) {
  return (await listRuns(stateFolder)).find(({ manifest }) => manifest.id === id)!;
}

export function isFinished(manifest: Manifest): boolean {
  return manifest.supersededBy !== undefined || manifest.summary?.status === "completed";
}

async function open(coming: {
  manifest: Manifest;
  folder: string;
  lock: Lock;
  entrance: Entrance;
  isResumed: boolean;
}): Promise<EnteredRun> {
  const { manifest, folder, lock, entrance, isResumed } = coming;
  const file = join(folder, fileOf.journal);
  const { ledger, end } = await readLedger(folder);
  if (isResumed) await cutTornTail(file, end);
  const journal = openJournal(file, entrance.openJournalFile);
  return {
    manifest,
    folder,
    ledger,
    journal,
    isResumed,
    async leave() {
      await journal.close().catch(() => undefined);
      await lock.release();
    },
  };
}

function locked(): UsageError {
  return new UsageError(
    "another ecm process is working on the same run",
    "wait for it to end; the same command then goes on where it stopped, if it did",
    { type: "RunLockedError", retryable: true },
  );
}
