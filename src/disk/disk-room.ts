/** What to do about a disk that refuses a write: how much room there is, and how much is needed. */
import { statfsSync } from "node:fs";
import { dirname } from "node:path";

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
 * @returns how much room there is, in words; undefined where there is enough, or nobody can say
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
