/**
 * Append-only files of lines: each line with a checksum where damage must be noticed; and the reader of
 * lines.
 */
import { closeSync, createReadStream, fdatasync, fsyncSync, openSync, writeFileSync } from "node:fs";
import { promisify } from "node:util";
import { crc32 } from "node:zlib";
import { parseJson } from "../json.ts";
import { withPath } from "./disk-errors.ts";

const datasync = promisify(fdatasync);

/** A file that is only appended to. Its methods throw the system's error, with the path. */
export interface LogFile {
  /**
   * Writes all of it, or throws. Appending costs less than handing it to a thread; only a sync can take long.
   */
  append(data: string | Uint8Array): void;
  datasync(): Promise<unknown>;
  sync(): void;
  close(): void;
}

/** @param flags `a` to continue the file, `w` to begin a new one */
export function openLog(file: string, flags: "a" | "w" = "a"): LogFile {
  const descriptor = openSync(file, flags, 0o600);
  return {
    append: (data) => withPath(file, () => writeFileSync(descriptor, data)),
    datasync: () => datasync(descriptor),
    sync: () => withPath(file, () => fsyncSync(descriptor)),
    close: () => closeSync(descriptor),
  };
}

/** A value as `crc32 {json}`, with its line break. */
export function formatCheckedLine(value: unknown): string {
  const json = JSON.stringify(value);
  return `${computeChecksum(json)} ${json}\n`;
}

/** The value of a line without its line break; undefined when it is not what was written. */
export function readCheckedLine<T>(line: string): T | undefined {
  const json = line.slice(9);
  if (line[8] !== " " || line.slice(0, 8) !== computeChecksum(json)) return undefined;
  return parseJson(json) as T | undefined;
}

function computeChecksum(json: string): string {
  return crc32(json).toString(16).padStart(8, "0");
}

/** Text that comes in pieces, as its lines. */
export class LineSplitter {
  /** What follows the last line break so far. */
  rest = "";

  /** @returns the lines that are whole now, without their line breaks */
  take(piece: string): string[] {
    const lines = (this.rest + piece).split("\n");
    this.rest = lines.pop()!;
    return lines;
  }
}

/**
 * The lines of a file, byte for byte as latin1, so that a character is a byte. What follows the last line
 * break is left out: a process was killed while it wrote it. None of a file that does not exist.
 * @throws the system's error
 */
export async function* readLines(file: string): AsyncGenerator<string> {
  const splitter = new LineSplitter();
  try {
    for await (const piece of createReadStream(file, { encoding: "latin1" }))
      yield* splitter.take(piece as string);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}

/** The text of a line that was read as latin1. */
export function decodeLine(line: string): string {
  return Buffer.from(line, "latin1").toString("utf8");
}
