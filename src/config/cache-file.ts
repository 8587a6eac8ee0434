/** Small files of the cache folder: whole or not there, for their owner's eyes alone. */
import { chmodSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { writeAtomicallySync } from "../disk/atomic-file.ts";
import { makeFolder } from "../disk/make-folder.ts";

/**
 * Replaces a file, in a folder 0700. Synchronous: nothing else is under way.
 * @throws when it cannot be written
 */
export function writeCacheFile(file: string, text: string): void {
  const folder = dirname(file);
  makeFolder(folder);
  if ((statSync(folder).mode & 0o077) !== 0) chmodSync(folder, 0o700);
  writeAtomicallySync(file, text, false);
}
