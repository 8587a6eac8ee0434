/**
 * The file that remembers an account's names, in the cache folder: labels and list names. Lost without harm.
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { writeCacheFile } from "./cache-file.ts";
import type { Folders } from "./folders.ts";

/** Of the file: one of another format is not read. */
const format = 2;

/**
 * What is remembered of an account; an empty object where nothing was seen yet or the file cannot be read.
 * @param identity of the account, from `ResolvedProfile`
 */
export function readCachedNames<T extends object>(folders: Folders, identity: string): Partial<T> {
  try {
    const file = JSON.parse(readFileSync(toFilePath(folders, identity), "utf8")) as {
      format?: number;
      names?: T;
    };
    return file.format === format ? (file.names ?? {}) : {};
  } catch {
    return {};
  }
}

/**
 * Brings what is remembered up to date. Never fails: a folder that cannot be written costs requests, no more.
 * @param update from what is remembered to what is remembered now
 */
export function updateCachedNames<T extends object>(
  folders: Folders,
  identity: string,
  update: (cachedNames: Partial<T>) => Partial<T>,
): void {
  const cachedNames = readCachedNames<T>(folders, identity);
  const names = update(cachedNames);
  if (names === cachedNames) return;
  try {
    writeCacheFile(toFilePath(folders, identity), JSON.stringify({ format, names }));
  } catch {
    // A cache: the next command tries again.
  }
}

function toFilePath(folders: Folders, identity: string): string {
  const name = createHash("sha256").update(identity).digest("hex").slice(0, 16);
  return join(folders.cache, "names", `${name}.json`);
}
