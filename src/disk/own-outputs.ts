/**
 * Which files this machine's commands have written, so that the next one may replace them: for each path its
 * size and time when it was finished. Names are hashed; nothing here says what a file holds.
 */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, rmSync, type Stats, statSync } from "node:fs";
import { join } from "node:path";
import { writeAtomicallySync } from "./atomic-file.ts";
import { makeFolder } from "./make-folder.ts";

export interface WrittenFiles {
  /** Whether the file is still as a command has left it. */
  isOurs(path: string): boolean;
  /** Never throws: a state folder that cannot be written must not fail a file that was. */
  remember(path: string): void;
}

/** A script that writes a file of a new name each day leaves one note each. */
const maxNotes = 2000;

export function openWrittenFiles(stateFolder: string): WrittenFiles {
  const folder = join(stateFolder, "written");
  const toNotePath = (path: string) =>
    join(folder, createHash("sha256").update(path).digest("hex").slice(0, 32));
  return {
    isOurs(path) {
      try {
        return readFileSync(toNotePath(path), "utf8") === toFileIdentity(statSync(path));
      } catch {
        return false;
      }
    },
    remember(path) {
      try {
        makeFolder(folder);
        writeAtomicallySync(toNotePath(path), toFileIdentity(statSync(path)), false);
        removeOldest(folder);
      } catch {
        // The next command asks for --force, unless it knows the file by its content.
      }
    },
  };
}

function toFileIdentity({ size, mtimeMs }: Stats): string {
  return `${size} ${mtimeMs}`;
}

function removeOldest(folder: string): void {
  const names = readdirSync(folder);
  if (names.length <= maxNotes) return;
  const notes = names.map((name) => ({
    path: join(folder, name),
    time: statSync(join(folder, name)).mtimeMs,
  }));
  notes.sort((one, other) => one.time - other.time);
  for (const { path } of notes.slice(0, names.length - maxNotes)) rmSync(path, { force: true });
}
