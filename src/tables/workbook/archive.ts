/** Reading: the entries of a ZIP archive. The only file that knows yauzl. */
import type { Entry, ZipFile } from "yauzl";
import { type EcmError, isKind, usageError } from "../../errors.ts";
import { type InputFile, isBomb, tooLargeError } from "../source.ts";

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
