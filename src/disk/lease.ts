/**
 * One process at a time for one resource, also when containers or machines share the folder. A holder has a
 * file of its own that it touches every few seconds; it is taken over only when that process is certainly
 * gone, or, where this cannot be seen, when it has given no sign of life for long.
 *
 * No process replaces another's file: each writes one under a name of its own, and only then looks for
 * others. Of two that come at once, each sees the other, and the one with the smaller name goes first.
 */
import { createHash, randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { appendFile, open, readdir, readFile, rm, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleepFor } from "node:timers/promises";
import { capitalize } from "../counts.ts";
import { EcmError, isKind, usageError } from "../errors.ts";
import { isTemporaryName, writeAtomically } from "./atomic-file.ts";
import { describeDiskError, folderHint } from "./disk-errors.ts";
import { makeFolder } from "./make-folder.ts";
import { checkLife, identifyThisProcess, type ProcessIdentity } from "./this-process.ts";

export interface Lease {
  /** Whose silent lease was taken over, in words; only where its end could not be seen. */
  readonly tookOver: string | undefined;
  /** @throws LockedError when the lease is not there any more: then another process may be at work */
  requireHeld(): void;
  release(): Promise<void>;
}

/** Times in milliseconds. What tests replace. */
export interface LeaseTimes {
  /** How often a holder gives a sign of life. */
  beat: number;
  /** A silence that is longer than this, by the holder's clock against ours, is looked at more closely. */
  silence: number;
  /** How long it is then watched, so that a wrong clock alone never ends a lease. */
  watch: number;
  now(): number;
  sleep(milliseconds: number): Promise<unknown>;
}

const defaultTimes: LeaseTimes = {
  beat: 5_000,
  silence: 120_000,
  watch: 20_000,
  now: Date.now,
  sleep: (milliseconds) => sleepFor(milliseconds),
};

/**
 * Processes that come at the same moment decide within this many looks, 10 ms apart; a stopped process may
 * take longer.
 */
const maxLooks = 200;

/**
 * Takes the lease on a resource. Tests replace `self` and `times`.
 * @param folder shared by all who must not work at once; made when it is not there
 * @param what names the resource in the error, such as `run 20261121-1402-3fa9c1`
 * @throws LockedError when another process holds it; UsageError when the folder cannot be written
 */
export async function takeLease(
  folder: string,
  resource: string,
  what: string,
  { self = identifyThisProcess(), times = defaultTimes }: { self?: ProcessIdentity; times?: LeaseTimes } = {},
): Promise<Lease> {
  const stem = toStem(resource);
  const name = `${stem}.${randomBytes(8).toString("hex")}`;
  const file = join(folder, name);
  try {
    makeFolder(folder);
    const since = new Date(times.now()).toISOString();
    writeAtomically(file, `${JSON.stringify({ ...self, since })}\n`, undefined, false);
    await updateBeat(file, times);
  } catch (error) {
    throw usageError(`Cannot write the lock ${file}: ${describeDiskError(error)}`, folderHint(error, folder));
  }
  try {
    const tookOver = await new Contest({ folder, stem, name, what, self, times }).acquire();
    await appendFile(file, heldContent);
    await updateBeat(file, times);
    return toLease(file, what, tookOver, times);
  } catch (error) {
    await rm(file, { force: true });
    throw error;
  }
}

/**
 * Takes the lease on a resource as soon as no other process holds it.
 * @throws LockedError when it is still held after so many milliseconds; the signal's reason
 */
export async function awaitLease(
  folder: string,
  resource: string,
  what: string,
  { maxMilliseconds, signal }: { maxMilliseconds: number; signal?: AbortSignal },
): Promise<Lease> {
  const begun = performance.now();
  for (;;) {
    try {
      return await takeLease(folder, resource, what);
    } catch (error) {
      if (!isKind(error, "locked") || performance.now() - begun > maxMilliseconds) throw error;
    }
    await sleepFor(20 + 60 * Math.random(), undefined, { signal }).catch((error) => {
      throw signal?.aborted ? signal.reason : error;
    });
  }
}

/**
 * Whether another process holds the lease on a resource, as far as can be seen at once. Takes nothing, so
 * that a look keeps nobody out.
 */
export async function isLeaseHeld(folder: string, resource: string): Promise<boolean> {
  const stem = toStem(resource);
  const self = identifyThisProcess();
  const names = await readdir(folder).catch(() => [] as string[]);
  for (const name of names) {
    if (!name.startsWith(stem) || isTemporaryName(name)) continue;
    const lease = await readLease(join(folder, name));
    if (!lease?.isHeld) continue;
    const life = checkLife(lease.holder, self);
    if (life === "alive") return true;
    if (life === "unknown" && !isSilent(lease.beatAt, defaultTimes)) return true;
  }
  return false;
}

function toStem(resource: string): string {
  return createHash("sha256").update(resource).digest("hex").slice(0, 16);
}

/** The second line of a lease that was won; without it, its process is still looking for others. */
const heldContent = "held\n";

interface ContestOptions {
  folder: string;
  stem: string;
  name: string;
  what: string;
  self: ProcessIdentity;
  times: LeaseTimes;
}

/** Decides which one of the processes that want the resource gets it. */
class Contest {
  private readonly options: ContestOptions;
  /** Whose silent lease was taken over, in words. */
  private tookOver: string | undefined;

  constructor(options: ContestOptions) {
    this.options = options;
  }

  /**
   * Looks until no other process is there.
   * @returns the holder whose lease was taken over
   * @throws LockedError
   */
  async acquire(): Promise<string | undefined> {
    const { what, times } = this.options;
    for (let looks = 0; looks < maxLooks; looks++) {
      if (!(await this.isContested())) return this.tookOver;
      await times.sleep(10);
    }
    throw new EcmError("locked", capitalize(`${what} is in use by another ecm process`), "Try again");
  }

  private async isContested(): Promise<boolean> {
    const { folder, name } = this.options;
    let isContested = false;
    for (const other of await readdir(folder)) {
      if (other === name || isTemporaryName(other)) continue;
      if (await this.isInTheWay(other)) isContested = true;
    }
    return isContested;
  }

  /** Whether the file has to be waited for; removes one whose process is gone. @throws LockedError */
  private async isInTheWay(other: string): Promise<boolean> {
    const { folder, stem, name, what, self, times } = this.options;
    const path = join(folder, other);
    const lease = await readLease(path);
    if (!lease) return false;
    const life = checkLife(lease.holder, self);
    if (life === "gone") {
      await rm(path, { force: true });
      return false;
    }
    if (!other.startsWith(stem)) return false;
    if (life === "unknown" && (await hasGoneSilent(path, times))) {
      this.tookOver = `${describeHolder(lease)}, last active at ${toIsoTime(lease.beatAt)}`;
      await rm(path, { force: true });
      return false;
    }
    if (lease.isHeld || other < name) {
      throw life === "unknown" ? silentError(what, lease, times) : lockedError(what, lease, path);
    }
    return true;
  }
}

interface ReadLease {
  holder: ProcessIdentity;
  since: string;
  isHeld: boolean;
  beatAt: number;
}

/**
 * Undefined when it went away in between. One that cannot be read belongs to a process that cannot be seen.
 */
async function readLease(path: string): Promise<ReadLease | undefined> {
  const nobody: ProcessIdentity = { host: "an unknown host", pid: 0, space: "", start: "" };
  try {
    const { mtimeMs: beatAt } = await stat(path);
    const [first = "", mark] = (await readFile(path, "utf8")).split("\n");
    try {
      const { since, ...holder } = JSON.parse(first) as ProcessIdentity & { since: string };
      return { holder, since, isHeld: `${mark}\n` === heldContent, beatAt };
    } catch {
      return { holder: nobody, since: "an unknown time", isHeld: true, beatAt };
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

function isSilent(beatAt: number, { now, silence }: LeaseTimes): boolean {
  return Math.abs(now() - beatAt) > silence;
}

/** By the clocks first, which may differ; then by watching whether the file is still touched. */
async function hasGoneSilent(path: string, times: LeaseTimes): Promise<boolean> {
  const beatAt = await readBeat(path);
  if (beatAt === undefined || !isSilent(beatAt, times)) return false;
  await times.sleep(times.watch);
  return (await readBeat(path)) === beatAt;
}

/** Opened, since a network file system asks its server only then. */
async function readBeat(path: string): Promise<number | undefined> {
  const handle = await open(path, "r").catch(() => undefined);
  if (!handle) return undefined;
  try {
    return (await handle.stat()).mtimeMs;
  } finally {
    await handle.close();
  }
}

/** By the holder's own clock: that of a file server may be another. */
function updateBeat(file: string, { now }: LeaseTimes): Promise<void> {
  const seconds = now() / 1000;
  return utimes(file, seconds, seconds);
}

function toLease(file: string, what: string, tookOver: string | undefined, times: LeaseTimes): Lease {
  const timer = setInterval(() => {
    // A lease that is gone is found by `requireHeld`; a disk that fails is found by the next write.
    updateBeat(file, times).catch(() => undefined);
  }, times.beat);
  timer.unref();
  return {
    tookOver,
    requireHeld() {
      if (existsSync(file)) return;
      throw new EcmError(
        "locked",
        `The lock on ${what} is gone: another process took it over, or its folder was removed`,
        "Nothing was sent after this",
      );
    },
    async release() {
      clearInterval(timer);
      await rm(file, { force: true }).catch(() => undefined);
    },
  };
}

/** The error for a holder that cannot be seen from here. */
function silentError(what: string, lease: ReadLease, { silence }: LeaseTimes): EcmError {
  const minutes = `${Math.round(silence / 1000) / 60} min`;
  return new EcmError(
    "locked",
    inUse(what, lease),
    `Wait for it to end. It was last active at ${toIsoTime(lease.beatAt)}; a lock that is inactive for ${minutes} is taken over`,
  );
}

function lockedError(what: string, lease: ReadLease, path: string): EcmError {
  const mayBeReused = lease.holder.start === "" ? `. If that process is not ecm, delete ${path}` : "";
  return new EcmError(
    "locked",
    inUse(what, lease),
    `Wait for it to end, then run the same command again${mayBeReused}`,
  );
}

function inUse(what: string, lease: ReadLease): string {
  return capitalize(`${what} is in use by ${describeHolder(lease)} since ${lease.since}`);
}

function describeHolder({ holder: { host, pid } }: ReadLease): string {
  return `process ${pid} on ${host}`;
}

function toIsoTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace(/\.\d+Z$/, "Z");
}
