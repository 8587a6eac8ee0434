/**
 * What is remembered between commands, in small files for their owner's eyes alone: the names and the limits
 * of an account, and what was learned of a service. A file that cannot be read is as none.
 */
import { createHash } from "node:crypto";
import { chmodSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { writeAtomicallySync } from "../disk/atomic-file.ts";
import { makeFolder } from "../disk/make-folder.ts";
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

/** How a service behaves, for one base address and structure; in the state folder, so that it lasts. */
export interface BehaviorRecord {
  baseUrl: string;
  structureId: string;
  /** As stored; it may be damaged. */
  points: unknown;
}

/** The points that are stored for a structure; undefined when none are. */
export function readCachedBehavior(stateFolder: string, baseUrl: string, structureId: string): unknown {
  const record = readRecord(toBehaviorPath(stateFolder, baseUrl, structureId));
  return record?.baseUrl === baseUrl && record.structureId === structureId ? record.points : undefined;
}

/** What is stored for every structure of a base address. */
export function readCachedBehaviors(stateFolder: string, baseUrl: string): BehaviorRecord[] {
  const folder = join(stateFolder, behaviorFolder);
  let names: string[];
  try {
    names = readdirSync(folder).filter((name) => name.endsWith(".json"));
  } catch {
    return [];
  }
  const records = names.map((name) => readRecord(join(folder, name)));
  return records.filter((record) => record !== undefined).filter((record) => record.baseUrl === baseUrl);
}

/** @throws when it cannot be written */
export function writeCachedBehavior(stateFolder: string, record: BehaviorRecord): void {
  const file = toBehaviorPath(stateFolder, record.baseUrl, record.structureId);
  writeText(file, `${JSON.stringify(record, null, 2)}\n`);
}

const behaviorFolder = "behavior";

function toBehaviorPath(stateFolder: string, baseUrl: string, structureId: string): string {
  return join(stateFolder, behaviorFolder, `${hash(`${baseUrl}\n${structureId}`)}.json`);
}

function readRecord(file: string): BehaviorRecord | undefined {
  const record = readJson(file) as Partial<BehaviorRecord> | undefined;
  const isSound = typeof record?.baseUrl === "string" && typeof record.structureId === "string";
  return isSound ? (record as BehaviorRecord) : undefined;
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
