/**
 * Where this program has written people's data outside its own
 * folders, so that an erasure can name these files.
 */
import { appendFileSync, readFileSync } from "node:fs";
import { join, resolve, sep } from "node:path";
import { makeFolder } from "./make-folder.ts";

/**
 * Noted before it is written, unless it is in the state folder. Where nothing can be noted, the file is
 * written all the same.
 */
export function noteWrittenFile(stateFolder: string, file: string): void {
  try {
    const path = resolve(file);
    if (path.startsWith(join(resolve(stateFolder), sep))) return;
    if (listWrittenFiles(stateFolder).includes(path)) return;
    makeFolder(stateFolder);
    appendFileSync(toNotePath(stateFolder), `${JSON.stringify(path)}\n`, { mode: 0o600 });
  } catch {
    // A folder that cannot be written, as on a disk for reading only.
  }
}

/** Absolute paths, also of files that are gone. */
export function listWrittenFiles(stateFolder: string): string[] {
  let text: string;
  try {
    text = readFileSync(toNotePath(stateFolder), "utf8");
  } catch {
    return [];
  }
  return text.split("\n").flatMap((line) => {
    try {
      const path: unknown = JSON.parse(line);
      return typeof path === "string" ? [path] : [];
    } catch {
      // Torn by a power cut, or the end.
      return [];
    }
  });
}

function toNotePath(stateFolder: string): string {
  return join(stateFolder, "written-files");
}
