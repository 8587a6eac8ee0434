/**
 * What is remembered between commands, in small files for their owner's eyes alone: the names and the limits
 * of an account, and what was learned of a service. A file that cannot be read, or is of another version, is
 * as none.
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

/**
 * The names that are remembered of an account.
 * @param identity of the account, from `ResolvedProfile`
 */
export function readCachedNames(folders: Folders, identity: string): object {
  return readCache(toNamesPath(folders, identity)) ?? {};
}

export function writeCachedNames(folders: Folders, identity: string, names: object): void {
  writeCache(toNamesPath(folders, identity), names);
}

function toNamesPath(folders: Folders, identity: string): string {
  return join(folders.cache, "names", `${hash(identity)}.json`);
}

export interface CachedLimits {
  limits: RateLimits;
  /** Milliseconds since the epoch. */
  seenAt: number;
}

/**
 * Keeps what was seen. The refusal for the month does not repeat how large its quota is: that stays known.
 * @param identity of the account, from `ResolvedProfile`
 */
export function writeCachedLimits(
  cache: string,
  identity: string,
  { limits: seen, seenAt }: CachedLimits,
): void {
  const isRefusal = seen.monthReset !== undefined && seen.month === undefined;
  const known = isRefusal ? readCachedLimits(cache, identity)?.limits.month : undefined;
  const limits = known ? mergeLimits({ month: known }, seen) : seen;
  writeCache(toLimitsPath(cache, identity), { limits, seenAt });
}

/** What was seen last; undefined when nothing was. */
export function readCachedLimits(cache: string, identity: string): CachedLimits | undefined {
  return readCache(toLimitsPath(cache, identity)) as CachedLimits | undefined;
}

function toLimitsPath(cache: string, identity: string): string {
  return join(cache, `limits-${identity}.json`);
}

/**
 * What was learned of the service at a base address, for each structure by its id; in the state folder, so that
 * it lasts. The points are as stored: they may be damaged.
 */
export function readCachedBehaviors(stateFolder: string, baseUrl: string): Record<string, unknown> {
  const structures = readCache(toBehaviorPath(stateFolder, baseUrl))?.structures;
  return isObject(structures) ? structures : {};
}

export function writeCachedBehavior(
  stateFolder: string,
  baseUrl: string,
  structureId: string,
  points: unknown,
): void {
  const structures = { ...readCachedBehaviors(stateFolder, baseUrl), [structureId]: points };
  writeCache(toBehaviorPath(stateFolder, baseUrl), { baseUrl, structures });
}

function toBehaviorPath(stateFolder: string, baseUrl: string): string {
  return join(stateFolder, "behavior", `${hash(baseUrl)}.json`);
}

/** For the name of a file. */
function hash(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}

function readCache(file: string): Record<string, unknown> | undefined {
  try {
    const content = parseJson(readFileSync(file, "utf8"));
    return isObject(content) && content.version === version ? content : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Whole or not at all, in a folder 0700. Synchronous: nothing else is under way. Never fails: a folder that
 * cannot be written costs requests, no more.
 */
function writeCache(file: string, content: object): void {
  const folder = dirname(file);
  try {
    makeFolder(folder);
    if ((statSync(folder).mode & 0o077) !== 0) chmodSync(folder, 0o700);
    writeAtomically(file, `${JSON.stringify({ version, ...content })}\n`, undefined, false);
  } catch {
    // The next command tries again.
  }
}
