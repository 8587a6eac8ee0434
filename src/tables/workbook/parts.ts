/**
 * Reading: the parts of a workbook: the entries of its ZIP archive, their XML as events, and the texts that its cells
 * share. The only file that knows yauzl and sax.
 */
import type { SAXParser } from "sax";
import type { Entry, ZipFile } from "yauzl";
import { type EcmError, isKind, usageError } from "../../errors.ts";
import { type InputFile, isBomb, tooLargeError } from "../source.ts";

/** The entries of a ZIP archive, by their names without regard to case. */
export class Archive {
  readonly #file: InputFile;
  readonly #zip: ZipFile;
  readonly #entries = new Map<string, Entry>();

  private constructor(file: InputFile, zip: ZipFile) {
    this.#file = file;
    this.#zip = zip;
  }

  /** @throws UsageError for a file that is no archive, or damaged */
  static async open(file: InputFile): Promise<Archive> {
    const { default: yauzl } = await import("yauzl");
    return new Promise((resolve, reject) => {
      const fail = (error: Error) => reject(damagedError(file, error.message));
      yauzl.open(file.path, { lazyEntries: true, autoClose: false, decodeStrings: true }, (error, zip) => {
        if (error) return fail(error);
        const archive = new Archive(file, zip);
        zip.on("entry", (entry: Entry) => {
          archive.#entries.set(entry.fileName.toLowerCase(), entry);
          zip.readEntry();
        });
        zip.on("end", () => resolve(archive));
        zip.on("error", (error: Error) => {
          zip.close();
          fail(error);
        });
        zip.readEntry();
      });
    });
  }

  has(name: string): boolean {
    return this.#entries.has(name.toLowerCase());
  }

  /**
   * Reads an entry's XML: tells the handlers what is in it, chunk by chunk.
   * @throws UsageError for one that is missing, damaged, no XML, or that unpacks to far more than it is
   */
  async *parse(name: string, handlers: XmlHandlers): AsyncGenerator<void> {
    const entry = this.#entries.get(name.toLowerCase());
    const parser = await openXml(handlers);
    const decoder = new TextDecoder("utf-8", { fatal: true });
    try {
      if (!entry) throw new Error(`${name} is missing in it`);
      let unpacked = 0;
      for await (const chunk of await openEntry(this.#zip, entry)) {
        unpacked += chunk.length;
        if (isBomb(entry.compressedSize, unpacked)) throw tooLargeError(this.#file.name);
        parser.write(decoder.decode(chunk, { stream: true }));
        yield;
      }
      parser.write(decoder.decode()).close();
      yield;
    } catch (error) {
      if (isKind(error, "usage")) throw error;
      throw damagedError(this.#file, (error as Error).message.replace(/\s*\n\s*/g, ", "));
    }
  }

  /** Reads an entry's XML to its end. @throws UsageError as `parse` */
  async read(name: string, handlers: XmlHandlers): Promise<void> {
    for await (const _chunk of this.parse(name, handlers));
  }

  close(): void {
    this.#zip.close();
  }
}

function openEntry(zip: ZipFile, entry: Entry): Promise<AsyncIterable<Buffer>> {
  return new Promise((resolve, reject) => {
    zip.openReadStream(entry, (error, stream) => (error ? reject(error) : resolve(stream)));
  });
}

/** The refusal of a workbook that cannot be read. */
export function damagedError({ name }: InputFile, what: string): EcmError {
  return usageError(
    `${name} is a damaged archive or workbook: ${what}`,
    "Open it in a spreadsheet and save it again, or download it again",
  );
}

export interface XmlHandlers {
  /** The element's name without a prefix, and its attributes as written, prefixes too. */
  open?(name: string, attributes: Record<string, string>): void;
  close?(name: string): void;
  text?(text: string): void;
}

async function openXml(handlers: XmlHandlers): Promise<SAXParser> {
  const { default: sax } = await import("sax");
  const parser = sax.parser(true, { xmlns: false, trim: false, normalize: false });
  parser.onerror = (error) => {
    throw error;
  };
  // The entities that it declares could expand without end.
  parser.ondoctype = () => {
    throw new Error("it declares a document type, as no workbook does");
  };
  parser.onopentag = ({ name, attributes }) =>
    handlers.open?.(toLocalName(name), attributes as Record<string, string>);
  parser.onclosetag = (name) => handlers.close?.(toLocalName(name));
  parser.ontext = (text) => handlers.text?.(text);
  parser.oncdata = parser.ontext;
  return parser;
}

function toLocalName(name: string): string {
  return name.slice(name.indexOf(":") + 1);
}

/** @param path of the part that holds them, if there is one */
export async function readSharedTexts(archive: Archive, path: string | undefined): Promise<string[]> {
  const texts: string[] = [];
  if (path === undefined) return texts;
  const gatherer = new TextGatherer();
  await archive.read(path, {
    open(name) {
      if (name === "si") gatherer.start();
      gatherer.open(name);
    },
    text: (text) => gatherer.add(text),
    close(name) {
      gatherer.close(name);
      if (name === "si") texts.push(gatherer.whole());
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
