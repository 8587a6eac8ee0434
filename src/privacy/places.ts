/** Where files hold something of a person: our own folders, and what runs have read or written elsewhere. */
import { dirname, join, sep } from "node:path";
import { type Manifest, readManifest, toRunsFolder } from "../bulk/index.ts";
import { toCompiledFolder } from "../disk/compiled-code.ts";
import { isRegular, listFolders, walkFiles } from "../disk/walk.ts";

/** Folders whose files are all this program's own. */
export interface OwnFolders {
  state: string;
  cache: string;
}

/**
 * Every file below our folders that may hold something of a person. Databases are left out: they are asked
 * themselves, since a file that is opened beside one ends the locks on it.
 */
export async function* walkOwnFiles(
  folders: OwnFolders,
  { withRuns }: { withRuns: boolean },
): AsyncGenerator<string> {
  const isBelow = (folder: string, file: string) => file.startsWith(join(folder, sep));
  const runs = toRunsFolder(folders.state);
  const compiled = toCompiledFolder(folders);
  for (const root of new Set([folders.state, folders.cache])) {
    for await (const file of walkFiles(root)) {
      const isOfRun = isBelow(runs, file) && dirname(file) !== runs;
      const isDatabase = isBelow(join(folders.state, "sandbox"), file) && /\.db(-\w+)?$/.test(file);
      if (!isBelow(compiled, file) && !isDatabase && (withRuns || !isOfRun)) yield file;
    }
  }
}

/**
 * Files outside our folders that the runs of an account have read or written, and that are still there. They
 * are not searched.
 */
export async function listFilesElsewhere({ state, cache }: OwnFolders, account: string): Promise<string[]> {
  const files = new Set<string>();
  for (const folder of await listFolders(toRunsFolder(state))) {
    const manifest = await readManifest(folder).catch(() => undefined);
    if (manifest?.account.baseUrl !== account) continue;
    for (const file of await listFilesOfRun(manifest)) files.add(file);
  }
  return [...files].filter((file) => ![state, cache].some((own) => file.startsWith(join(own, sep))));
}

/** The input, rejects, plan, backup and report of a run, as far as they are still there. */
export async function listFilesOfRun(manifest: Manifest): Promise<string[]> {
  const { input, rejects, plan, backup, report, summary } = manifest;
  const source = input.isSpooled ? undefined : input.file;
  const files = new Set([source, rejects, summary?.rejects, plan, backup?.file, report].filter(Boolean));
  const found: string[] = [];
  for (const file of files as Set<string>) if (await isRegular(file)) found.push(file);
  return found;
}
