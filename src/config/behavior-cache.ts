/**
 * What was learned of a service's behavior, kept between commands: a small private file for each base address
 * and structure, in the state folder. A file that cannot be read is as none.
 */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { writeCacheFile } from "./cache-file.ts";

export interface BehaviorRecord {
  baseUrl: string;
  structureId: string;
  /** Whatever was kept; it may be damaged. */
  points: unknown;
}

const folderName = "behavior";

/** The points that are kept of a structure; undefined when none are. */
export function readCachedBehavior(stateFolder: string, baseUrl: string, structureId: string): unknown {
  const record = readRecord(toFilePath(stateFolder, baseUrl, structureId));
  return record?.baseUrl === baseUrl && record.structureId === structureId ? record.points : undefined;
}

/** What is kept of every structure of a base address. */
export function readCachedBehaviors(stateFolder: string, baseUrl: string): BehaviorRecord[] {
  let names: string[];
  try {
    names = readdirSync(join(stateFolder, folderName)).filter((name) => name.endsWith(".json"));
  } catch {
    return [];
  }
  return names
    .map((name) => readRecord(join(stateFolder, folderName, name)))
    .filter((record) => record !== undefined)
    .filter((record) => record.baseUrl === baseUrl);
}

/** Whole or not at all. @throws when it cannot be written */
export function writeCachedBehavior(stateFolder: string, record: BehaviorRecord): void {
  const file = toFilePath(stateFolder, record.baseUrl, record.structureId);
  writeCacheFile(file, `${JSON.stringify(record, null, 2)}\n`);
}

function toFilePath(stateFolder: string, baseUrl: string, structureId: string): string {
  const name = createHash("sha256").update(`${baseUrl}\n${structureId}`).digest("hex").slice(0, 16);
  return join(stateFolder, folderName, `${name}.json`);
}

function readRecord(file: string): BehaviorRecord | undefined {
  try {
    const record = JSON.parse(readFileSync(file, "utf8")) as Partial<BehaviorRecord> | null;
    const isSound = typeof record?.baseUrl === "string" && typeof record.structureId === "string";
    return isSound ? (record as BehaviorRecord) : undefined;
  } catch {
    return undefined;
  }
}
