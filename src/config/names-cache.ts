/** The names that completions offer: what earlier commands saw of an account. Lost without harm. */
import { createHash, randomBytes } from "node:crypto";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Folders } from "./folders.ts";

export interface KnownNames {
  structures: string[];
  fields: string[];
  tags: string[];
  lists: string[];
}

/** Names known of an account; empty where nothing was seen yet or the file cannot be read. */
export async function readNames(folders: Folders, account: string): Promise<Partial<KnownNames>> {
  try {
    return JSON.parse(await readFile(fileOf(folders, account), "utf8")) as Partial<KnownNames>;
  } catch {
    return {};
  }
}

/**
 * Adds what a command saw to what is known. Never fails: a folder that cannot be written costs completions, no more.
 * @param account the profile's name, or the base address where there is none
 */
export async function rememberNames(
  folders: Folders,
  account: string,
  seen: Partial<KnownNames>,
): Promise<void> {
  const file = fileOf(folders, account);
  const known = await readNames(folders, account);
  const names = { ...known, ...seen };
  if (JSON.stringify(names) === JSON.stringify(known)) return;
  const temporary = `${file}.${randomBytes(4).toString("hex")}`;
  try {
    await mkdir(join(folders.cache, "names"), { recursive: true, mode: 0o700 });
    await writeFile(temporary, JSON.stringify(names), { mode: 0o600 });
    await rename(temporary, file);
  } catch {
    // A cache: the next command tries again.
  }
}

function fileOf(folders: Folders, account: string): string {
  const name = createHash("sha256").update(account).digest("hex").slice(0, 16);
  return join(folders.cache, "names", `${name}.json`);
}
