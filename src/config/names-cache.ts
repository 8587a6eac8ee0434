/** The names that completions offer: what earlier commands saw of an account. Lost without harm. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { writeCacheFile } from "./cache-file.ts";
import type { Folders } from "./folders.ts";

export interface KnownNames {
  structures: string[];
  fields: string[];
  tags: string[];
  lists: string[];
}

/**
 * Names known of an account; empty where nothing was seen yet or the file cannot be read.
 * @param identity of the account, from `ResolvedProfile`
 */
export function readNames(folders: Folders, identity: string): Partial<KnownNames> {
  try {
    return JSON.parse(readFileSync(fileOf(folders, identity), "utf8")) as Partial<KnownNames>;
  } catch {
    return {};
  }
}

/**
 * Brings what is known up to date. Never fails: a folder that cannot be written costs completions, no more.
 * @param update from what was known to what is known now
 */
export function rememberNames(
  folders: Folders,
  identity: string,
  update: (known: Partial<KnownNames>) => Partial<KnownNames>,
): void {
  const file = fileOf(folders, identity);
  const known = readNames(folders, identity);
  const names = update(known);
  if (JSON.stringify(names) === JSON.stringify(known)) return;
  try {
    writeCacheFile(file, JSON.stringify(names));
  } catch {
    // A cache: the next command tries again.
  }
}

function fileOf(folders: Folders, identity: string): string {
  const name = createHash("sha256").update(identity).digest("hex").slice(0, 16);
  return join(folders.cache, "names", `${name}.json`);
}
