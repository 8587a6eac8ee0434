/** Which files a client may name: regular files below one folder. */
import { realpath, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { isAbsolute, parse, relative, resolve, sep } from "node:path";
import type { Context } from "../../context.ts";
import { type EcmError, usageError } from "../../errors.ts";

export interface FileFolder {
  /** Without links. */
  path: string;
  /**
   * The real path of a file: links are followed before its place is checked.
   * @param name relative to the folder, or absolute
   * @throws UsageError for what is not a regular file below the folder
   */
  find(name: string): Promise<string>;
}

/** Files there are made by the system at the moment they are read, and some have no end. */
const systemFolder = /^\/(?:proc|sys|dev(?!\/shm\/))(?:\/|$)/;

/**
 * @throws UsageError for what is no folder, or one that holds too much to be shown to an agent: the whole
 *   disk, a home, the system's own, or what `ecm` keeps
 */
export async function openFileFolder(
  context: Pick<Context, "folders" | "terminal">,
  name: string,
): Promise<FileFolder> {
  const path = await realpath(name).catch(() => undefined);
  if (path === undefined || !(await stat(path)).isDirectory()) {
    throw usageError(`--files: ${JSON.stringify(name)} is no folder`, "Name a folder that exists");
  }
  const homes = await realPaths([homedir(), context.terminal.env.HOME].filter((home) => home !== undefined));
  const own = await realPaths(Object.values(context.folders));
  const holdsTooMuch =
    path === parse(path).root ||
    homes.some((home) => home === path || isBelow(path, home)) ||
    systemFolder.test(path) ||
    own.some((folder) => folder === path || isBelow(folder, path));
  if (holdsTooMuch) {
    throw usageError(
      `${path} holds more than an agent may read`,
      "Name a folder that holds only what it may read: --files DIR; or none: --no-files",
    );
  }
  return { path, find: (file) => findBelow(path, resolve(name), own, file) };
}

/** @param typed the folder as it was named: an absolute name may go through the same link */
async function findBelow(path: string, typed: string, closed: string[], name: string): Promise<string> {
  const place = resolve(path, name);
  // Do not reveal whether a file outside exists.
  if (!isBelow(path, place) && !isBelow(typed, place)) throw outsideError(path, name);
  const file = await realpath(place).catch(() => undefined);
  if (file !== undefined && (!isBelow(path, file) || closed.some((folder) => isBelow(folder, file))))
    throw outsideError(path, name);
  if (file === undefined || !(await stat(file)).isFile()) {
    throw usageError(`There is no file ${JSON.stringify(name)} in ${path}`, `Name a file below ${path}`);
  }
  return file;
}

function realPaths(names: string[]): Promise<string[]> {
  return Promise.all(names.map((name) => realpath(name).catch(() => resolve(name))));
}

function isBelow(folder: string, place: string): boolean {
  const path = relative(folder, place);
  return path !== "" && path !== ".." && !path.startsWith(`..${sep}`) && !isAbsolute(path);
}

function outsideError(path: string, name: string): EcmError {
  return usageError(
    `${JSON.stringify(name)} is outside ${path}, the folder for files`,
    `Copy the file below ${path}, or start the server with --files DIR`,
  );
}
