/**
 * Everywhere something of a person may be: one list, for whoever erases a person and for whoever reads what is
 * known of them. Both do something at each place, which the compiler holds them to.
 */
import { dirname, join, sep } from "node:path";
import { toRunsFolder } from "../bulk/runs/folder.ts";
import { toCompiledFolder } from "../disk/compiled-code.ts";
import { walkFiles } from "../disk/walk.ts";
import type { OwnFolders } from "./files-of-others.ts";

/**
 * In the order in which they are erased: nobody may be created again from the beginning on, and other people's
 * files are named before what names them is erased.
 */
const places = ["suppressions", "account", "elsewhere", "runs", "exports", "files", "sandboxes"] as const;

export type Place = (typeof places)[number];

/** What is done at each place. */
export type Visits<Result = unknown> = Record<Place, () => Promise<Result>>;

/** Visits one place after another. */
export async function visitPlaces<Each extends Visits>(
  visits: Each,
): Promise<{ [Name in Place]: Awaited<ReturnType<Each[Name]>> }> {
  const results: Partial<Record<Place, unknown>> = {};
  for (const place of places) results[place] = await visits[place]();
  return results as { [Name in Place]: Awaited<ReturnType<Each[Name]>> };
}

/** Places that are files of our own folders. */
export type FilePlace = Extract<Place, "runs" | "exports" | "files" | "sandboxes">;

export function toExportsFolder(stateFolder: string): string {
  return join(stateFolder, "exports");
}

/** Every file below our folders is of one place. */
function findFilePlace({ state }: OwnFolders, file: string): FilePlace {
  const isBelow = (folder: string) => file.startsWith(join(folder, sep)) && dirname(file) !== folder;
  if (isBelow(toRunsFolder(state))) return "runs";
  if (isBelow(toExportsFolder(state))) return "exports";
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
