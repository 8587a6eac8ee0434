/**
 * The limits that an account's last answer told of, kept between
 * commands: one small file each, in the cache folder.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { mergeLimits } from "../rate-limits.ts";
import type { RateLimits } from "../wire.ts";
import { writeCacheFile } from "./cache-file.ts";

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
  writeCacheFile(toFilePath(cache, identity), `${JSON.stringify({ limits, seenAt })}\n`);
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
  const { hour, month, monthReset } = limits;
  const areNumbers = (part: object | undefined) =>
    part === undefined || Object.values(part).every((value) => Number.isSafeInteger(value));
  return Number.isFinite(seenAt) && [hour, month, { monthReset: monthReset ?? 0 }].every(areNumbers);
}
