/** Looking through folders for files, at what kind each is, and into files that need not be there. */
import type { Dirent } from "node:fs";
import { access, readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";

export function isRegular(file: string): Promise<boolean> {
  return stat(file).then(
    (entry) => entry.isFile(),
    () => false,
  );
}

/** @param mode of `constants`, such as `W_OK`; default: that it is there */
export function exists(path: string, mode?: number): Promise<boolean> {
  return access(path, mode).then(
    () => true,
    () => false,
  );
}

/** When something was last written to it, in milliseconds since the epoch; long ago for what is not there. */
export function readChangeTime(path: string): Promise<number> {
  return stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );
}

export async function listFolders(root: string): Promise<string[]> {
  return (await readEntries(root)).filter((entry) => entry.isDirectory()).map(({ name }) => join(root, name));
}

/** Every file below a folder; links are not followed. */
export async function* walkFiles(root: string): AsyncGenerator<string> {
  for (const entry of await readEntries(root)) {
    const path = join(root, entry.name);
    if (entry.isDirectory()) yield* walkFiles(path);
    else if (entry.isFile()) yield path;
  }
}

export async function readEntries(folder: string): Promise<Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

/** The text of a file; undefined where there is no such file. @throws the system's error */
export async function readTextIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
