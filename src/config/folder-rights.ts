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
  /**
   * `missing`: it can be made when it is needed. `open`: others can read it. `full`: its disk takes nothing
   * more. `unusable`: it cannot be used or made.
   */
  state: "private" | "missing" | "open" | "full" | "unusable";
  /** Why, in words, where it is not `private`. */
  detail?: string;
}

/** @param platform whose files have no rights of this kind on Windows */
export async function inspectFolders(folders: Folders, platform: string): Promise<PlaceState[]> {
  const hasModes = platform !== "win32";
  const places = await Promise.all([
    inspect("config folder", folders.config, true, hasModes),
    inspect("profiles file", toProfilesPath(folders), false, hasModes),
    inspect("state folder", folders.state, true, hasModes),
    inspect("cache folder", folders.cache, true, hasModes),
  ]);
  return places.map((place) =>
    place.state !== "unusable" && isFull(place.path) ? { ...place, state: "full" } : place,
  );
}

async function inspect(
  name: PlaceState["name"],
  path: string,
  isFolder: boolean,
  hasModes: boolean,
): Promise<PlaceState> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => error);
  if (found instanceof Error && found.code === "ENOENT") {
    const canBeMade = await canCreate(dirname(path));
    return canBeMade
      ? { name, path, state: "missing" }
      : toUnusable(name, path, "it does not exist and cannot be created");
  }
  if (found instanceof Error) return toUnusable(name, path, describeDiskError(found));
  if (found.isDirectory() !== isFolder)
    return toUnusable(name, path, isFolder ? "it is not a folder" : "it is not a file");
  const rights = constants.R_OK | constants.W_OK | (isFolder ? constants.X_OK : 0);
  if (!(await exists(path, rights))) return toUnusable(name, path, "it is not readable and writable");
  const mode = found.mode & 0o777;
  if (!hasModes || (mode & 0o077) === 0) return { name, path, state: "private" };
  return { name, path, state: "open", detail: `mode 0${mode.toString(8)}` };
}

function toUnusable(name: PlaceState["name"], path: string, detail: string): PlaceState {
  return { name, path, state: "unusable", detail };
}

/** Whether the nearest folder that exists can be written to. */
async function canCreate(folder: string): Promise<boolean> {
  const found = await stat(folder).catch((error: NodeJS.ErrnoException) => error.code);
  if (found === "ENOENT" && dirname(folder) !== folder) return canCreate(dirname(folder));
  if (typeof found !== "object") return false;
  return found.isDirectory() && exists(folder, constants.W_OK | constants.X_OK);
}
