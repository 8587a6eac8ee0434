/**
 * Reading: the bytes of an input: the file itself or a copy of what can be read only once, what they weigh,
 * and what they say about its text.
 */

import { createHash } from "node:crypto";
import {
  closeSync,
  constants,
  createReadStream,
  createWriteStream,
  openSync,
  type ReadStream,
} from "node:fs";
import { open, stat } from "node:fs/promises";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { describeDiskError, diskFullHint } from "../disk/disk-errors.ts";
import { type EcmError, failedError, usageError } from "../errors.ts";

/** A file to read, and what messages call it: the name as it was typed, or `standard input`. */
export interface InputFile {
  path: string;
  name: string;
  /** A folder for what is unpacked. It need not exist yet; the caller removes it. */
  scratch: string;
  /** Ends the reading of a large one. */
  signal?: AbortSignal;
}

type NamedFile = Pick<InputFile, "path" | "name">;

/** A chunk's records, and all that is made of them, are in memory at once; larger ones are not faster. */
const chunkBytes = 16 * 1024;

/** The file's bytes from an offset on, in chunks. @throws UsageError when it cannot be read */
export async function* readBytes(file: NamedFile, start = 0): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of createReadStream(file.path, { start, highWaterMark: chunkBytes })) yield chunk;
  } catch (error) {
    throw unreadableError(file.name, error);
  }
}

/** @throws UsageError when the file is missing, a folder, or may not be read */
export async function requireFile({ path, name }: NamedFile): Promise<void> {
  const entry = await stat(path).catch((error: unknown) => {
    throw unreadableError(name, error, "; - reads standard input");
  });
  if (entry.isDirectory()) throw usageError(`${name} is a folder`, "Name the file to read");
}

/** @param orElse than checking the path, where the file is none */
function unreadableError(name: string, cause: unknown, orElse = ""): EcmError {
  const { code } = cause as NodeJS.ErrnoException;
  if (code === "ENOENT" || code === "ENOTDIR") {
    const hint = /^https?:\/\//i.test(name)
      ? "This is the address of a page: download the file first"
      : `Check the path${orElse}`;
    return usageError(`${name}: there is no such file`, hint, { cause });
  }
  if (code === "EACCES" || code === "EPERM") {
    return usageError(`${name} may not be read`, "Check the permissions of the file", { cause });
  }
  if (code === "EISDIR") return usageError(`${name} is a folder`, "Name the file to read", { cause });
  return usageError(`${name} cannot be read: ${describeDiskError(cause)}`, undefined, { cause });
}

/**
 * The stream of a path that is no regular file: a FIFO, a process substitution (`/dev/fd/63`), `/dev/stdin`
 * behind a pipe. Undefined for a regular file, a folder, and a path that does not exist.
 */
export async function openStream(path: string, signal: AbortSignal): Promise<Readable | undefined> {
  const entry = await stat(path).catch(() => undefined);
  const isStream = entry?.isFIFO() || entry?.isCharacterDevice() || entry?.isSocket();
  if (!entry || !isStream) return undefined;
  signal.throwIfAborted();
  const stream = createReadStream(path);
  if (entry.isFIFO()) releaseOnAbort(stream, path, signal);
  return stream;
}

/** Opening a FIFO waits for a writer and keeps the process alive: after an abort this is that writer. */
function releaseOnAbort(stream: ReadStream, fifo: string, signal: AbortSignal): void {
  let timer: NodeJS.Timeout | undefined;
  const writeNothing = () => {
    try {
      closeSync(openSync(fifo, constants.O_WRONLY | constants.O_NONBLOCK));
    } catch {
      // The reader has not come to its opening yet, or the FIFO is gone.
    }
  };
  const release = () => {
    timer = setInterval(writeNothing, 10);
  };
  const stop = () => {
    signal.removeEventListener("abort", release);
    clearInterval(timer);
  };
  signal.addEventListener("abort", release, { once: true });
  stream.once("open", stop).once("close", stop);
}

/**
 * Writes all of a stream to a file that its owner alone can read, and has it on the disk.
 * @throws UsageError; the signal's reason
 */
export async function spool(input: Readable, name: string, file: string, signal: AbortSignal): Promise<void> {
  try {
    await pipeline(input, createWriteStream(file, { mode: 0o600, flags: "wx" }), { signal });
    const handle = await open(file, "r+");
    await handle.sync();
    await handle.close();
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw usageError(
      `Cannot copy ${name} to ${file}: ${describeDiskError(error)}`,
      diskFullHint(error, file),
    );
  }
}

export interface Inspection {
  file: InputFile;
  sha256: string;
  bytes: number;
  /** The first bytes: enough for a header and some rows. */
  start: Buffer;
  /** Every byte belongs to well-formed UTF-8. */
  isUtf8: boolean;
  /** Every byte but the last ones does, and these begin a character that is not whole. */
  endsInCharacter: boolean;
  hasCarriageReturn: boolean;
  /** Offset of the first byte that is zero. */
  firstNul?: number;
  /** What the file system said of it before it was read. */
  stamp: { size: number; mtimeMs: number };
}

/** The first characters, without a byte order mark. */
export function toHead(start: Buffer): string {
  return start.toString("latin1", 0, 512).replace(/^\xef\xbb\xbf/, "");
}

const startBytes = 256 * 1024;

/** @throws UsageError when the file cannot be read, or is empty */
export async function inspectFile(file: InputFile): Promise<Inspection> {
  const stamp = await stat(file.path);
  const hash = createHash("sha256");
  const starts: Buffer[] = [];
  const decoder = new TextDecoder("utf-8", { fatal: true });
  /** @param chunk undefined at the end */
  const decodes = (chunk?: Buffer) => {
    try {
      decoder.decode(chunk, { stream: chunk !== undefined });
      return true;
    } catch {
      return false;
    }
  };
  const found = { bytes: 0, isUtf8: true, hasCarriageReturn: false };
  let firstNul: number | undefined;
  for await (const chunk of readBytes(file)) {
    if (found.bytes < startBytes) starts.push(chunk);
    hash.update(chunk);
    if (firstNul === undefined && chunk.includes(0)) firstNul = found.bytes + chunk.indexOf(0);
    found.hasCarriageReturn ||= chunk.includes(13);
    found.isUtf8 &&= decodes(chunk);
    found.bytes += chunk.length;
  }
  if (found.bytes === 0) throw emptyFileError(file.name);
  const endsInCharacter = found.isUtf8 && !decodes();
  const isUtf8 = found.isUtf8 && !endsInCharacter;
  const start = Buffer.concat(starts);
  return { file, sha256: hash.digest("hex"), start, firstNul, stamp, ...found, isUtf8, endsInCharacter };
}

/** What was found out of a file, and what was taken of it, are of the same bytes. @throws EcmError */
export async function requireUnchanged({ file, stamp, bytes }: Inspection): Promise<void> {
  const now = await stat(file.path).catch(() => undefined);
  const isSame = now?.size === stamp.size && now.mtimeMs === stamp.mtimeMs;
  // Some file systems tell no size.
  if (isSame && (stamp.size === 0 || stamp.size === bytes)) return;
  throw failedError(
    `${file.name} was changed while it was being read`,
    "Run the same command again: a changed file is a new run",
    { type: "InputChangedError" },
  );
}

export function emptyFileError(name: string, skippedLines = 0): EcmError {
  return skippedLines > 0
    ? usageError(`${name} has nothing after ${skippedLines} skipped lines`, "Lower --skip-lines")
    : usageError(`${name} is empty`, "Name a file with a header and rows");
}

/** The refusal of a file that unpacks to far more than it is. */
export function tooLargeError(name: string): EcmError {
  return usageError(
    `${name} unpacks to far more than a list of contacts would`,
    "If this is expected, unpack it yourself and use the unpacked file",
  );
}

const minSuspiciousBytes = 64 * 1024 ** 2;
const maxUnpackRatio = 200;

/**
 * Whether so much can come of so little only by design. Text shrinks to a twentieth; a list of nearly equal
 * lines to a hundredth.
 */
export function isBomb(packedBytes: number, unpackedBytes: number): boolean {
  return unpackedBytes > minSuspiciousBytes && unpackedBytes > packedBytes * maxUnpackRatio;
}

/** The physical line that holds a byte, in a file whose line breaks are single bytes. */
export async function findLineOfByte(file: InputFile, offset: number): Promise<number> {
  const lines = new LineCounter();
  for await (const chunk of readBytes(file)) {
    lines.add(chunk);
    if (lines.end >= offset) break;
  }
  return lines.lineAt(offset);
}

/** Counts the lines of a text that comes in chunks, by offsets that rise. */
export class LineCounter {
  line = 1;
  /** Offset behind the last chunk. */
  end = 0;
  #chunk: Buffer = Buffer.alloc(0);
  #at = 0;
  #isAfterReturn = false;

  add(chunk: Buffer): void {
    this.lineAt(this.end);
    this.#chunk = chunk;
    this.end += chunk.length;
  }

  lineAt(offset: number): number {
    const start = this.end - this.#chunk.length;
    for (; this.#at < Math.min(offset, this.end); this.#at++) {
      const byte = this.#chunk[this.#at - start];
      const isBreak = byte === 13 || (byte === 10 && !this.#isAfterReturn);
      if (isBreak) this.line += 1;
      this.#isAfterReturn = byte === 13;
    }
    return this.line;
  }
}
