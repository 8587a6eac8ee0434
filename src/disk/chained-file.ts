/**
 * A file to which lines of JSON are only added, each with the hash of the one before (`prev`): a line that is
 * changed, taken out or put in breaks the chain at the next one. That the newest lines were cut off only
 * shows to whoever kept the newest hash elsewhere.
 */
import { createHash } from "node:crypto";
import { type FileHandle, open, readFile, realpath } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { awaitLease } from "./lease.ts";
import { makeFolder } from "./make-folder.ts";

/** Before the first line. */
const noLine = `sha256:${"0".repeat(64)}`;
const maxLockWaitMilliseconds = 10_000;
const tailBytes = 64 * 1024;

export interface ChainState {
  lines: number;
  /** Hash of the newest line. */
  head: string;
  /** Number of the first line that does not follow from the one before; null: the chain is whole. */
  brokenAt: number | null;
  /** Bytes of a last line that a killed process left unfinished. */
  torn: number;
  /** Lines that say that such a rest was taken away before them. */
  mended: number;
}

/**
 * Adds a line. Several processes may do so at once.
 * @returns its hash
 * @throws LockedError, the system's error
 */
export async function appendChained(named: string, value: object): Promise<string> {
  makeFolder(dirname(named));
  const file = await resolveLinks(named);
  const lease = await awaitLease(join(dirname(file), "locks"), basename(file), file, {
    maxMilliseconds: maxLockWaitMilliseconds,
  });
  try {
    const handle = await open(file, "a+", 0o600);
    try {
      await requireChain(handle, file);
      const { size, last, torn } = await readTail(handle);
      if (torn > 0) await handle.truncate(size - torn);
      const line = JSON.stringify({
        prev: last === undefined ? noLine : hashLine(last),
        ...value,
        ...(torn > 0 && { mended: torn }),
      });
      await appendWhole(handle, `${line}\n`, size - torn);
      return hashLine(line);
    } finally {
      await handle.close();
    }
  } finally {
    await lease.release();
  }
}

/** Whoever names the file otherwise waits for the same lock. */
async function resolveLinks(file: string): Promise<string> {
  return realpath(file).catch(async () => join(await realpath(dirname(file)), basename(file)));
}

/** The line, or nothing: a full disk leaves no part of it. */
async function appendWhole(handle: FileHandle, line: string, size: number): Promise<void> {
  try {
    await handle.appendFile(line);
  } catch (error) {
    await handle.truncate(size).catch(() => undefined);
    throw error;
  }
}

/** Nothing is taken away from, or added to, a file that is something else. */
async function requireChain(handle: FileHandle, file: string): Promise<void> {
  const start = '{"prev":"sha256:';
  const { buffer, bytesRead } = await handle.read({ buffer: Buffer.alloc(start.length), position: 0 });
  if (start.startsWith(buffer.toString("utf8", 0, bytesRead))) return;
  throw new Error(`${basename(file)} is another file, and is left as it is`);
}

/** The hash of the newest whole line; undefined where there is none. */
export async function readChainHead(file: string): Promise<string | undefined> {
  const last = await readLastLine(file);
  return last === undefined ? undefined : hashLine(last);
}

/** The last whole line of a file, which is no longer than 64 KiB; undefined where there is none. */
export async function readLastLine(file: string): Promise<string | undefined> {
  const handle = await open(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  if (!handle) return undefined;
  try {
    return (await readTail(handle)).last;
  } finally {
    await handle.close();
  }
}

/** The whole lines, in order. What is no JSON is undefined. */
export async function readChained(file: string): Promise<unknown[]> {
  return splitWholeLines(await readText(file)).map(parseLine);
}

/** @param head a hash that was kept elsewhere */
export async function verifyChained(
  file: string,
  head?: string,
): Promise<ChainState & { isHeadIn: boolean }> {
  const text = await readText(file);
  const lines = splitWholeLines(text);
  let prev = noLine;
  let brokenAt: number | null = null;
  let mended = 0;
  let isHeadIn = head === undefined;
  for (const [index, line] of lines.entries()) {
    const value = parseLine(line) as { prev?: string; mended?: number } | undefined;
    if (value?.prev !== prev) brokenAt ??= index + 1;
    if (value?.mended !== undefined) mended++;
    prev = hashLine(line);
    isHeadIn ||= prev === head;
  }
  const torn = Buffer.byteLength(text.slice(text.lastIndexOf("\n") + 1));
  return { lines: lines.length, head: prev, brokenAt, torn, mended, isHeadIn };
}

async function readTail(handle: FileHandle) {
  const { size } = await handle.stat();
  const { buffer, bytesRead } = await handle.read({
    buffer: Buffer.alloc(Math.min(size, tailBytes)),
    position: Math.max(0, size - tailBytes),
  });
  return { size, ...splitTail(buffer.subarray(0, bytesRead)) };
}

function splitTail(bytes: Buffer): { last: string | undefined; torn: number } {
  const end = bytes.lastIndexOf(0x0a);
  const torn = bytes.length - end - 1;
  if (end === -1) return { last: undefined, torn };
  const start = end === 0 ? -1 : bytes.lastIndexOf(0x0a, end - 1);
  return { last: bytes.toString("utf8", start + 1, end), torn };
}

function splitWholeLines(text: string): string[] {
  return text.split("\n").slice(0, -1);
}

function parseLine(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function hashLine(line: string): string {
  return `sha256:${createHash("sha256").update(line).digest("hex")}`;
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw error;
  }
}
