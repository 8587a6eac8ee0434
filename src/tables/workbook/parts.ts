/**
 * Reading: the parts of a workbook: the entries of its ZIP archive, their XML as events, and the texts that its cells
 * share. The only file that knows yauzl and sax.
 */
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

export interface XmlHandlers {
  /** The element's name without a prefix, and its attributes as written, prefixes too. */
  open?(name: string, attributes: Record<string, string>): void;
  close?(name: string): void;
  text?(text: string): void;
}

/** Tags within one another; sheets have about ten. */
const maxDepth = 100;
/** Of one text or attribute. A cell holds at most 32,767 characters. */
const maxTextCharacters = 1024 * 1024;

/** Reads a part to its end. @throws UsageError as `parseXml` */
export async function readXml(
  chunks: AsyncIterable<Buffer>,
  file: string,
  handlers: XmlHandlers,
): Promise<void> {
  for await (const _chunk of parseXml(chunks, file, handlers));
}

/**
 * Tells the handlers what is in a part, chunk by chunk.
 * @throws UsageError for what is no XML, and for a document type:
 *   entities that it declares could expand without end
 */
export async function* parseXml(
  chunks: AsyncIterable<Buffer>,
  file: string,
  handlers: XmlHandlers,
): AsyncGenerator<void> {
  const { default: sax } = await import("sax");
  const parser = sax.parser(true, { xmlns: false, trim: false, normalize: false });
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const refuse = (what: string): never => {
    throw usageError(`${file} is a damaged workbook: ${what}`, "Open it in a spreadsheet and save it again");
  };
  let depth = 0;
  parser.onerror = (error) => refuse(error.message.replace(/\s*\n\s*/g, ", "));
  parser.ondoctype = () => refuse("it declares a document type, as no workbook does");
  parser.onopentag = ({ name, attributes }) => {
    depth += 1;
    if (depth > maxDepth) refuse(`more than ${maxDepth} elements within one another`);
    handlers.open?.(toLocalName(name), attributes as Record<string, string>);
  };
  parser.onclosetag = (name) => {
    depth -= 1;
    handlers.close?.(toLocalName(name));
  };
  const onText = (text: string) => {
    if (text.length > maxTextCharacters) refuse("a text is longer than any cell");
    handlers.text?.(text);
  };
  parser.ontext = onText;
  parser.oncdata = onText;
  const decode = (chunk?: Buffer) => {
    try {
      return decoder.decode(chunk, { stream: chunk !== undefined });
    } catch {
      return refuse("its text is not UTF-8");
    }
  };
  for await (const chunk of chunks) {
    parser.write(decode(chunk));
    yield;
  }
  parser.write(decode()).close();
  yield;
}

function toLocalName(name: string): string {
  return name.slice(name.indexOf(":") + 1);
}

/** In characters. */
const maxSharedTextCharacters = 256 * 1024 ** 2;

/** @param path of the part that holds them, if there is one */
export async function readSharedTexts(
  archive: Archive,
  file: InputFile,
  path: string | undefined,
): Promise<string[]> {
  const texts: string[] = [];
  if (path === undefined) return texts;
  let characters = 0;
  const gatherer = new TextGatherer();
  await readXml(archive.read(path), file.name, {
    open(name) {
      if (name === "si") gatherer.start();
      gatherer.open(name);
    },
    text: (text) => gatherer.add(text),
    close(name) {
      gatherer.close(name);
      if (name !== "si") return;
      const text = gatherer.whole();
      characters += text.length + 1;
      if (characters > maxSharedTextCharacters) throw tooLargeError(file.name);
      texts.push(text);
    },
  });
  return texts;
}

/** The text of a cell, which may be in parts of several fonts; how it is pronounced is no part of it. */
export class TextGatherer {
  #text = "";
  #isInText = false;
  #isPronunciation = false;

  start(): void {
    this.#text = "";
  }

  open(name: string): void {
    if (name === "t") this.#isInText = true;
    if (name === "rPh") this.#isPronunciation = true;
  }

  add(text: string): void {
    if (this.#isInText && !this.#isPronunciation) this.#text += text;
  }

  close(name: string): void {
    if (name === "t") this.#isInText = false;
    if (name === "rPh") this.#isPronunciation = false;
  }

  whole(): string {
    return unescapeText(this.#text);
  }
}

/** Characters that XML cannot hold are written as `_x000D_`. */
export function unescapeText(text: string): string {
  return text.replace(/_x([0-9A-Fa-f]{4})_/g, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
}
