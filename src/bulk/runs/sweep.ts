/** Taking away what never became a run. */
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { readChangeTime } from "../../disk/walk.ts";
import { fileNames } from "./file-names.ts";
import { hasRun, isRunName, toRunsFolder } from "./folder.ts";

/** Files and folders in which something of ours grows that is no run, or not yet. */
const scratchName = /^\.(?:plan|unpacked|dry-run|write-test)[.-]/;

/**
 * Removes folders that never became a run, such as one whose input
 * was still being read when the machine stopped.
 */
export async function sweepAbandoned(stateFolder: string, nowMilliseconds: number): Promise<void> {
  const root = toRunsFolder(stateFolder);
  for (const name of await readdir(root).catch(() => [] as string[])) {
    if (!isRunName(name) && !scratchName.test(name)) continue;
    const folder = join(root, name);
    const times = await Promise.all([readChangeTime(folder), readChangeTime(join(folder, fileNames.input))]);
    const isOld = nowMilliseconds - Math.max(...times) > 86_400_000;
    if (isOld && !(await hasRun(folder))) await rm(folder, { recursive: true, force: true });
  }
}
