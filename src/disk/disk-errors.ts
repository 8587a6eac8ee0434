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
  return failedError(
    message.charAt(0).toUpperCase() + message.slice(1),
    diskFullHint(error, path) ?? hints[code!],
    { type: "SystemError", cause: error },
  );
}

/** Whether the disk, or what one may use of it, is full. */
export function isDiskFull(error: unknown): boolean {
  const { code, cause } = (error ?? {}) as NodeJS.ErrnoException & { cause?: unknown };
  return code === "ENOSPC" || code === "EDQUOT" || (cause !== undefined && isDiskFull(cause));
}

/** What a small write needs, in bytes: a run begins with less. */
const neededBytes = 2 ** 20;

/** Whether even a small write would be refused. @param path it need not exist */
export function isFull(path: string): boolean {
  try {
    const { bavail, bsize, files, ffree } = statfsSync(path);
    return bavail * bsize < neededBytes || (files > 0 && ffree === 0);
  } catch {
    return dirname(path) !== path && isFull(dirname(path));
  }
}

/**
 * The next step in words; undefined where the disk is not full, and the file not too large.
 * @param path what could not be written
 */
export function diskFullHint(error: unknown, path: string | undefined): string | undefined {
  if ((error as NodeJS.ErrnoException | undefined)?.code === "EFBIG") return hints.EFBIG;
  const place = path === undefined ? "" : ` of ${path}`;
  return isDiskFull(error) ? `Make room on the disk${place}, then run the same command again` : undefined;
}

/** Where a folder of runs cannot be written for another reason. */
export function folderHint(error: unknown, path: string): string {
  return (
    diskFullHint(error, path) ??
    "Make it writable. Another folder (ECM_STATE_DIR) has neither the runs nor the suppression list of this one"
  );
}
