/**
 * Whether it was said what a completed run came to. A process may be killed after its run
 * is completed and before its summary is printed: then the same command prints it, in place
 * of starting a new run that finds nothing to do.
 */
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { writeAtomically } from "../../disk/atomic-file.ts";
import { fileNames } from "./file-names.ts";

/** Before the manifest says that the run is completed. */
export async function noteUnreported(runFolder: string): Promise<void> {
  await writeAtomically(join(runFolder, fileNames.unreported), "");
}

/** The same command is a new run from now on. */
export async function noteReported(runFolder: string): Promise<void> {
  await rm(join(runFolder, fileNames.unreported), { force: true });
}

/** Of a completed run. */
export function isUnreported(runFolder: string): boolean {
  return existsSync(join(runFolder, fileNames.unreported));
}
