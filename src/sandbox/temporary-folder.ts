/**
 * Temporary folders of sandboxes. The folder of a process that was killed is removed when another process
 * starts.
 */
import { rmSync } from "node:fs";
import { mkdtemp, readdir, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { checkLife, identifyThisProcess, onProcessEnd, type ProcessIdentity } from "../disk/this-process.ts";

const prefix = "ecm-sandbox-";
const ownerFile = "owner.json";

export interface TemporaryFolder {
  path: string;
  /**
   * Never throws: what cannot be removed now, such as a file that is open (Windows), goes when another process
   * starts.
   */
  remove(): void;
}

/**
 * Makes a folder for this process, which goes with it at the latest.
 * @param beforeEnd when the process ends: closes what is open in the folder
 */
export async function makeTemporaryFolder(beforeEnd = () => {}): Promise<TemporaryFolder> {
  await removeAbandoned();
  const path = await mkdtemp(join(tmpdir(), prefix));
  await writeFile(join(path, ownerFile), JSON.stringify(identifyThisProcess()));
  const forget = onProcessEnd(() => {
    beforeEnd();
    removeFolder(path);
  });
  const remove = () => {
    forget();
    removeFolder(path);
  };
  return { path, remove };
}

function removeFolder(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
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
      if (owner && checkLife(owner, me) === "gone") removeFolder(folder);
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
