/** The target of `--output-file`, checked before anything is sent. */
import { realpathSync, type Stats, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { UsageError } from "../errors.ts";

export interface OutputTarget {
  /** Absolute; of a link, what it leads to. */
  path: string;
  /** Rights of the file that is there already. */
  mode?: number;
}

/** @param flag that names the file @throws UsageError when no file can appear there: a missing folder, a folder, a device or pipe. */
export function outputTarget(file: string, flag?: string): OutputTarget {
  const path = resolve(file);
  const found = statusOf(path);
  if (found?.isDirectory()) throw cannotWrite(file, "it is a folder", flag);
  if (found && !found.isFile())
    throw cannotWrite(file, "it is a device or a pipe; redirect stdout there", flag);
  if (found) return { path: realpathSync(path), mode: found.mode & 0o777 };
  if (!statusOf(dirname(path))?.isDirectory()) throw cannotWrite(file, "there is no such folder", flag);
  return { path };
}

export function cannotWrite(file: string, reason: string, flag = "--output-file"): UsageError {
  return new UsageError(`${flag}: cannot write ${file === "" ? '""' : file}: ${reason}`);
}

function statusOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
