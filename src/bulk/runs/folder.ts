/** Where the bulk runs of this machine lie open on disk: one folder each, readable by their owner alone. */
import { createHash, randomBytes } from "node:crypto";
import { readdir, readFile, rm, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { writeAtomically } from "../../disk/atomic-file.ts";
import { describeDiskError, diskFullHint, folderHint } from "../../disk/disk-errors.ts";
import { requireWritable } from "../../disk/make-folder.ts";
import { isRegular, readChangeTime, walkFiles } from "../../disk/walk.ts";
import { EcmError, failedError, usageError } from "../../errors.ts";
import { isObject, parseJson } from "../../json.ts";
import type { Summary } from "./report.ts";

/** The files of a run folder, by what is in them. */
export const fileNames = {
  manifest: "run.json",
  journal: "journal",
  /** What is written, known before the first write. */
  plan: "plan.ndjson",
  /** Standard input, as it came, until the plan is closed. */
  input: "input",
  /** Contacts of the account that were read page by page, until the plan is closed. */
  snapshot: "snapshot",
  /** Rows of an input that has to be unpacked, while they are read. */
  unpacked: "unpacked",
  rejects: "rejects.csv",
  /** Until when it waits, as long as it does. */
  wait: "wait.json",
  /** Contacts as they were before a deletion took them. */
  backup: "backup.csv",
  /** The file that --backup names is this run's own. */
  backupMark: "backup-elsewhere",
} as const;

/** The words of the command of each kind. */
export const runCommands = {
  import: ["import"],
  mutate: ["contact", "mutate"],
  unsubscribe: ["contact", "unsubscribe"],
  delete: ["contact", "delete"],
  sync: ["lists", "sync"],
  undo: ["runs", "undo"],
  apply: ["apply"],
};

type RunKind = keyof typeof runCommands;

/** A number of contacts, or a share of them. */
export type Limit = { rows: number } | { percent: number };

/** What a run may do at most; a share is one of the contacts that the command looked at. */
export interface GuardOptions {
  /** Contacts written. */
  maxChanges?: Limit;
  maxDelete?: Limit;
  /** Members that a sync takes out of its list: a share is one of the list. Default: a tenth. */
  maxRemove?: Limit;
  /** With so many rejected rows it stops; a share is one of the rows. Default: 50 with none accepted. */
  maxRejects?: Limit;
}

/** What a run is and how it was asked for. Never holds an API key. */
export interface Manifest {
  version: 1;
  id: string;
  kind: RunKind;
  /** Version of the program that began it. */
  program: string;
  /** RFC 3339, UTC. */
  startedAt: string;
  account: { baseUrl: string; profile?: string; structureId: string };
  /** `name` as it was typed; `file` is absolute; what can be read only once was spooled to the run folder. */
  input: {
    name: string;
    file: string;
    isSpooled: boolean;
    sha256: string;
    bytes: number;
  };
  /** What makes "the same command": a hash over everything that decides a contact's outcome. */
  fingerprint: string;
  /** The options of the command that made it, as `resume` hands them back. */
  options: Record<string, unknown>;
  /** What goes once it is complete. */
  after?: readonly ListDeletion[];
  /** What follows was carried out, or it was said why not: only then is the run finished. */
  isFollowed?: true;
  /** Where the rejects file goes besides the run folder. */
  rejects?: string;
  /** Where its plan, and a page about it, were written. */
  plan?: string;
  report?: string;
  /** A resume may allow more. */
  guards?: GuardOptions;
  /** A person, or --yes, has agreed to its writes: a resume does not ask again. */
  isAgreed?: true;
  /** Where the contacts that a deletion takes are written, and in which format. Absent: in the run folder. */
  backup?: { file: string; format: string };
  /** Written when it ends or stops: what `runs list` shows without reading the journal. */
  summary?: Summary;
  /** Id of the run that `--fresh` put in its place. */
  supersededBy?: string;
}

export interface Run {
  manifest: Manifest;
  folder: string;
}

export function isFinished({ supersededBy, summary, after = [], isFollowed }: Manifest): boolean {
  if (supersededBy !== undefined) return true;
  return summary?.status === "completed" && (after.length === 0 || isFollowed === true);
}

/** What follows on the run is done: it is not resumed for it any more. */
export async function noteFollowed({ manifest, folder }: Run): Promise<void> {
  await writeManifest(folder, { ...manifest, isFollowed: true });
}

export function toRunsFolder(stateFolder: string): string {
  return join(stateFolder, "runs");
}

/** A date, a time and six letters, as `makeRunFolder` names them. A folder of another name is no run. */
export function isRunName(name: string): boolean {
  return /^\d{8}-\d{4}-[0-9a-f]{6}$/.test(name);
}

/** Where the leases of runs are, and of what else only one process may do at a time. */
export function toLocksFolder(stateFolder: string): string {
  return join(stateFolder, "locks");
}

/** A folder that is yet to be a run's. */
export interface RunPlace {
  id: string;
  folder: string;
}

/** A new run's folder, named after its time. @throws UsageError when nothing can be written there */
export async function makeRunFolder(stateFolder: string, nowMilliseconds: number): Promise<RunPlace> {
  const at = new Date(nowMilliseconds).toISOString();
  const stamp = `${at.slice(0, 10).replaceAll("-", "")}-${at.slice(11, 16).replace(":", "")}`;
  const id = `${stamp}-${randomBytes(3).toString("hex")}`;
  return { id, folder: await makeOwnFolder(stateFolder, id) };
}

const planPrefix = ".plan-";

/**
 * A new folder for a plan that belongs to no run, or not yet: an erasure finds it there, and it is swept if
 * it is left behind.
 * @throws UsageError when it cannot be made
 */
export function makePlanFolder(stateFolder: string): Promise<string> {
  return makeOwnFolder(stateFolder, `${planPrefix}${randomBytes(6).toString("hex")}`);
}

/** Whether the file is in a folder that `makePlanFolder` made. */
export function isInPlanFolder(stateFolder: string, file: string): boolean {
  const folder = dirname(resolve(file));
  return dirname(folder) === resolve(toRunsFolder(stateFolder)) && basename(folder).startsWith(planPrefix);
}

/** Found out before any request is spent, by writing. */
async function makeOwnFolder(stateFolder: string, name: string): Promise<string> {
  const runs = toRunsFolder(stateFolder);
  const folder = join(runs, name);
  try {
    await requireWritable(folder);
  } catch (error) {
    await rm(folder, { recursive: true, force: true }).catch(() => undefined);
    const message = `Cannot write to the run folder ${runs}: ${describeDiskError(error)}`;
    throw usageError(message, folderHint(error, runs), { cause: error });
  }
  return folder;
}

/** Writes the manifest whole or not at all, and has it on the disk. @throws EcmError */
export async function writeManifest(folder: string, manifest: Manifest): Promise<void> {
  const target = join(folder, fileNames.manifest);
  try {
    writeAtomically(target, `${JSON.stringify(manifest, null, 2)}\n`);
  } catch (error) {
    throw failedError(`Cannot write ${target}: ${describeDiskError(error)}`, diskFullHint(error, folder), {
      cause: error,
    });
  }
}

/** Undefined for a folder that is not (yet) a run. @throws EcmError for a manifest that cannot be read */
export async function readManifest(folder: string): Promise<Manifest | undefined> {
  const file = join(folder, fileNames.manifest);
  const cannotRead = (why: string) =>
    new EcmError(
      "unreadable run",
      `Cannot read run ${basename(folder)}: ${file} ${why}`,
      "Restore the file from a backup, or delete the run's folder",
    );
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (isAbsent(error)) return undefined;
    throw cannotRead(`cannot be read: ${error.message}`);
  });
  if (text === undefined) return undefined;
  const manifest = parseJson(text);
  if (!isObject(manifest) || typeof manifest.version !== "number") throw cannotRead("is damaged");
  if (manifest.version !== 1) throw cannotRead("was written by another version of ecm");
  if (manifest.id !== basename(folder)) throw cannotRead("is damaged");
  return manifest as unknown as Manifest;
}

export function isAbsent({ code }: NodeJS.ErrnoException): boolean {
  return code === "ENOENT" || code === "ENOTDIR";
}

const maxScratchAgeMilliseconds = 86_400_000;

/** Removes folders that never became a run, such as that of a dry run that was killed. */
export async function sweepAbandoned(stateFolder: string, nowMilliseconds: number): Promise<void> {
  const root = toRunsFolder(stateFolder);
  // What is wrong with the folder is said where the next run's own folder is made.
  for (const name of await readdir(root).catch(() => [] as string[])) {
    if (!isRunName(name) && !name.startsWith(planPrefix)) continue;
    const folder = join(root, name);
    // What cannot be looked at may be a run.
    const isRun = await stat(join(folder, fileNames.manifest)).then(
      () => true,
      (error: NodeJS.ErrnoException) => !isAbsent(error),
    );
    if (isRun || nowMilliseconds - (await readLastChange(folder)) <= maxScratchAgeMilliseconds) continue;
    await rm(folder, { recursive: true, force: true });
  }
}

/** When a folder, or a file of this name, was last written to, in milliseconds since the epoch. */
async function readLastChange(folder: string): Promise<number> {
  let changedAt = await readChangeTime(folder);
  if (await isRegular(folder)) return changedAt;
  for await (const file of walkFiles(folder)) changedAt = Math.max(changedAt, await readChangeTime(file));
  return changedAt;
}

/** A hash that is the same for equal values, whatever the order of their members. */
export function computeFingerprint(value: unknown): string {
  const sortMembers = (_name: string, member: unknown) =>
    isObject(member)
      ? Object.fromEntries(Object.entries(member).sort(([one], [other]) => (one < other ? -1 : 1)))
      : member;
  return createHash("sha256").update(JSON.stringify(value, sortMembers)).digest("hex");
}

/** A list that goes once the run is complete. */
export interface ListDeletion {
  _id: string;
  name: string;
  /** Only where everybody in it is in this list, which the run has created. */
  ifAllIn: string;
}

/** For each the list, two counts of members, and its deletion. */
export function countRequestsAfter(deletions: readonly ListDeletion[] = []): number {
  return 4 * deletions.length;
}

/** The list that the run creates for its contacts. */
export function findNewList({ options }: Pick<Manifest, "options">): string | undefined {
  const { wanted } = options as { wanted?: { newList?: string } };
  return wanted?.newList;
}
