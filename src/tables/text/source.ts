/** Reading: the file's bytes: what kind of file it is, and its chunks. */
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { describeDiskError } from "../../disk/disk-errors.ts";
import { UsageError } from "../../errors.ts";

/** A file to read, and what messages call it: the name as it was typed, or `standard input`. */
export interface InputFile {
  path: string;
  name: string;
  /** A folder, which need not exist yet, for what must be unpacked; whoever names it removes it. */
  scratch?: string;
}

/**
 * A chunk's records are in memory at once, with all that is made of them: larger ones are not read faster.
 */
const chunkBytes = 16 * 1024;

/** The file's bytes from an offset on, in chunks. @throws UsageError when it cannot be read */
export async function* readBytes(file: InputFile, start = 0): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of createReadStream(file.path, { start, highWaterMark: chunkBytes })) yield chunk;
  } catch (error) {
    throw unreadableError(file.name, error);
  }
}

/** @throws UsageError when the file is missing, a folder, or may not be read */
export async function requireFile({ path, name }: InputFile): Promise<void> {
  const entry = await stat(path).catch((error: unknown) => {
    throw unreadableError(name, error);
  });
  if (entry.isDirectory()) throw new UsageError(`${name} is a folder`, "Name the file to read");
}

function unreadableError(name: string, cause: unknown): UsageError {
  const { code } = cause as NodeJS.ErrnoException;
  if (code === "ENOENT" || code === "ENOTDIR") {
    const hint = /^https?:\/\//i.test(name)
      ? "This is the address of a page: download the file first"
      : "Check the path; - reads standard input";
    return new UsageError(`${name}: there is no such file`, hint, { cause });
  }
  if (code === "EACCES" || code === "EPERM") {
    return new UsageError(`${name} may not be read`, "Check the permissions of the file", { cause });
  }
  if (code === "EISDIR") return new UsageError(`${name} is a folder`, "Name the file to read", { cause });
  return new UsageError(`${name} cannot be read: ${describeDiskError(cause)}`, undefined, { cause });
}
