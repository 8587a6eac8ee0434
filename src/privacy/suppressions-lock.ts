/** Changes of a suppression list come one after another, also those of other processes and machines. */
import { realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { awaitLease } from "../disk/lease.ts";
import { makeFolder } from "../disk/make-folder.ts";
import { SuppressionsError, unwritableError } from "./suppressions-errors.ts";

const maxWaitMilliseconds = 60_000;

/**
 * Changes come one after another: each is done in milliseconds.
 * @throws SuppressionsError when another one never ends
 */
export async function withLock(file: string, work: () => Promise<void>): Promise<void> {
  try {
    const path = resolveFile(file);
    makeFolder(dirname(path));
    const locks = join(dirname(path), `.${basename(path)}.locks`);
    const lease = await awaitLease(locks, "change", `the suppression list ${file}`, {
      maxMilliseconds: maxWaitMilliseconds,
    });
    await work().finally(lease.release);
  } catch (error) {
    throw error instanceof SuppressionsError ? error : unwritableError(file, error);
  }
}

/** Of a link, what it leads to: a file that is put in place would replace the link. */
export function resolveFile(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return file;
  }
}
