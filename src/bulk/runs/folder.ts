/** Where the bulk runs of this machine lie open on disk: one folder each, readable by their owner alone. */
import { randomBytes } from "node:crypto";
import { mkdir, open, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { NotFoundError, UsageError } from "../../errors.ts";
import { fileOf } from "./files.ts";
import type { Summary } from "./report.ts";

/** What a run is and how it was asked for. Never holds an API key. */
export interface Manifest {
  format: 1;
  id: string;
  kind: "import" | "mutate" | "sync" | "undo";
  /** Version of the program that began it. */
  version: string;
  /** RFC 3339, UTC. */
  startedAt: string;
  account: { baseUrl: string; profile?: string; structureId: string };
  /** The input as it was named, and what its bytes were. `file` is absolute; `-` was spooled to the run folder. */
  input: { name: string; file: string; isSpooled: boolean; sha256: string; bytes: number };
  /** What makes "the same command": a hash over everything that decides a contact's outcome. */
  fingerprint: string;
  /** The options of the command that made it, as `resume` hands them back. */
  options: Record<string, unknown>;
  /** Where the rejects file goes besides the run folder. */
  rejects?: string;
  /** Written when it ends or stops: what `runs list` shows without reading the journal. */
  summary?: Summary;
  /** Id of the run that `--fresh` put in its place. */
  supersededBy?: string;
}

export function runsFolder(stateFolder: string): string {
  return join(stateFolder, "runs");
}

/** A new run's folder with a name that sorts by time. @throws UsageError when it cannot be made */
export async function makeRunFolder(
  stateFolder: string,
  nowMilliseconds: number,
): Promise<{ id: string; folder: string }> {
  const at = new Date(nowMilliseconds).toISOString();
  const stamp = `${at.slice(0, 10).replaceAll("-", "")}-${at.slice(11, 16).replace(":", "")}`;
  const id = `${stamp}-${randomBytes(3).toString("hex")}`;
  const folder = join(runsFolder(stateFolder), id);
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new UsageError(
      `cannot make the run folder ${folder}: ${(error as Error).message}`,
      "name a folder that can be written with ECM_STATE_DIR",
    );
  }
  return { id, folder };
}

/** Writes the manifest whole or not at all, and has it on the disk. @throws UsageError */
export async function writeManifest(folder: string, manifest: Manifest): Promise<void> {
  const target = join(folder, fileOf.manifest);
  const temporary = `${target}.${randomBytes(4).toString("hex")}.tmp`;
  try {
    const handle = await open(temporary, "wx", 0o600);
    try {
      await handle.writeFile(`${JSON.stringify(manifest, null, 2)}\n`);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, target);
    await syncFolder(folder);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined);
    throw new UsageError(`cannot write ${target}: ${(error as Error).message}`);
  }
}

/** Undefined for a folder that is not (yet) a run. @throws UsageError for a manifest of another format. */
export async function readManifest(folder: string): Promise<Manifest | undefined> {
  const text = await readFile(join(folder, fileOf.manifest), "utf8").catch(() => undefined);
  if (text === undefined) return undefined;
  let manifest: Partial<Manifest>;
  try {
    manifest = JSON.parse(text) as Partial<Manifest>;
  } catch {
    throw new UsageError(`${join(folder, fileOf.manifest)} is not JSON`, "remove the run's folder");
  }
  if (manifest.format !== 1) {
    throw new UsageError(
      `${folder} was written by another version of ecm`,
      "use that version, or remove the folder",
    );
  }
  return manifest as Manifest;
}

/** All runs, the newest first. Folders that cannot be read are passed over. */
export async function listRuns(stateFolder: string): Promise<{ manifest: Manifest; folder: string }[]> {
  const root = runsFolder(stateFolder);
  const names = await readdir(root).catch(() => [] as string[]);
  const runs: { manifest: Manifest; folder: string }[] = [];
  for (const name of names.sort().reverse()) {
    const folder = join(root, name);
    const manifest = await readManifest(folder).catch(() => undefined);
    if (manifest) runs.push({ manifest, folder });
  }
  return runs.sort((one, other) => (one.manifest.startedAt < other.manifest.startedAt ? 1 : -1));
}

/** A run by its id, an unmistakable beginning of it, or `last`. @throws NotFoundError, UsageError */
export async function findRun(
  stateFolder: string,
  wanted: string,
): Promise<{ manifest: Manifest; folder: string }> {
  const runs = await listRuns(stateFolder);
  if (wanted === "last" && runs[0]) return runs[0];
  const matches = runs.filter(({ manifest }) => manifest.id === wanted);
  if (matches.length === 0) matches.push(...runs.filter(({ manifest }) => manifest.id.startsWith(wanted)));
  if (matches.length > 1) {
    const ids = matches.map(({ manifest }) => manifest.id).join(", ");
    throw new UsageError(`${JSON.stringify(wanted)} is the beginning of several runs: ${ids}`);
  }
  if (!matches[0]) throw new NotFoundError(`there is no run ${JSON.stringify(wanted)}`, "see: ecm runs list");
  return matches[0];
}

/** Removes folders that never became a run, such as one whose input was still being read when the machine stopped. */
export async function sweepAbandoned(stateFolder: string, nowMilliseconds: number): Promise<void> {
  const root = runsFolder(stateFolder);
  for (const name of await readdir(root).catch(() => [] as string[])) {
    const folder = join(root, name);
    const info = await stat(folder).catch(() => undefined);
    const isOld = info && nowMilliseconds - info.mtimeMs > 86_400_000;
    const isRun = await stat(join(folder, fileOf.manifest)).catch(() => undefined);
    if (isOld && !isRun) await rm(folder, { recursive: true, force: true });
  }
}

/** A new name survives a power cut only when its folder was synced; not every platform can. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r").catch(() => undefined);
  await handle?.sync().catch(() => undefined);
  await handle?.close();
}
