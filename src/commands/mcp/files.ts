/** Which files a client may name: those below the folder in which the server was started. */
import { realpath, stat } from "node:fs/promises";
import { isAbsolute, relative, resolve, sep } from "node:path";
import { UsageError } from "../../errors.ts";

/**
 * @param name relative to the working folder, or absolute
 * @param workingFolder for tests; else that of this process
 * @returns the file's real path: links are followed before its place is checked
 * @throws UsageError for what is not a regular file below the working folder
 */
export async function fileBelowWorkingFolder(name: string, workingFolder = "."): Promise<string> {
  const folder = await realpath(workingFolder);
  const place = resolve(folder, name);
  // Do not reveal whether a file outside exists.
  if (!isBelow(folder, place) && !isBelow(resolve(workingFolder), place)) throw outside(name);
  const file = await realpath(place).catch(() => undefined);
  if (file !== undefined && !isBelow(folder, file)) throw outside(name);
  if (file === undefined || !(await stat(file)).isFile()) {
    throw new UsageError(`There is no file ${JSON.stringify(name)} in the working folder`);
  }
  return file;
}

function isBelow(folder: string, place: string): boolean {
  const path = relative(folder, place);
  return path !== "" && path !== ".." && !path.startsWith(`..${sep}`) && !isAbsolute(path);
}

function outside(name: string): UsageError {
  return new UsageError(
    `${JSON.stringify(name)} is outside the working folder`,
    "Copy the file into the folder in which ecm mcp was started",
  );
}
