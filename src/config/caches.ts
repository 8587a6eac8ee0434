/**
 * What is remembered between commands, in small files for their owner's eyes alone: the names and the limits
 * of an account, and what was learned of a service. A file that cannot be read is as none.
 */
import { createHash } from "node:crypto";
import { chmodSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { writeAtomicallySync } from "../disk/atomic-file.ts";
import { makeFolder } from "../disk/make-folder.ts";
import { isObject } from "../json.ts";
import { mergeLimits } from "../rate-limits.ts";
import type { RateLimits } from "../wire.ts";
import type { Folders } from "./folders.ts";

/** The version of the file of names; a file of another version is not read. */
const namesVersion = 1;

/**
 * The labels and list names that are remembered of an account; an empty object where there are none.
 * @param identity of the account, from `ResolvedProfile`
 */
export function readCachedNames<T extends object>(folders: Folders, identity: string): Partial<T> {
  const file = readJson(toNamesPath(folders, identity)) as { version?: number; names?: T } | undefined;
  return file?.version === namesVersion ? (file.names ?? {}) : {};
}

/**
 * Brings what is remembered up to date. Never fails: a folder that cannot be written costs requests, no more.
 * @param update from what is remembered to what is remembered now
 */
export function updateCachedNames<T extends object>(
  folders: Folders,
  identity: string,
  update: (cachedNames: Partial<T>) => Partial<T>,
): void {
  const cachedNames = readCachedNames<T>(folders, identity);
  const names = update(cachedNames);
  if (names === cachedNames) return;
  try {
    writeText(toNamesPath(folders, identity), JSON.stringify({ version: namesVersion, names }));
  } catch {
    // A cache: the next command tries again.
  }
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
 * @param identity of the account, from `ResolvedProfile`.
 * @throws when it cannot be written
 */
export function writeCachedLimits(
  cache: string,
  identity: string,
  { limits: seen, seenAt }: CachedLimits,
): void {
  const isRefusal = seen.monthReset !== undefined && seen.month === undefined;
  const known = isRefusal ? readCachedLimits(cache, identity)?.limits.month : undefined;
  const limits = known ? mergeLimits({ month: known }, seen) : seen;
  writeText(toLimitsPath(cache, identity), `${JSON.stringify({ limits, seenAt })}\n`);
}

/** What was seen last; undefined when nothing was. */
export function readCachedLimits(cache: string, identity: string): CachedLimits | undefined {
  const cached = readJson(toLimitsPath(cache, identity)) as Partial<CachedLimits> | undefined;
  const { limits, seenAt } = cached ?? {};
  if (!limits || !Number.isFinite(seenAt)) return undefined;
  const { hour, month, monthReset } = limits;
  const areNumbers = (part: object | undefined) =>
    part === undefined || Object.values(part).every((value) => Number.isSafeInteger(value));
  const isSound = [hour, month, { monthReset: monthReset ?? 0 }].every(areNumbers);
  return isSound ? (cached as CachedLimits) : undefined;
}

function toLimitsPath(cache: string, identity: string): string {
  return join(cache, `limits-${identity}.json`);
}

/**
 * What was learned of the service at a base address, for each structure by its id; in the state folder, so that
 * it lasts. The points are as stored: they may be damaged.
 */
export function readCachedBehaviors(stateFolder: string, baseUrl: string): Record<string, unknown> {
  const file = readJson(toBehaviorPath(stateFolder, baseUrl));
  const isSound = isObject(file) && file.version === 1 && file.baseUrl === baseUrl;
  return isSound && isObject(file.structures) ? file.structures : {};
}

/** @throws when it cannot be written */
export function writeCachedBehavior(
  stateFolder: string,
  baseUrl: string,
  structureId: string,
  points: unknown,
): void {
  const structures = { ...readCachedBehaviors(stateFolder, baseUrl), [structureId]: points };
  const file = { version: 1, baseUrl, structures };
  writeText(toBehaviorPath(stateFolder, baseUrl), `${JSON.stringify(file, null, 2)}\n`);
}

function toBehaviorPath(stateFolder: string, baseUrl: string): string {
  return join(stateFolder, "behavior", `${hash(baseUrl)}.json`);
}

/** For the name of a file. */
function hash(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}

function readJson(file: string): unknown {
  try {
    return (JSON.parse(readFileSync(file, "utf8")) as unknown) ?? undefined;
  } catch {
    return undefined;
  }
}

/** Whole or not at all, in a folder 0700. Synchronous: nothing else is under way. */
function writeText(file: string, text: string): void {
  const folder = dirname(file);
  makeFolder(folder);
  if ((statSync(folder).mode & 0o077) !== 0) chmodSync(folder, 0o700);
  writeAtomicallySync(file, text, false);
}
