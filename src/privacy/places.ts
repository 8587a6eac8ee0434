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

/** Places that are files of our own folders. */
export type FilePlace = "runs" | "files" | "sandboxes";

/** Every file below our folders is of one place. */
function findFilePlace({ state }: OwnFolders, file: string): FilePlace {
  const isBelow = (folder: string) => file.startsWith(join(folder, sep)) && dirname(file) !== folder;
  if (isBelow(toRunsFolder(state))) return "runs";
  // Databases are asked themselves: a file that is opened beside one ends the locks on it.
  const isDatabase = file.startsWith(join(state, "sandbox", sep)) && /\.db(-\w+)?$/.test(file);
  return isDatabase ? "sandboxes" : "files";
}

/** The files of these places. */
export async function* walkPlaces(folders: OwnFolders, wanted: readonly FilePlace[]): AsyncGenerator<string> {
  const compiled = toCompiledFolder(folders);
  for (const root of new Set([folders.state, folders.cache])) {
    for await (const file of walkFiles(root)) {
      if (!file.startsWith(join(compiled, sep)) && wanted.includes(findFilePlace(folders, file))) yield file;
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
