/** Taking persons out of everything that `ecm` keeps on this machine: runs, exports, caches. */
import { createHash } from "node:crypto";
import { createReadStream, type Dirent } from "node:fs";
import { open, readdir, rm } from "node:fs/promises";
import { basename, dirname, join, sep } from "node:path";
import { isTemporaryName } from "../../disk/atomic-file.ts";
import { type Lease, LockedError, takeLease } from "../../disk/lease.ts";
import { EcmError, exitCodes } from "../../errors.ts";
import { isFinished } from "./enter.ts";
import { eraseLines, eraseRows, holdsKey, journalEraser, maskInPlace, textEraser } from "./erase-file.ts";
import { fileOf } from "./files.ts";
import { locksFolder, type Manifest, readManifest, runsFolder, writeManifest } from "./folder.ts";
import { planSealer } from "./plan-seal.ts";
import type { Redactor } from "./redaction.ts";

export interface OwnFolders {
  state: string;
  cache: string;
}

/**
 * Takes the persons out of every file below the folders. Called again after a kill, it completes what is left.
 * @param isElsewhere files that are not text, and that others take care of
 * @returns how many files held one of the keys
 * @throws EcmError (exit 6) when a run holds one of the keys and another process works on it
 */
export async function eraseFromFiles(
  folders: OwnFolders,
  redactor: Redactor,
  isElsewhere: (file: string) => boolean,
): Promise<number> {
  let erased = 0;
  const runs = runsFolder(folders.state);
  for (const folder of await foldersIn(runs)) erased += await eraseFromRun(folders.state, folder, redactor);
  for (const root of new Set([folders.state, folders.cache])) {
    for await (const file of filesIn(root)) {
      const isOfRun = file.startsWith(join(runs, sep)) && dirname(file) !== runs;
      if (isOfRun || isElsewhere(file)) continue;
      // Another process may be writing to these.
      if (basename(file) === "part" || isTemporaryName(basename(file)))
        erased += Number(await maskInPlace(file, redactor));
      else erased += Number(await eraseLines(file, redactor, textEraser(redactor)));
    }
  }
  return erased;
}

/**
 * The runs that hold one of the keys and cannot be changed now.
 * @throws EcmError (exit 6) when another process works on one of them, or one cannot be searched
 */
export async function requireErasableRuns({ state }: OwnFolders, redactor: Redactor): Promise<void> {
  for (const folder of await foldersIn(runsFolder(state))) {
    const held = await holdRun(state, folder);
    try {
      if (held === "at work" && (await countHolding(folder, redactor)) > 0) throw atWork(basename(folder));
      if (typeof held === "object") await requireSearchable(folder, held.manifest);
    } finally {
      if (typeof held === "object") await held.lease.release();
    }
  }
}

/** How many files below the folders hold one of the keys. */
export async function countFilesWith(
  folders: OwnFolders,
  redactor: Redactor,
  isElsewhere: (file: string) => boolean,
): Promise<number> {
  let count = 0;
  for (const root of new Set([folders.state, folders.cache])) {
    for await (const file of filesIn(root)) {
      if (!isElsewhere(file) && (await holdsKey(file, redactor))) count++;
    }
  }
  return count;
}

/** Files outside our folders that runs have read or written, and that hold one of the keys: nobody but their owner can change these. */
export async function filesOfOthersWith({ state }: OwnFolders, redactor: Redactor): Promise<string[]> {
  const files = new Set<string>();
  for (const folder of await foldersIn(runsFolder(state))) {
    const manifest = await readManifest(folder).catch(() => undefined);
    if (!manifest) continue;
    const { input, rejects, plan, backup, summary } = manifest;
    const named = [input.isSpooled ? undefined : input.file, rejects, summary?.rejects, plan, backup?.file];
    for (const file of named) {
      if (typeof file !== "string" || file.startsWith(state)) continue;
      for (const each of [file, ...(await temporariesOf(file))]) files.add(each);
    }
  }
  const holding: string[] = [];
  for (const file of files) if (await holdsKey(file, redactor).catch(() => false)) holding.push(file);
  return holding;
}

/** What a killed process left of a file that it was putting in place. */
async function temporariesOf(file: string): Promise<string[]> {
  const folder = dirname(file);
  const names = await readdir(folder).catch(() => [] as string[]);
  return names
    .filter((name) => isTemporaryName(name) && name.startsWith(`.${basename(file).slice(0, 100)}.`))
    .map((name) => join(folder, name));
}

async function eraseFromRun(state: string, folder: string, redactor: Redactor): Promise<number> {
  const held = await holdRun(state, folder);
  if (held === "at work") {
    if ((await countHolding(folder, redactor)) > 0) throw atWork(basename(folder));
    return 0;
  }
  try {
    const manifest = held?.manifest;
    let erased = 0;
    for await (const file of filesIn(folder)) {
      if (basename(file) === fileOf.manifest) continue;
      erased += Number(await eraseFromRunFile(folder, file, manifest, redactor));
    }
    // Last: it holds what was noted of the input as well.
    const masked = await eraseLines(join(folder, fileOf.manifest), redactor, (line) => redactor.redact(line));
    return erased + Number(masked);
  } finally {
    await held?.lease.release();
  }
}

async function eraseFromRunFile(
  folder: string,
  file: string,
  manifest: Manifest | undefined,
  redactor: Redactor,
): Promise<boolean> {
  const name = basename(file);
  if (isTemporaryName(name)) return maskInPlace(file, redactor);
  if (name === fileOf.journal) return eraseLines(file, redactor, journalEraser(redactor));
  if (name === fileOf.plan) {
    const [erase, seal] = [textEraser(redactor), planSealer()];
    return eraseLines(file, redactor, (line) => seal(erase(line) ?? ""));
  }
  const isInput = name === fileOf.input;
  if (isInput || name === fileOf.snapshot || name === fileOf.removals) {
    // A run that is over never reads these again.
    if (manifest && isFinished(manifest)) {
      const isTheirs = (await holdsKey(file, redactor)) || (isInput && (await isPacked(file)));
      if (isTheirs) await rm(file, { force: true });
      return isTheirs;
    }
    const isChanged = await eraseLines(file, redactor, textEraser(redactor));
    if (isInput && manifest) await noteErasedInput(folder, file, manifest);
    return isChanged;
  }
  return eraseRows(file, redactor);
}

/** A spooled input that was changed here is still the run's input: its new content is written down beside the old. */
async function noteErasedInput(folder: string, file: string, manifest: Manifest): Promise<void> {
  const hash = createHash("sha256");
  for await (const piece of createReadStream(file)) hash.update(piece as Buffer);
  const sha256 = hash.digest("hex");
  if (sha256 === manifest.input.sha256 || sha256 === manifest.input.erasedSha256) return;
  await writeManifest(folder, { ...manifest, input: { ...manifest.input, erasedSha256: sha256 } });
}

type Held = { manifest: Manifest; lease: Lease } | "at work" | undefined;

/** Undefined for a folder that is no run. */
async function holdRun(state: string, folder: string): Promise<Held> {
  const manifest = await readManifest(folder).catch(() => undefined);
  if (!manifest) return undefined;
  try {
    return {
      manifest,
      lease: await takeLease(locksFolder(state), manifest.fingerprint, `run ${manifest.id}`),
    };
  } catch (error) {
    if (error instanceof LockedError) return "at work";
    throw error;
  }
}

/** What is packed cannot be masked; a run that needs it must end first. @throws EcmError */
async function requireSearchable(folder: string, manifest: Manifest): Promise<void> {
  if (isFinished(manifest) || !manifest.input.isSpooled || !(await isPacked(join(folder, fileOf.input))))
    return;
  throw new EcmError(
    exitCodes.conflict,
    `Run ${manifest.id} has a compressed input that cannot be searched; nothing was erased`,
    {
      type: "RunNotErasableError",
      applied: "no",
      hint: `Resume it (ecm runs resume ${manifest.id}) or remove it (ecm runs remove ${manifest.id}), then erase again`,
    },
  );
}

/** gzip or zip (a workbook), by the first bytes. */
async function isPacked(file: string): Promise<boolean> {
  const handle = await open(file, "r").catch(() => undefined);
  if (!handle) return false;
  try {
    const { buffer } = await handle.read(Buffer.alloc(4), 0, 4, 0);
    return (buffer[0] === 0x1f && buffer[1] === 0x8b) || buffer.toString("latin1", 0, 2) === "PK";
  } finally {
    await handle.close();
  }
}

async function countHolding(folder: string, redactor: Redactor): Promise<number> {
  let count = 0;
  for await (const file of filesIn(folder)) if (await holdsKey(file, redactor)) count++;
  return count;
}

async function foldersIn(root: string): Promise<string[]> {
  return (await entriesOf(root)).filter((entry) => entry.isDirectory()).map(({ name }) => join(root, name));
}

/** Every file below a folder; links are not followed. */
async function* filesIn(root: string): AsyncGenerator<string> {
  for (const entry of await entriesOf(root)) {
    const path = join(root, entry.name);
    if (entry.isDirectory()) yield* filesIn(path);
    else if (entry.isFile()) yield path;
  }
}

async function entriesOf(folder: string): Promise<Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

function atWork(run: string): EcmError {
  return new EcmError(
    exitCodes.conflict,
    `Run ${run} contains this contact, and another ecm process is working on it`,
    {
      type: "RunLockedError",
      retryable: true,
      hint: "Wait for it to end, or stop it (it can be resumed), then erase again: steps already done are skipped",
    },
  );
}
