/** The bulk runs of this machine: all of them, and one by its id. */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { NotFoundError, UsageError } from "../../errors.ts";
import { advise, ecm } from "../../hint.ts";
import { isRunName, type Manifest, ManifestError, readManifest, toRunsFolder } from "./folder.ts";
import { readRunNumber } from "./sequence.ts";

export interface StoredRun {
  manifest: Manifest;
  folder: string;
  /** Its place in the order in which runs began; undefined for a run of a version that gave none. */
  number: number | undefined;
}

/**
 * All runs, the one that began last first.
 * @param onUnreadable told of each that is passed over since it cannot be read
 */
export async function listRuns(
  stateFolder: string,
  onUnreadable: (error: ManifestError) => void = () => undefined,
): Promise<StoredRun[]> {
  const root = toRunsFolder(stateFolder);
  const names = await readdir(root).catch(() => [] as string[]);
  const runs: StoredRun[] = [];
  for (const name of names.sort().reverse()) {
    const folder = join(root, name);
    try {
      const manifest = await readManifest(folder);
      if (manifest) runs.push({ manifest, folder, number: await readRunNumber(folder) });
    } catch (error) {
      if (!(error instanceof ManifestError)) throw error;
      error.number = await readRunNumber(folder);
      onUnreadable(error);
    }
  }
  return runs.sort(newestFirst);
}

/** By their numbers. Runs that have none are older than those that have one, and go by the clock of then. */
function newestFirst(one: StoredRun, other: StoredRun): number {
  if (one.number !== other.number) return (other.number ?? 0) - (one.number ?? 0);
  return one.manifest.startedAt < other.manifest.startedAt ? 1 : -1;
}

/**
 * A run by its id, an unmistakable beginning of it, or `last`.
 * @param onPassedOver told of each folder that `last` leaves out since it cannot be read
 * @throws NotFoundError, UsageError; ManifestError where the last run may be one that cannot be read
 */
export async function findRun(
  stateFolder: string,
  idOrLast: string,
  onPassedOver: (error: ManifestError) => void = () => undefined,
): Promise<StoredRun> {
  const unreadable: ManifestError[] = [];
  const runs = await listRuns(stateFolder, (error) => unreadable.push(error));
  if (idOrLast === "last") {
    const [newest] = runs;
    // An older run is not the last one because the last one cannot be read.
    const newer = unreadable.find((each) => isRunName(each.id) && mayBeNewer(each, newest));
    if (newer) throw newer;
    for (const each of unreadable) onPassedOver(each);
    if (newest) return newest;
    throw new NotFoundError("There is no run yet", advise`Start one with: ${ecm`import FILE`}`);
  }
  const matches = runs.filter(({ manifest }) => manifest.id === idOrLast);
  // An empty word is a variable that a script has not set, and the beginning of every id.
  const isBeginning = (id: string) => idOrLast !== "" && id.startsWith(idOrLast);
  if (matches.length === 0) matches.push(...runs.filter(({ manifest }) => isBeginning(manifest.id)));
  if (matches.length > 1) {
    const ids = matches.map(({ manifest }) => manifest.id).join(", ");
    throw new UsageError(`${JSON.stringify(idOrLast)} matches several runs: ${ids}`, "Give the whole id");
  }
  const damaged = unreadable.find(({ id }) => isBeginning(id));
  if (!matches[0] && damaged) throw damaged;
  if (!matches[0])
    throw new NotFoundError(`There is no run ${JSON.stringify(idOrLast)}`, advise`See: ${ecm`runs list`}`);
  return matches[0];
}

function mayBeNewer({ id, number }: ManifestError, newest: StoredRun | undefined): boolean {
  if (!newest) return true;
  if (number !== undefined) return number > (newest.number ?? 0);
  return toMinute(id) >= toMinute(newest.manifest.id);
}

/** To the minute, by the clock of then: the order of runs that have no number. */
function toMinute(runName: string): string {
  return runName.slice(0, 13);
}
