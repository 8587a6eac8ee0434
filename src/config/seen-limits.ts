/** The limits that an account's last answer told of, kept between commands: one small file each, in the cache folder. */
import { randomBytes } from "node:crypto";
import { chmod, mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { RateLimits } from "../wire.ts";

export interface SeenLimits {
  limits: RateLimits;
  /** Milliseconds since the epoch. */
  seenAt: number;
}

/** Keeps what was seen. @param identity of the account, from `ResolvedProfile`. @throws when it cannot be written */
export async function rememberLimits(cache: string, identity: string, seen: SeenLimits): Promise<void> {
  await mkdir(cache, { recursive: true, mode: 0o700 });
  if (((await stat(cache)).mode & 0o077) !== 0) await chmod(cache, 0o700);
  const file = fileOf(cache, identity);
  const temporary = `${file}.${randomBytes(6).toString("hex")}`;
  try {
    await writeFile(temporary, `${JSON.stringify(seen)}\n`, { mode: 0o600 });
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** What was seen last; undefined when nothing was, or it cannot be read. */
export async function recallLimits(cache: string, identity: string): Promise<SeenLimits | undefined> {
  try {
    const seen = JSON.parse(await readFile(fileOf(cache, identity), "utf8")) as SeenLimits;
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
