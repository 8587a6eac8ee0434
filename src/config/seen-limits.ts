/** The limits that an account's last answer told of, kept between commands: one small file each, in the cache folder. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { RateLimits } from "../wire.ts";
import { writeCacheFile } from "./cache-file.ts";

export interface SeenLimits {
  limits: RateLimits;
  /** Milliseconds since the epoch. */
  seenAt: number;
}

/** Keeps what was seen. @param identity of the account, from `ResolvedProfile`. @throws when it cannot be written */
export function rememberLimits(cache: string, identity: string, seen: SeenLimits): void {
  writeCacheFile(fileOf(cache, identity), `${JSON.stringify(seen)}\n`);
}

/** What was seen last; undefined when nothing was, or it cannot be read. */
export function recallLimits(cache: string, identity: string): SeenLimits | undefined {
  try {
    const seen = JSON.parse(readFileSync(fileOf(cache, identity), "utf8")) as SeenLimits;
    return isSound(seen) ? seen : undefined;
  } catch {
    return undefined;
  }
}

function fileOf(cache: string, identity: string): string {
  return join(cache, `limits-${identity}.json`);
}

function isSound({ limits, seenAt }: SeenLimits): boolean {
  const { hour, month } = limits;
  const areNumbers = (part: object | undefined) =>
    part === undefined || Object.values(part).every((value) => Number.isSafeInteger(value));
  return Number.isFinite(seenAt) && areNumbers(hour) && areNumbers(month);
}
