/**
 * Reading: what is packed: the entries of a ZIP archive, and the content of a gzip file. The only file that knows
 * yauzl.
 */

import { createReadStream, createWriteStream } from "node:fs";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import type { Entry, ZipFile } from "yauzl";
import { type EcmError, isKind, usageError } from "../errors.ts";
import { isBomb, tooLargeError } from "./page.ts";
import type { InputFile } from "./source.ts";

/** A workbook has some dozens. */
const maxEntries = 10_000;

export class Archive {
  readonly #file: InputFile;
  readonly #zip: ZipFile;
  /** By their names in lower case. */
  readonly #entries: ReadonlyMap<string, Entry>;

  private constructor(file: InputFile, zip: ZipFile, entries: ReadonlyMap<string, Entry>) {
    this.#file = file;
    this.#zip = zip;
    this.#entries = entries;
  }

  static async open(file: InputFile): Promise<Archive> {
    const { default: yauzl } = await import("yauzl");
    const zip = await new Promise<ZipFile>((resolve, reject) => {
      yauzl.open(file.path, { lazyEntries: true, autoClose: false, decodeStrings: true }, (error, opened) =>
        error ? reject(damagedArchiveError(file, error)) : resolve(opened),
      );
    });
    try {
      return new Archive(file, zip, await readEntries(zip, file));
    } catch (error) {
      zip.close();
      throw error;
    }
  }

  has(name: string): boolean {
    return this.#entries.has(name.toLowerCase());
  }

  /**
   * The entry's bytes.
   * @throws UsageError for one that is missing, damaged, or unpacks to far more than it is
   */
  async *read(name: string): AsyncGenerator<Buffer> {
    const entry = this.#entries.get(name.toLowerCase());
    try {
      if (!entry) throw new Error(`${name} is missing in it`);
      let unpacked = 0;
      for await (const chunk of await openEntry(this.#zip, entry)) {
        unpacked += chunk.length;
        if (isBomb(entry.compressedSize, unpacked)) throw tooLargeError(this.#file.name);
        yield chunk;
      }
    } catch (error) {
      throw isKind(error, "usage") ? error : damagedArchiveError(this.#file, error as Error);
    }
  }

  close(): void {
    this.#zip.close();
  }
}

function readEntries(zip: ZipFile, file: InputFile): Promise<Map<string, Entry>> {
  const entries = new Map<string, Entry>();
  return new Promise((resolve, reject) => {
    zip.on("error", (error: Error) => reject(damagedArchiveError(file, error)));
    zip.on("end", () => resolve(entries));
    zip.on("entry", (entry: Entry) => {
      if (entries.size >= maxEntries) {
        reject(tooLargeError(file.name));
        return;
      }
      entries.set(entry.fileName.toLowerCase(), entry);
      zip.readEntry();
    });
    zip.readEntry();
  });
}

function openEntry(zip: ZipFile, entry: Entry): Promise<AsyncIterable<Buffer>> {
  return new Promise((resolve, reject) => {
    zip.openReadStream(entry, (error, stream) => (error ? reject(error) : resolve(stream)));
  });
}

function damagedArchiveError({ name }: InputFile, cause: Error): EcmError {
  return usageError(
    `${name} is a damaged archive or workbook: ${cause.message}`,
    "Open it in a spreadsheet and save it again, or download it again",
    { cause },
  );
}

/**
 * Unpacks in flat memory.
 * @throws UsageError for a damaged file, and for one that unpacks to far more than it is
 */
export async function unpackGzip(
  { path, name }: InputFile,
  packedBytes: number,
  target: string,
): Promise<void> {
  let unpacked = 0;
  const limit = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      unpacked += chunk.length;
      if (isBomb(packedBytes, unpacked)) done(tooLargeError(name));
      else done(null, chunk);
    },
  });
  const gunzip = createGunzip();
  try {
    await pipeline(createReadStream(path), gunzip, limit, createWriteStream(target, { mode: 0o600 }));
    if (gunzip.bytesWritten < packedBytes) await requirePadding(path, gunzip.bytesWritten);
  } catch (error) {
    if (isKind(error, "usage")) throw error;
    throw usageError(
      `${name} cannot be unpacked: ${(error as Error).message}`,
      "It is damaged or incomplete; download it again",
    );
  }
}

/** Zero bytes may fill a file up; what is behind them would be passed over in silence. */
async function requirePadding(path: string, start: number): Promise<void> {
  for await (const chunk of createReadStream(path, { start }) as AsyncIterable<Buffer>) {
    if (chunk.some((byte) => byte !== 0)) throw new Error("there is data behind its end");
  }
}
