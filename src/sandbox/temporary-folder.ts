/**
 * Temporary folders of sandboxes. The folder of a process that was killed is removed when another process
 * starts.
 */
import { rmSync } from "node:fs";
import { mkdtemp, readdir, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { checkLife, identifyThisProcess, type ProcessIdentity } from "../disk/this-process.ts";

const prefix = "ecm-sandbox-";
const ownerFile = "owner.json";

/** Makes a folder for this process; the caller removes it. */
export async function makeTemporaryFolder(): Promise<string> {
  await removeAbandoned();
  const folder = await mkdtemp(join(tmpdir(), prefix));
  await writeFile(join(folder, ownerFile), JSON.stringify(identifyThisProcess()));
  return folder;
}

/**
 * Never throws: what cannot be removed now, such as a file that is open (Windows), goes when another process
 * starts.
 */
export function removeTemporaryFolder(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch {
    // It is removed later.
  }
}

async function removeAbandoned(): Promise<void> {
  const me = identifyThisProcess();
  const names = (await readdir(tmpdir())).filter((name) => name.startsWith(prefix));
  await Promise.all(
    names.map(async (name) => {
      const folder = join(tmpdir(), name);
      const owner = await readOwner(folder);
      if (owner && checkLife(owner, me) === "gone") removeTemporaryFolder(folder);
    }),
  );
}

/** Undefined where the file cannot be read: the folder is another user's, or is being made or removed. */
async function readOwner(folder: string): Promise<ProcessIdentity | undefined> {
  try {
    return JSON.parse(await readFile(join(folder, ownerFile), "utf8"));
  } catch {
    return undefined;
  }
}
