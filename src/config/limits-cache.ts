/**
 * The limits that an account's last answer told of, kept between
 * commands: one small file each, in the cache folder.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { RateLimits } from "../wire.ts";
import { writeCacheFile } from "./cache-file.ts";

export interface CachedLimits {
  limits: RateLimits;
  /** Milliseconds since the epoch. */
  seenAt: number;
}

/**
 * Keeps what was seen.
 * @param identity of the account, from `ResolvedProfile`.
 * @throws when it cannot be written
 */
export function writeCachedLimits(cache: string, identity: string, cached: CachedLimits): void {
  writeCacheFile(toFilePath(cache, identity), `${JSON.stringify(cached)}\n`);
}

/** What was seen last; undefined when nothing was, or it cannot be read. */
export function readCachedLimits(cache: string, identity: string): CachedLimits | undefined {
  try {
    const cached = JSON.parse(readFileSync(toFilePath(cache, identity), "utf8")) as CachedLimits;
    return isSound(cached) ? cached : undefined;
  } catch {
    return undefined;
  }
}

function toFilePath(cache: string, identity: string): string {
  return join(cache, `limits-${identity}.json`);
}

function isSound({ limits, seenAt }: CachedLimits): boolean {
  const { hour, month } = limits;
  const areNumbers = (part: object | undefined) =>
    part === undefined || Object.values(part).every((value) => Number.isSafeInteger(value));
  return Number.isFinite(seenAt) && areNumbers(hour) && areNumbers(month);
}
