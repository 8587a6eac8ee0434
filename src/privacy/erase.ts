/** Taking persons out of everything that `ecm` keeps on this machine: runs, exports, caches. */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { rm } from "node:fs/promises";
import { basename, dirname, extname, join } from "node:path";
import { isFinished } from "../bulk/runs/enter.ts";
import { fileNames } from "../bulk/runs/file-names.ts";
import {
  type Manifest,
  readManifest,
  toLocksFolder,
  toRunsFolder,
  writeManifest,
} from "../bulk/runs/folder.ts";
import { listActivities } from "../disk/activities.ts";
import { isTemporaryName } from "../disk/atomic-file.ts";
import { type Lease, LockedError, takeLease } from "../disk/lease.ts";
import { exists, isPacked, isRegular, listFolders, readEntries, walkFiles } from "../disk/walk.ts";
import { EcmError, exitCodes } from "../errors.ts";
import { advise, ecm } from "../hint.ts";
import {
  createJournalEraser,
  createTextEraser,
  eraseLines,
  erasePlan,
  eraseTable,
  holdsKey,
} from "./erase-file.ts";
import { type OwnFolders, walkPlaces } from "./places.ts";
import type { Redactor } from "./redaction.ts";

/** The places of our own folders whose files are text. */
const textPlaces = ["runs", "files"] as const;

/**
 * What is erased at each of these places. Called again after a kill, it completes what is left.
 * @returns for each how many files held one of the keys
 */
export function createFileErasers(
  folders: OwnFolders,
  redactor: Redactor,
): Record<(typeof textPlaces)[number], () => Promise<number>> {
  const { state } = folders;
  return {
    /** @throws EcmError (exit 6) when a run holds one of the keys and another process works on it */
    async runs() {
      let erased = 0;
      for (const folder of await listFolders(toRunsFolder(state)))
        erased += await eraseFromRun(state, folder, redactor);
      return erased;
    },
    async files() {
      let erased = 0;
      for await (const file of walkPlaces(folders, ["files"]))
        erased += Number(await eraseFile(file, redactor, []));
      return erased;
    },
  };
}

const tableEndings = [".csv", ".tsv", ".ndjson", ".jsonl", ".json"];

/**
 * Any file of ours that is not read by its lines.
 * @param keyNames columns that hold keys, where they are known
 */
async function eraseFile(file: string, redactor: Redactor, keyNames: string[]): Promise<boolean> {
  if (isTemporaryName(basename(file))) {
    if (!(await holdsKey(file, redactor))) return false;
    await rm(file, { force: true });
    return true;
  }
  const isTable = tableEndings.includes(extname(file)) || keyNames.length > 0;
  if (isTable) return eraseTable(file, { redactor, keyNames, keepsRows: false });
  return eraseLines(file, redactor, createTextEraser(redactor));
}

/**
 * What is under way may hold one of the keys in memory, and write it later.
 * @param account its base address
 * @throws EcmError (exit 6) when a process works on something that holds
 *   one of the keys, or something cannot be searched
 */
export async function requireNobodyAtWork(
  { state }: OwnFolders,
  redactor: Redactor,
  account: string,
): Promise<void> {
  const underWay = await listActivities(state);
  for (const activity of underWay) {
    if (activity.kind === "export" && activity.account === account) throw lockedError(activity.what);
    if (await mayReadPerson(activity.inputs, redactor)) throw lockedError(activity.what);
  }
  await requireErasableRuns(state, redactor);
  const [first] = underWay;
  // Of a run that is not entered yet, and of an export: which of them writes it cannot be seen.
  if (first && (await isInUnownedFiles(state, redactor))) throw lockedError(first.what);
}

/** Whether one of the inputs holds one of the keys, or cannot be searched. */
async function mayReadPerson(inputs: readonly string[], redactor: Redactor): Promise<boolean> {
  for (const input of inputs) {
    // What is read from a pipe is in the run's folder.
    if (!(await isRegular(input))) continue;
    if ((await isPacked(input)) || (await holdsKey(input, redactor))) return true;
  }
  return false;
}

/** Whether one of the keys is in what exports have written, or among the runs in what is no run yet. */
async function isInUnownedFiles(state: string, redactor: Redactor): Promise<boolean> {
  const runs = toRunsFolder(state);
  for (const folder of await listFolders(runs)) {
    const isRun = dirname(folder) === runs && (await exists(join(folder, fileNames.manifest)));
    if (!isRun && (await countFilesHolding(folder, redactor)) > 0) return true;
  }
  for (const { name } of (await readEntries(runs)).filter((entry) => entry.isFile())) {
    if (await holdsKey(join(runs, name), redactor)) return true;
  }
  return false;
}

/**
 * The runs that hold one of the keys and cannot be changed now.
 * @throws EcmError (exit 6) when another process works on one of them, or one cannot be searched
 */
async function requireErasableRuns(state: string, redactor: Redactor): Promise<void> {
  for (const folder of await listFolders(toRunsFolder(state))) {
    const lockedRun = await lockRun(state, folder);
    try {
      if (lockedRun.isAtWork) {
        const isSearchable = !(await isPacked(join(folder, fileNames.input)));
        if (!isSearchable || (await countFilesHolding(folder, redactor)) > 0)
          throw lockedError(`Run ${basename(folder)}`);
      }
      if (lockedRun.manifest) await requireSearchable(folder, lockedRun.manifest);
    } finally {
      await lockedRun.lease?.release();
    }
  }
}

/** How many files below the folders hold one of the keys. */
export async function countFilesWith(folders: OwnFolders, redactor: Redactor): Promise<number> {
  let count = 0;
  for await (const file of walkPlaces(folders, textPlaces)) if (await holdsKey(file, redactor)) count++;
  return count;
}

async function eraseFromRun(state: string, folder: string, redactor: Redactor): Promise<number> {
  const lockedRun = await lockRun(state, folder);
  if (lockedRun.isAtWork) {
    if ((await countFilesHolding(folder, redactor)) > 0) throw lockedError(`Run ${basename(folder)}`);
    return 0;
  }
  try {
    const { manifest } = lockedRun;
    let erased = 0;
    for await (const file of walkFiles(folder)) {
      if (basename(file) === fileNames.manifest) continue;
      erased += Number(await eraseFromRunFile(folder, file, manifest, redactor));
    }
    // Last: it holds what was noted of the input as well.
    const masked = await eraseLines(join(folder, fileNames.manifest), redactor, (line) =>
      redactor.redact(line),
    );
    return erased + Number(masked);
  } finally {
    await lockedRun.lease?.release();
  }
}

async function eraseFromRunFile(
  folder: string,
  file: string,
  manifest: Manifest | undefined,
  redactor: Redactor,
): Promise<boolean> {
  const name = basename(file);
  if (name === fileNames.journal) return eraseLines(file, redactor, createJournalEraser(redactor));
  if (name === fileNames.plan) return erasePlan(file, redactor);
  const isInput = name === fileNames.input;
  if (isInput || name === fileNames.snapshot) {
    // A run that is over never reads these again.
    if (manifest && isFinished(manifest)) {
      const isTheirs = (await holdsKey(file, redactor)) || (isInput && (await isPacked(file)));
      if (isTheirs) await rm(file, { force: true });
      return isTheirs;
    }
  }
  // The rows of an input are named by their lines; those of any other table are not.
  const keyNames = findKeyNames(manifest);
  if (!isInput) return eraseFile(file, redactor, keyNames);
  const isChanged = await eraseTable(file, { redactor, keyNames, keepsRows: true });
  if (manifest) await noteErasedInput(folder, file, manifest);
  return isChanged;
}

/** Columns that the command named as the key's. */
function findKeyNames(manifest: Manifest | undefined): string[] {
  const { map } = (manifest?.options.read ?? {}) as { map?: unknown };
  if (!Array.isArray(map)) return [];
  return (map as [string, string][]).filter(([, target]) => target === "key").map(([column]) => column);
}

/**
 * A spooled input that was changed here is still the run's input:
 * its new content is written down beside the old.
 */
async function noteErasedInput(folder: string, file: string, manifest: Manifest): Promise<void> {
  const hash = createHash("sha256");
  for await (const piece of createReadStream(file)) hash.update(piece as Buffer);
  const sha256 = hash.digest("hex");
  if (sha256 === manifest.input.sha256 || sha256 === manifest.input.erasedSha256) return;
  await writeManifest(folder, { ...manifest, input: { ...manifest.input, erasedSha256: sha256 } });
}

/** Empty for a folder that is no run. */
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
    if (error instanceof LockedError) return { isAtWork: true };
    throw error;
  }
}

/** What is packed cannot be masked; a run that needs it must end first. @throws EcmError */
async function requireSearchable(folder: string, manifest: Manifest): Promise<void> {
  if (isFinished(manifest) || !manifest.input.isSpooled || !(await isPacked(join(folder, fileNames.input))))
    return;
  throw new EcmError(
    exitCodes.conflict,
    `Run ${manifest.id} has a compressed input that cannot be searched; nothing was erased`,
    {
      type: "RunNotErasableError",
      applied: "no",
      hint: advise`Resume it (${ecm`runs resume ${manifest.id}`}) or remove it (${ecm`runs remove ${manifest.id}`}), then erase again`,
    },
  );
}

async function countFilesHolding(folder: string, redactor: Redactor): Promise<number> {
  let count = 0;
  for await (const file of walkFiles(folder)) if (await holdsKey(file, redactor)) count++;
  return count;
}

/** @param what the run or the export, in words */
function lockedError(what: string): EcmError {
  return new EcmError(
    exitCodes.conflict,
    `${what} may contain this contact, and another ecm process is working on it`,
    {
      type: "RunLockedError",
      retryable: true,
      hint: "Wait for it to end, or stop it (it can be resumed), then erase again: steps already done are skipped",
    },
  );
}
