/** Folders that are made when they are missing, with the reason where they cannot be. */
import { existsSync, mkdirSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { AtomicFile } from "./atomic-file.ts";

/**
 * Makes a folder that only its owner can read, with those above it. Node's own way to do so reports a
 * read-only disk as ENOENT, and never ends in a folder such as /proc.
 * @throws the system's error
 */
export function makeFolder(folder: string): void {
  const path = resolve(folder);
  if (isFolder(path)) return;
  if (!existsSync(dirname(path))) makeFolder(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process may have made it a moment ago.
    if (!isFolder(path)) throw error;
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/**
 * Makes a folder and writes into it, so that a disk that is full or read-only is noticed before anything
 * depends on it.
 * @throws the system's error
 */
export function requireWritable(folder: string): void {
  makeFolder(folder);
  const file = new AtomicFile(join(folder, "write-test"));
  try {
    file.append("x".repeat(4096));
    file.flush();
  } finally {
    file.discard();
  }
}
