/** Errors of the disk in words, and what to do about them. */
import { statfsSync } from "node:fs";
import { dirname } from "node:path";
import { type EcmError, failedError } from "../errors.ts";

const reasons: Record<string, string> = {
  EACCES: "permission denied (EACCES)",
  EBUSY: "another program is using it (EBUSY)",
  EDQUOT: "the disk quota is used up (EDQUOT)",
  EEXIST: "a file has this name (EEXIST)",
  EFBIG: "the file is larger than the disk or a limit allows (EFBIG)",
  EIO: "the disk has failed (EIO)",
  EISDIR: "it is a folder (EISDIR)",
  ELOOP: "its links lead in a circle (ELOOP)",
  EMFILE: "too many files are open (EMFILE)",
  ENAMETOOLONG: "the name is too long (ENAMETOOLONG)",
  ENFILE: "too many files are open (ENFILE)",
  ENOENT: "there is no such file or folder (ENOENT)",
  ENOSPC: "the disk is full (ENOSPC)",
  ENOTDIR: "a part of the path is a file (ENOTDIR)",
  EPERM: "permission denied (EPERM)",
  EROFS: "the disk is read-only (EROFS)",
};

/** Why the system refused, in words; an error of another kind as it says itself. */
export function describeDiskError(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === undefined) return message;
  return reasons[code] ?? message.split(",")[0]!;
}

/** Why a file could not be read, in words. */
export function describeReadError(error: unknown): string {
  const isMissing = (error as NodeJS.ErrnoException).code === "ENOENT";
  return isMissing ? "there is no such file" : describeDiskError(error);
}

/**
 * Names the file where the system does not: where a write to an open one fails.
 * @throws what `act` throws
 */
export function withPath<T>(file: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    throw Object.assign(error as NodeJS.ErrnoException, { path: file });
  }
}

const hints: Record<string, string> = {
  EFBIG: "Raise the limit of the file size (ulimit -f), or use another disk",
  EMFILE: "Raise the limit of open files (ulimit -n), or lower --concurrency",
  EROFS: "Make the disk writable, then run the same command again",
  EACCES: "Check the permissions of the file and its folders",
  EPERM: "Check the permissions of the file and its folders",
};
const fullDiskAdvice = "Make room on the disk, then run the same command again";

/**
 * A refusal of the system, such as a full disk, is no defect of ours.
 * @returns undefined for another error
 */
export function toSystemError(error: unknown): EcmError | undefined {
  const { code, syscall, path } = error as NodeJS.ErrnoException;
  if (!(error instanceof Error) || syscall === undefined || !/^E[A-Z0-9]+$/.test(code ?? ""))
    return undefined;
  const reason = describeDiskError(error);
  const message = path === undefined ? reason : `Cannot use ${path}: ${reason}`;
  const fullHint = path === undefined ? fullDiskAdvice : diskFullHint(error, path);
  return failedError(
    message.charAt(0).toUpperCase() + message.slice(1),
    isDiskFull(error) ? fullHint : hints[code!],
    { type: "SystemError", cause: error },
  );
}

/** What a small write needs, in bytes: a run begins with less. */
const defaultNeededBytes = 2 ** 20;

/** Whether the disk, or what one may use of it, is full. */
export function isDiskFull(error: unknown): boolean {
  const { code, cause } = (error ?? {}) as NodeJS.ErrnoException & { cause?: unknown };
  return code === "ENOSPC" || code === "EDQUOT" || (cause !== undefined && isDiskFull(cause));
}

/**
 * The next step in words; undefined where the disk is not full.
 * @param path what could not be written; it need not exist
 * @param needed bytes, where more than a little is to be written
 */
export function diskFullHint(error: unknown, path: string, needed = defaultNeededBytes): string | undefined {
  if (!isDiskFull(error)) return undefined;
  const { code, cause } = error as NodeJS.ErrnoException & { cause?: NodeJS.ErrnoException };
  if ((code ?? cause?.code) === "EDQUOT") {
    return `Make room within your disk quota for ${path}: at least ${formatBytes(needed)} are needed. Then run the same command again`;
  }
  const room = findFreeSpace(path);
  const free = room === undefined ? "" : `${room}, `;
  return `Make room on the disk of ${path}: ${free}at least ${formatBytes(needed)} needed. Then run the same command again`;
}

/** Where a folder of runs cannot be written for another reason. */
export function folderHint(error: unknown, path: string): string {
  return (
    diskFullHint(error, path) ??
    "Make it writable. Another folder (ECM_STATE_DIR) has neither the runs nor the suppression list of this one"
  );
}

/**
 * Whether even a small write would be refused.
 * @param path it need not exist
 * @returns how much room there is, in words; undefined where there is enough, or it is not known
 */
export function findFullDisk(path: string, needed = defaultNeededBytes): string | undefined {
  const space = measureSpace(path);
  return space && (space.isOutOfNames || space.bytes < needed) ? describeSpace(space) : undefined;
}

interface Space {
  bytes: number;
  /** No further file can be made, whatever its length. */
  isOutOfNames: boolean;
}

function findFreeSpace(path: string): string | undefined {
  const space = measureSpace(path);
  return space && describeSpace(space);
}

function describeSpace({ bytes, isOutOfNames }: Space): string {
  return isOutOfNames ? "it takes no more files (0 inodes free)" : `${formatBytes(bytes)} free`;
}

function measureSpace(path: string): Space | undefined {
  for (let place = path; ; place = dirname(place)) {
    try {
      const { bavail, bsize, files, ffree } = statfsSync(place);
      return { bytes: bavail * bsize, isOutOfNames: files > 0 && ffree === 0 };
    } catch {
      if (dirname(place) === place) return undefined;
    }
  }
}

const units = ["bytes", "KiB", "MiB", "GiB", "TiB"];

function formatBytes(bytes: number): string {
  let size = bytes;
  let unit = 0;
  while (size >= 1024 && unit < units.length - 1) {
    size /= 1024;
    unit++;
  }
  const rounded = size >= 10 || unit === 0 ? Math.floor(size) : Math.floor(size * 10) / 10;
  return `${rounded} ${units[unit]}`;
}
