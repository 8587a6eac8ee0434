/** All that the program keeps. */
import { readFile } from "node:fs/promises";
import { walkFiles } from "../../src/disk/walk.ts";

/** Every file of a home, with its bytes as characters. */
export async function readHome(env: Record<string, string>): Promise<[path: string, bytes: string][]> {
  const files: [string, string][] = [];
  for (const root of [env.ECM_STATE_DIR!, env.ECM_CACHE_DIR!, env.ECM_CONFIG_DIR!]) {
    // What a database keeps only while it is open may go meanwhile.
    for await (const path of walkFiles(root))
      files.push([path, await readFile(path, "latin1").catch(() => "")]);
  }
  return files;
}
