/**
 * Files outside our folders that commands have read or written: an erasure names those that hold the person.
 */
import { readdir } from "node:fs/promises";
import { basename, dirname, join, sep } from "node:path";
import { readManifest, toRunsFolder } from "../bulk/runs/folder.ts";
import { isTemporaryName } from "../disk/atomic-file.ts";
import { isPacked, isRegular, listFolders } from "../disk/walk.ts";
import { listWrittenFiles } from "../disk/written-files.ts";
import { holdsKey } from "./erase-file.ts";
import type { Redactor } from "./redaction.ts";

/** Folders whose files are all this program's own. */
export interface OwnFolders {
  state: string;
  cache: string;
}

/** A file outside our folders, which its owner alone may change. */
export interface FileOfOthers {
  file: string;
  /** False for a compressed one: it may hold the key. */
  isSearched: boolean;
}

/**
 * Files outside our folders that commands have read or written, and that hold one of the keys or may hold it.
 */
export async function findFilesOfOthers(
  { state, cache }: OwnFolders,
  redactor: Redactor,
): Promise<FileOfOthers[]> {
  const files = new Set<string>();
  for (const named of [...listWrittenFiles(state), ...(await listFilesOfRuns(state))]) {
    if ([state, cache].some((own) => named.startsWith(join(own, sep)))) continue;
    for (const each of [named, ...(await listTemporaryFiles(named))]) files.add(each);
  }
  const found: FileOfOthers[] = [];
  for (const file of files) {
    if (!(await isRegular(file))) continue;
    if (await isPacked(file)) found.push({ file, isSearched: false });
    else if (await holdsKey(file, redactor).catch(() => false)) found.push({ file, isSearched: true });
  }
  return found;
}

async function listFilesOfRuns(state: string): Promise<string[]> {
  const files: string[] = [];
  for (const folder of await listFolders(toRunsFolder(state))) {
    const manifest = await readManifest(folder).catch(() => undefined);
    if (!manifest) continue;
    const { input, rejects, plan, backup, summary } = manifest;
    const candidates = [
      input.isSpooled ? undefined : input.file,
      rejects,
      summary?.rejects,
      plan,
      backup?.file,
    ];
    files.push(...candidates.flatMap((file) => file || []));
  }
  return files;
}

/** What a killed process left of a file that it was putting in place. */
async function listTemporaryFiles(file: string): Promise<string[]> {
  const folder = dirname(file);
  const names = await readdir(folder).catch(() => [] as string[]);
  return names
    .filter((name) => isTemporaryName(name) && name.startsWith(`.${basename(file).slice(0, 100)}.`))
    .map((name) => join(folder, name));
}
