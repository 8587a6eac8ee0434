/**
 * What is remembered between commands, in small files for their owner's eyes alone. A file that cannot be
 * read, or is of another version, is as none.
 */
import { createHash } from "node:crypto";
import { chmodSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { writeAtomically } from "../disk/atomic-file.ts";
import { makeFolder } from "../disk/make-folder.ts";
import { isObject, parseJson } from "../json.ts";
import { mergeLimits } from "../rate-limits.ts";
import type { RateLimits } from "../wire.ts";
import type { Folders } from "./folders.ts";

const version = 1;

class CacheFile<T extends object> {
  private readonly file: string;

  constructor(folder: string, ...names: string[]) {
    this.file = join(folder, ...names);
  }

  /** As it is stored: it may be damaged. */
  read(): T | undefined {
    try {
      const content = parseJson(readFileSync(this.file, "utf8"));
      return isObject(content) && content.version === version ? (content as T) : undefined;
    } catch {
      return undefined;
    }
  }

  /**
   * Whole or not at all, in a folder 0700. Synchronous: nothing else is under way. Never fails: a folder that
   * cannot be written costs requests, no more.
   */
  write(content: T): void {
    const folder = dirname(this.file);
    try {
      makeFolder(folder);
      if ((statSync(folder).mode & 0o077) !== 0) chmodSync(folder, 0o700);
      writeAtomically(this.file, `${JSON.stringify({ version, ...content })}\n`, undefined, false);
    } catch {
      // The next command tries again.
    }
  }
}

/** The names of an account. @param identity of the account, from `ResolvedProfile`; so below */
export function openNamesFile({ cache }: Folders, identity: string): CacheFile<object> {
  return new CacheFile(cache, "names", `${hash(identity)}.json`);
}

export interface CachedLimits {
  limits: RateLimits;
  /** Milliseconds since the epoch. */
  seenAt: number;
}

/** The limits of an account that were seen last. */
export function openLimitsFile({ cache }: Folders, identity: string): CacheFile<CachedLimits> {
  return new CacheFile(cache, `limits-${identity}.json`);
}

/** Keeps what was seen. A refusal for the month does not repeat the quota: the one that is known stays. */
export function writeCachedLimits(
  folders: Folders,
  identity: string,
  { limits, seenAt }: CachedLimits,
): void {
  const file = openLimitsFile(folders, identity);
  const isRefusal = limits.monthReset !== undefined && limits.month === undefined;
  const month = isRefusal ? file.read()?.limits.month : undefined;
  file.write({ limits: month ? mergeLimits({ month }, limits) : limits, seenAt });
}

interface StoredBehaviors {
  baseUrl: string;
  /** What was learned of each structure, by its id. */
  structures: Record<string, unknown>;
}

/** What was learned of the service at a base address; in the state folder, so that it lasts. */
function openBehaviorFile({ state }: Pick<Folders, "state">, baseUrl: string): CacheFile<StoredBehaviors> {
  return new CacheFile(state, "behavior", `${hash(baseUrl)}.json`);
}

export function readCachedBehaviors(
  folders: Pick<Folders, "state">,
  baseUrl: string,
): Record<string, unknown> {
  const structures: unknown = openBehaviorFile(folders, baseUrl).read()?.structures;
  return isObject(structures) ? structures : {};
}

export function writeCachedBehavior(
  folders: Pick<Folders, "state">,
  baseUrl: string,
  structureId: string,
  points: unknown,
): void {
  const structures = { ...readCachedBehaviors(folders, baseUrl), [structureId]: points };
  openBehaviorFile(folders, baseUrl).write({ baseUrl, structures });
}

/** For the name of a file. */
function hash(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}
