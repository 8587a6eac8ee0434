/** Lets one process at a time create names in an account: the service would take one name twice. */
import { join } from "node:path";
import { awaitLease, type Lease } from "../disk/lease.ts";
import { UsageError } from "../errors.ts";

/** Where the leases of runs are as well. */
const toLocksFolder = (stateFolder: string) => join(stateFolder, "locks");

/** Longer than the few requests of a creation take. */
const maxWaitMilliseconds = 60_000;

export function createNamesLock(stateFolder: string, baseUrl: string, signal: AbortSignal) {
  return async <T>(structureId: string, perform: () => Promise<T>): Promise<T> => {
    const matter = `names of ${baseUrl} ${structureId}`;
    const folder = toLocksFolder(stateFolder);
    const lease = await awaitLease(folder, matter, "the creation of names", {
      maxMilliseconds: maxWaitMilliseconds,
      signal,
    }).catch(toNoLease);
    try {
      return await perform();
    } finally {
      await lease?.release();
    }
  };
}

/** Where nothing can be written, the second look alone tells of other creators. */
function toNoLease(error: unknown): Lease | undefined {
  if (error instanceof UsageError) return undefined;
  throw error;
}
