/** Changes of a suppression list come one after another, also those of other processes and machines. */
import { realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { LockedError, takeLease } from "../disk/lease.ts";
import { makeFolder } from "../disk/make-folder.ts";
import { SuppressionsError, unwritableError } from "./suppressions-errors.ts";

const maxWaitMilliseconds = 60_000;

/**
 * Changes come one after another: each is done in milliseconds.
 * @throws SuppressionsError when another one never ends
 */
export async function withLock(file: string, work: () => Promise<void>): Promise<void> {
  const began = performance.now();
  for (;;) {
    try {
      const path = resolveFile(file);
      await makeFolder(dirname(path));
      const locks = join(dirname(path), `.${basename(path)}.locks`);
      const lease = await takeLease(locks, "change", `the suppression list ${file}`);
      return await work().finally(lease.release);
    } catch (error) {
      if (error instanceof SuppressionsError) throw error;
      const mayEnd = error instanceof LockedError && performance.now() - began < maxWaitMilliseconds;
      if (!mayEnd) throw unwritableError(file, error);
      await sleep(20);
    }
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
