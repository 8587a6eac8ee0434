/** The target of `--output-file`, checked before anything is sent. */
import { closeSync, lstatSync, openSync, readSync, realpathSync, type Stats, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { constants, gunzipSync } from "node:zlib";
import type { WrittenFiles } from "../disk/own-outputs.ts";
import { UsageError } from "../errors.ts";

interface OutputTarget {
  /** Absolute; of a link, what it leads to. */
  path: string;
  /** Rights of the file that is there already. */
  mode?: number;
}

/**
 * @param flag that names the file
 * @throws UsageError when no file can appear there: a missing folder, a
 *   folder, a device or pipe, a link that leads nowhere
 */
export function resolveOutputTarget(file: string, flag?: string): OutputTarget {
  const path = resolve(file);
  const found = readStats(path);
  if (found?.isDirectory()) throw cannotWriteError(file, "it is a folder", flag);
  if (found && !found.isFile())
    throw cannotWriteError(file, "it is a device or a pipe; redirect stdout there", flag);
  if (found) return { path: realpathSync(path), mode: found.mode & 0o777 };
  if (exists(path)) throw cannotWriteError(file, "it is a link that leads nowhere", flag);
  if (/[/\\]$/.test(file) || !readStats(dirname(path))?.isDirectory())
    throw cannotWriteError(file, "there is no such folder", flag);
  return { path };
}

/** How what stands in a file's place already may be known as ours. */
export interface Replacing {
  /** Also what is not ours, and what is read-only. */
  force?: boolean;
  writtenFiles?: WrittenFiles;
  /** By the first characters of a file. */
  isOwn(start: string): boolean;
}

/**
 * The same for a file that may take the place of another.
 * @throws UsageError when the file that is there was not written by `ecm`, or may not be written
 */
export function requireReplaceable(
  file: string,
  { force, writtenFiles, isOwn }: Replacing,
  flag = "--output-file",
): void {
  const { path, mode } = resolveOutputTarget(file, flag);
  if (mode === undefined || force) return;
  const way = flag === "--output-file" ? ", or replace it with --force" : ", or remove it first";
  const refuse = (reason: string) => new UsageError(`${flag}: ${file} ${reason}`, `Name another file${way}`);
  if ((mode & 0o222) === 0) throw refuse("is read-only");
  if (!writtenFiles?.isOurs(path) && !isOwn(readStart(path)))
    throw refuse("already exists and was not written by ecm");
}

/** By which a file is known again; empty where there is none. */
export function toFileState(file: string): string {
  try {
    const { ino, size, mtimeMs } = statSync(file);
    return `${ino} ${size} ${mtimeMs}`;
  } catch {
    return "";
  }
}

const startBytes = 64 * 1024;

/** The first characters of a file; what cannot be read is not ours. */
function readStart(path: string): string {
  try {
    const descriptor = openSync(path, "r");
    try {
      const bytes = Buffer.alloc(startBytes);
      const start = bytes.subarray(0, readSync(descriptor, bytes, 0, startBytes, 0));
      return (isGzip(start) ? unpackStart(start) : start).toString("utf8");
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return "\0";
  }
}

function isGzip(bytes: Buffer): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b;
}

function unpackStart(bytes: Buffer): Buffer {
  return gunzipSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH });
}

export function cannotWriteError(file: string, reason: string, flag = "--output-file"): UsageError {
  return new UsageError(`${flag}: cannot write ${file === "" ? '""' : file}: ${reason}`);
}

function readStats(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

function exists(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}
