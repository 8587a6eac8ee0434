/**
 * What processes on this state folder are doing with people's data: bulk runs from their
 * first byte on, and exports. An entry is a file of its own beside a lease; one whose
 * process has ended is removed by the next process that looks.
 */

import { randomBytes } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { isKind } from "../errors.ts";
import { writeAtomically } from "./atomic-file.ts";
import { type Lease, takeLease } from "./lease.ts";
import { makeFolder } from "./make-folder.ts";
import { readEntries, readTextIfThere } from "./walk.ts";

export interface Activity {
  kind: "run" | "export";
  /** In words, such as `the import of people.csv`. */
  what: string;
  /** Base address of the account. */
  account: string;
  /** Files that it reads people from. */
  inputs: string[];
}

/**
 * Tells others what this process does, until the returned function is called. Where nothing can be written,
 * others learn nothing.
 * @param stateFolder shared by all who must know
 */
export async function registerActivity(
  stateFolder: string,
  activity: Activity,
): Promise<() => Promise<void>> {
  const name = `${randomBytes(8).toString("hex")}.json`;
  const file = join(toActivitiesFolder(stateFolder), name);
  let lease: Lease | undefined;
  try {
    lease = await takeLease(toLocksFolder(stateFolder), name, activity.what);
    makeFolder(toActivitiesFolder(stateFolder));
    writeAtomically(file, `${JSON.stringify({ version: 1, ...activity })}\n`);
  } catch {
    // Nothing depends on it: a write that matters reports its own failure.
  }
  return async () => {
    await rm(file, { force: true }).catch(() => undefined);
    await lease?.release();
  };
}

/** What other processes are doing. @throws the system's error where that cannot be read */
export async function listActivities(stateFolder: string): Promise<Activity[]> {
  const activities: Activity[] = [];
  for (const { name } of await readEntries(toActivitiesFolder(stateFolder))) {
    if (!/^[0-9a-f]{16}\.json$/.test(name)) continue;
    const file = join(toActivitiesFolder(stateFolder), name);
    try {
      const lease = await takeLease(toLocksFolder(stateFolder), name, "this entry");
      await rm(file, { force: true });
      await lease.release();
    } catch (error) {
      if (!isKind(error, "locked")) throw error;
      // Its process may have ended meanwhile.
      const text = await readTextIfThere(file);
      if (text !== undefined) activities.push(JSON.parse(text) as Activity);
    }
  }
  return activities;
}

function toActivitiesFolder(stateFolder: string): string {
  return join(stateFolder, "under-way");
}

function toLocksFolder(stateFolder: string): string {
  return join(toActivitiesFolder(stateFolder), "locks");
}
