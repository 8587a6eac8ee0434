/** Reading: a ZIP archive's entries. The only file that knows yauzl. */
import type { Readable } from "node:stream";
import type { Entry, ZipFile } from "yauzl";
import { UsageError } from "../../../errors.ts";
import type { InputFile } from "../source.ts";
import { isBomb, tooLargeError } from "./table.ts";

export interface Archive {
  has(name: string): boolean;
  /**
   * The entry's bytes.
   * @throws UsageError for one that is missing, damaged, or unpacks to far more than it is
   */
  read(name: string): AsyncGenerator<Buffer>;
  close(): void;
}

/** A workbook has some dozens. */
const maxEntries = 10_000;

export async function openArchive(file: InputFile): Promise<Archive> {
  const { default: yauzl } = await import("yauzl");
  const zip = await new Promise<ZipFile>((resolve, reject) => {
    yauzl.open(file.path, { lazyEntries: true, autoClose: false, decodeStrings: true }, (error, opened) =>
      error ? reject(damagedArchiveError(file, error)) : resolve(opened),
    );
  });
  const entries = await readEntries(zip, file).catch((error: unknown) => {
    zip.close();
    throw error;
  });
  return {
    has: (name) => entries.has(name.toLowerCase()),
    close: () => zip.close(),
    async *read(name) {
      const entry = entries.get(name.toLowerCase());
      if (!entry) throw damagedArchiveError(file, new Error(`${name} is missing in it`));
      const stream = await openEntry(zip, entry).catch((error: Error) => {
        throw damagedArchiveError(file, error);
      });
      let unpacked = 0;
      try {
        for await (const chunk of stream as AsyncIterable<Buffer>) {
          unpacked += chunk.length;
          if (isBomb(entry.compressedSize, unpacked)) throw tooLargeError(file.name);
          yield chunk;
        }
      } catch (error) {
        throw error instanceof UsageError ? error : damagedArchiveError(file, error as Error);
      } finally {
        stream.destroy();
      }
    },
  };
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

function openEntry(zip: ZipFile, entry: Entry): Promise<Readable> {
  return new Promise((resolve, reject) => {
    zip.openReadStream(entry, (error, stream) => (error ? reject(error) : resolve(stream)));
  });
}

function damagedArchiveError({ name }: InputFile, cause: Error): UsageError {
  return new UsageError(
    `${name} is a damaged archive or workbook: ${cause.message}`,
    "Open it in a spreadsheet and save it again, or download it again",
    { cause },
  );
}
