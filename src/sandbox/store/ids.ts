/** Identifiers: 24 lowercase hexadecimal characters, each greater than every one before it in the folder. */
import { createHash, randomBytes } from "node:crypto";
import type { Database } from "../database.ts";

const maxOfSecond = 0xff_ff_ff_ff_ff_ff_ff_ffn;

/** The next `count` ids. They begin with the second of their making, unless there is a seed. */
export function nextIds(
  lastId: string,
  { isSeeded, now, count }: { isSeeded: boolean; now: number; count: number },
): string[] {
  const last = BigInt(`0x${lastId}`);
  const second = BigInt(Math.max(0, Math.floor(now / 1000))) << 64n;
  return idsAfter(isSeeded || last >= second ? lastId : toId(second | (last & maxOfSecond)), count);
}

/** The ids that follow an id. */
export function idsAfter(id: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => toId(BigInt(`0x${id}`) + BigInt(index + 1)));
}

function toId(number: bigint): string {
  return number.toString(16).padStart(24, "0");
}

/**
 * Remembers an id that came from elsewhere, so that later ones are greater. Ids of another form are ignored.
 */
export function noteId(database: Database, id: string): void {
  if (!/^[0-9a-f]{24}$/.test(id)) return;
  database.run("UPDATE account SET last_id = ? WHERE last_id < ?", id, id);
}

/** Where a new folder begins: without a seed, no two folders give the same ids. */
export function firstId(seed?: number | null): string {
  if (seed == null) return `00000000${randomBytes(5).toString("hex")}000000`;
  return `${seededSecond}${createHash("sha256").update(String(seed)).digest("hex").slice(0, 10)}000000`;
}

/** Where ids begin again after a reset: behind those of the structure and its fields, which stay. */
export function firstIdAfterReset(seed: number): string {
  return `${firstId(seed).slice(0, -2)}20`;
}

// The second 2024-01-01, so that ids that follow the time are greater once the seed is dropped.
const seededSecond = "65920080";
