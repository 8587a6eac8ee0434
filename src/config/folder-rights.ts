/** Whether the folders are there, can be written, and are closed to others. Looks, and changes nothing. */
import { constants, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { describeDiskError, isFull } from "../disk/disk-errors.ts";
import { exists } from "../disk/walk.ts";
import type { Folders } from "./folders.ts";
import { toProfilesPath } from "./profiles.ts";

export interface PlaceState {
  name: "config folder" | "profiles file" | "state folder" | "cache folder";
  path: string;
  /** `missing`: it can be made when needed. `open`: others can read it. `full`: its disk takes no more. */
  state: "private" | "missing" | "open" | "full" | "unusable";
  /** Why, in words, where it is `open` or `unusable`. */
  detail?: string;
}

/** @param platform whose files have no rights of this kind on Windows */
export function inspectFolders(folders: Folders, platform: string): Promise<PlaceState[]> {
  const places: Pick<PlaceState, "name" | "path">[] = [
    { name: "config folder", path: folders.config },
    { name: "profiles file", path: toProfilesPath(folders) },
    { name: "state folder", path: folders.state },
    { name: "cache folder", path: folders.cache },
  ];
  return Promise.all(
    places.map(async (place) => {
      const found = await inspect(place, platform !== "win32");
      return {
        ...place,
        ...found,
        ...(found.state !== "unusable" && isFull(place.path) && { state: "full" }),
      };
    }),
  );
}

async function inspect(
  { name, path }: Pick<PlaceState, "name" | "path">,
  hasModes: boolean,
): Promise<Pick<PlaceState, "state" | "detail">> {
  const unusable = (detail: string) => ({ state: "unusable", detail }) as const;
  const isFolder = name.endsWith("folder");
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => error);
  if (found instanceof Error) {
    if (found.code !== "ENOENT") return unusable(describeDiskError(found));
    const canBeMade = await canCreate(dirname(path));
    return canBeMade ? { state: "missing" } : unusable("it does not exist and cannot be created");
  }
  if (found.isDirectory() !== isFolder) return unusable(isFolder ? "it is not a folder" : "it is not a file");
  const rights = constants.R_OK | constants.W_OK | (isFolder ? constants.X_OK : 0);
  if (!(await exists(path, rights))) return unusable("it is not readable and writable");
  const mode = found.mode & 0o777;
  if (!hasModes || (mode & 0o077) === 0) return { state: "private" };
  return { state: "open", detail: `mode 0${mode.toString(8)}` };
}

/** Whether the nearest folder that exists can be written to. */
async function canCreate(folder: string): Promise<boolean> {
  if (dirname(folder) !== folder && !(await exists(folder))) return canCreate(dirname(folder));
  return exists(folder, constants.W_OK | constants.X_OK);
}
