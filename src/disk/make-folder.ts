/** Folders that are made when they are missing, with the reason where they cannot be. */
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, statSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";

/**
 * Makes a folder that only its owner can read, with those above it. Node's own way to do so reports a
 * read-only disk as ENOENT, and never ends in a folder such as /proc.
 * @throws the system's error
 */
export function makeFolder(folder: string): void {
  for (const each of listMissing(folder)) {
    try {
      mkdirSync(each, { mode: 0o700 });
    } catch (error) {
      requireFolder(each, error);
    }
  }
}

/**
 * Makes a folder and writes into it, so that a disk that is full or read-only is noticed before anything
 * depends on it.
 * @throws the system's error
 */
export async function requireWritable(folder: string): Promise<void> {
  makeFolder(folder);
  const file = join(folder, `.write-test.${randomBytes(6).toString("hex")}.tmp`);
  try {
    await writeFile(file, "x".repeat(4096), { mode: 0o600, flag: "wx" });
  } finally {
    await rm(file, { force: true }).catch(() => undefined);
  }
}

/** From the highest folder that is missing to the one that is wanted, which is always among them. */
function listMissing(folder: string): string[] {
  const missing = [resolve(folder)];
  for (;;) {
    const parent = dirname(missing[0]!);
    if (parent === missing[0] || existsSync(parent)) return missing;
    missing.unshift(parent);
  }
}

/** A folder that exists, perhaps since a moment ago, is fine. @throws `error` where there is none */
function requireFolder(folder: string, error: unknown): void {
  const isThere = statSync(folder, { throwIfNoEntry: false })?.isDirectory() ?? false;
  if (!isThere) throw error;
}
