/** The files that one command reads and writes: none of them is destroyed by another. */
import {
  accessSync,
  type BigIntStats,
  constants,
  lstatSync,
  readdirSync,
  realpathSync,
  statSync,
} from "node:fs";
import { basename, dirname, join, resolve, sep } from "node:path";
import { describeDiskError } from "../disk/disk-errors.ts";
import { EcmError, usageError } from "../errors.ts";

interface OutputTarget {
  /** The absolute path; for a link, that of its target. */
  path: string;
  /** Rights of the file that is there already. */
  mode?: number;
}

export class CommandFiles {
  private readonly own: readonly string[];
  /** By the identity of each file: what messages call it. */
  private readonly named = new Map<string, { name: string; isOutput: boolean }>();

  /** @param own folders and files that belong to ecm: no output may be written there */
  constructor(own: readonly string[]) {
    this.own = own;
  }

  /**
   * The command reads this file. Naming it twice changes nothing.
   * @param name `the input file`, or the flag that names it
   * @throws UsageError when an output of the command has this place
   */
  reads(file: string, name: string): void {
    const identity = toFileIdentity(file);
    const other = this.named.get(identity);
    if (other?.isOutput) throw clashError(other.name, name);
    this.named.set(identity, { name, isOutput: false });
  }

  /**
   * The command writes this file, in the place of an earlier one. Naming it twice changes nothing.
   * @throws UsageError before anything is sent: when no file can appear there, when the command reads it or
   *   has another output there, and for a place of ecm's own, be it through a link
   */
  writes(file: string, flag: string): void {
    resolveOutputTarget(file, flag);
    const identity = toFileIdentity(file);
    const other = this.named.get(identity);
    if (other && other.name !== flag) throw clashError(flag, other.name);
    if (this.own.some((place) => isWithin(place, file)))
      throw usageError(`${flag}: ${file} is one of ecm's own files`, "Name another file");
    this.named.set(identity, { name: flag, isOutput: true });
  }
}

/**
 * @param flag that names the file
 * @throws UsageError when no file can appear there
 */
export function resolveOutputTarget(file: string, flag = "--output-file"): OutputTarget {
  const path = resolve(file);
  const refuse = (reason: string, hint?: string): never => {
    throw cannotWriteError(file, reason, flag, hint);
  };
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found?.isDirectory()) refuse("it is a folder", "Name a file");
    if (found && !found.isFile()) refuse("it is a device or a pipe");
    if (found && (found.mode & 0o222) === 0) refuse("it is read-only");
    if (!found && lstatSync(path, { throwIfNoEntry: false })) refuse("it is a link that leads nowhere");
    const isInFolder = statSync(dirname(path), { throwIfNoEntry: false })?.isDirectory();
    if (!found && (/[/\\]$/.test(file) || !isInFolder))
      refuse("there is no such folder", "Make the folder first, or name another file");
    const target = found ? { path: realpathSync(path), mode: found.mode & 0o777 } : { path };
    accessSync(dirname(target.path), constants.W_OK);
    return target;
  } catch (error) {
    if (error instanceof EcmError) throw error;
    // Also a name that is impossible, such as one that is too long.
    return refuse(describeDiskError(error));
  }
}

export function cannotWriteError(
  file: string,
  reason: string,
  flag = "--output-file",
  hint = "Name another file",
): EcmError {
  return usageError(`${flag}: cannot write ${file === "" ? '""' : file}: ${reason}`, hint);
}

function clashError(flag: string, other: string): EcmError {
  const message = other.startsWith("-")
    ? `${flag} and ${other} name the same file`
    : `${flag} names ${other}`;
  return usageError(message, "Name another file");
}

/** Equal for all names of one file. A file that does not exist yet is known by its path without links. */
function toFileIdentity(file: string): string {
  const path = toRealPath(file);
  const found = readStats(path);
  // Where a file system has no such numbers, the path must do.
  return found && found.ino !== 0n ? `${found.dev}:${found.ino}` : path;
}

/** Undefined for what cannot be looked at: the attempt to open it says why. */
function readStats(path: string): BigIntStats | undefined {
  try {
    return statSync(path, { bigint: true });
  } catch {
    return undefined;
  }
}

/** Without links; a file that does not exist yet is named by the real path of its folder. */
function toRealPath(file: string): string {
  const path = resolve(file);
  try {
    return realpathSync.native(path);
  } catch {
    const folder = dirname(path);
    return folder === path ? path : join(toRealPath(folder), basename(path));
  }
}

/** Whether the file is this place, or is below it, by its path or by another name of it. */
function isWithin(place: string, file: string): boolean {
  const [above, path] = [toRealPath(place), toRealPath(file)];
  if (path === above || path.startsWith(join(above, sep))) return true;
  if ((readStats(path)?.nlink ?? 1n) < 2n) return false;
  const identity = toFileIdentity(path);
  return listFiles(above).some((each) => toFileIdentity(each) === identity);
}

function listFiles(place: string): string[] {
  const found = readStats(place);
  if (!found?.isDirectory()) return found ? [place] : [];
  return readdirSync(place, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}
