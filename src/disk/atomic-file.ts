/**
 * Files that appear whole or not at all: written beside their place, synced to the disk, then renamed. Only
 * their owner can read them, unless a mode is given.
 */
import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

const privateMode = 0o600;

export interface AtomicFile {
  /** Writes all of it, or throws: a full disk may take a part of a single write without an error. */
  append(data: string | Uint8Array): Promise<void>;
  /** Syncs the file to the disk and gives it its name, in place of an earlier file. */
  commit(): Promise<void>;
  /** Removes the new file and leaves an earlier one unchanged. Never throws. */
  discard(): Promise<void>;
}

/**
 * Begins a file that will stand at `path`.
 * @param mode its rights; default: its owner's alone, whatever the process's mask is
 * @param beforeRename is told where the whole file lies, before it appears at `path`
 * @throws the system's error when the folder cannot be written
 */
export async function openAtomicFile(
  path: string,
  mode: number = privateMode,
  beforeRename?: (written: string) => Promise<void>,
): Promise<AtomicFile> {
  const temporary = toTemporaryPath(path);
  const handle = await open(temporary, "wx", privateMode);
  const discard = async () => {
    await handle.close().catch(() => undefined);
    await rm(temporary, { force: true }).catch(() => undefined);
  };
  const orDiscard = async (act: () => Promise<void>) => {
    try {
      await act();
    } catch (error) {
      await discard();
      throw error;
    }
  };
  if (mode !== privateMode) await orDiscard(() => handle.chmod(mode));
  return {
    append: (data) => handle.appendFile(data),
    commit: () =>
      orDiscard(async () => {
        await handle.sync();
        await handle.close();
        await beforeRename?.(temporary);
        await rename(temporary, path);
        await syncFolder(dirname(path));
      }),
    discard,
  };
}

/**
 * Writes all of the bytes, or throws: a full disk may take a part of a single write without an error.
 * @param place in the file; without one, at its end or at the current position
 */
export function writeWhole(descriptor: number, bytes: Uint8Array, place?: number): void {
  for (let at = 0; at < bytes.length; ) {
    at += writeSync(descriptor, bytes, at, bytes.length - at, place === undefined ? null : place + at);
  }
}

/** Writes a file whole. @throws the system's error; an earlier file is then unchanged */
export async function writeAtomically(path: string, data: string, mode?: number): Promise<void> {
  const file = await openAtomicFile(path, mode);
  try {
    await file.append(data);
  } catch (error) {
    await file.discard();
    throw error;
  }
  await file.commit();
}

/**
 * Writes a file whole, synchronously, where nothing else may run in between.
 * @param isLasting false for what may be lost with the power, such as a cache: it is not waited for
 */
export function writeAtomicallySync(path: string, data: string, isLasting = true): void {
  const temporary = toTemporaryPath(path);
  try {
    writeFileSync(temporary, data, { mode: privateMode, flag: "wx" });
    if (isLasting) syncPath(temporary);
    renameSync(temporary, path);
    if (isLasting) syncPath(dirname(path));
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

/**
 * Creates an empty file where there is none, for its owner alone from the first moment. One that is there is
 * not opened: closing any descriptor of a file ends the locks that this process holds on it (POSIX).
 * @throws the system's error
 */
export function createIfMissingSync(path: string): void {
  try {
    if (!existsSync(path)) writeFileSync(path, "", { mode: privateMode, flag: "wx" });
  } catch (error) {
    // Another process may have been quicker.
    if (!existsSync(path)) throw error;
  }
}

/** Whether a name in a folder is of a file that is being written, or was when its process was killed. */
export function isTemporaryName(name: string): boolean {
  return /^\..*\.[0-9a-f]{12}\.tmp$/.test(name);
}

function toTemporaryPath(path: string): string {
  return join(dirname(path), `.${basename(path).slice(0, 100)}.${createRandomName()}.tmp`);
}

/** A new name survives a power cut only when its folder was synced; not every platform can. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r").catch(() => undefined);
  await handle?.sync().catch(() => undefined);
  await handle?.close();
}

function syncPath(path: string): void {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, "r");
    fsyncSync(descriptor);
  } catch (error) {
    // A folder cannot be synced everywhere; a disk that fails is an error.
    if (["EIO", "ENOSPC", "EDQUOT"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/** 12 hexadecimal digits. The global `crypto` is loaded by its first use alone, `node:crypto` by every help. */
export function createRandomName(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(6))).toString("hex");
}
