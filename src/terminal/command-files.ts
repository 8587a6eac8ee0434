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
import { type EcmError, usageError } from "../errors.ts";

interface OutputTarget {
  /** The absolute path; for a link, that of its target. */
  path: string;
  /** Rights of the file that is there already. */
  mode?: number;
}

/** Places where no output may be written. */
interface OwnPlaces {
  folders: readonly string[];
  /** Files that lie elsewhere, such as a shared suppression list. */
  files: readonly string[];
}

export class CommandFiles {
  private readonly own: OwnPlaces;
  /** What each file is called in a message, by its identity. */
  private readonly inputs = new Map<string, string>();
  private readonly outputs = new Map<string, string>();

  constructor(own: OwnPlaces) {
    this.own = own;
  }

  /**
   * The command reads this file. Naming it twice changes nothing.
   * @param name `the input file`, or the flag that names it
   * @throws UsageError when an output of the command has this place
   */
  reads(file: string, name: string): void {
    const identity = toFileIdentity(file);
    this.inputs.set(identity, name);
    const output = this.outputs.get(identity);
    if (output !== undefined) throw clashError(output, name);
  }

  /**
   * The command writes this file, in the place of an earlier one. Naming it twice changes nothing.
   * @throws UsageError before anything is sent: when no file can appear there, when the command reads it or
   *   has another output there, and for a place in ecm's own folders, be it through a link
   */
  writes(file: string, flag: string): void {
    const { path, mode } = resolveOutputTarget(file, flag);
    const identity = toFileIdentity(file);
    const other = this.inputs.get(identity) ?? this.outputs.get(identity);
    if (other !== undefined && other !== flag) throw clashError(flag, other);
    const { folders, files } = this.own;
    if (
      files.some((own) => toFileIdentity(own) === identity) ||
      folders.some((own) => isBelow(own, file) || containsFile(own, file, identity))
    )
      throw usageError(`${flag}: ${file} is one of ecm's own files`, "Name another file");
    if (mode !== undefined && (mode & 0o222) === 0)
      throw usageError(`${flag}: ${file} is read-only`, "Name another file, or remove it first");
    requireWritableFolder(path, file, flag);
    this.outputs.set(identity, flag);
  }
}

/**
 * @param flag that names the file
 * @throws UsageError when no file can appear there: a missing folder, a folder, a device or pipe, a link that
 *   leads nowhere
 */
export function resolveOutputTarget(file: string, flag = "--output-file"): OutputTarget {
  const path = resolve(file);
  const found = readStats(path);
  if (found?.isDirectory()) throw cannotWriteError(file, "it is a folder", flag);
  if (found && !found.isFile()) {
    const way = flag === "--output-file" ? "; redirect stdout there" : "";
    throw cannotWriteError(file, `it is a device or a pipe${way}`, flag);
  }
  if (found) return { path: realpathSync(path), mode: Number(found.mode) & 0o777 };
  requireNothingThere(path, file, flag);
  if (/[/\\]$/.test(file) || !readStats(dirname(path))?.isDirectory())
    throw cannotWriteError(file, "there is no such folder", flag);
  return { path };
}

/** A name can be impossible, such as one that is too long. */
function requireNothingThere(path: string, file: string, flag: string): void {
  try {
    lstatSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return;
    throw cannotWriteError(file, describeDiskError(error), flag);
  }
  throw cannotWriteError(file, "it is a link that leads nowhere", flag);
}

function requireWritableFolder(path: string, file: string, flag: string): void {
  try {
    accessSync(dirname(path), constants.W_OK);
  } catch (error) {
    throw cannotWriteError(file, describeDiskError(error), flag);
  }
}

export function cannotWriteError(file: string, reason: string, flag = "--output-file"): EcmError {
  return usageError(`${flag}: cannot write ${file === "" ? '""' : file}: ${reason}`);
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

function isBelow(folder: string, file: string): boolean {
  const [above, path] = [toRealPath(folder), toRealPath(file)];
  return path === above || path.startsWith(join(above, sep));
}

/** Whether another name of the file is below the folder. */
function containsFile(folder: string, file: string, identity: string): boolean {
  if ((readStats(file)?.nlink ?? 1n) < 2n || !readStats(folder)) return false;
  return readdirSync(folder, { recursive: true, withFileTypes: true }).some(
    (entry) => entry.isFile() && toFileIdentity(join(entry.parentPath, entry.name)) === identity,
  );
}

function readStats(path: string): BigIntStats | undefined {
  try {
    return statSync(path, { bigint: true });
  } catch {
    return undefined;
  }
}
