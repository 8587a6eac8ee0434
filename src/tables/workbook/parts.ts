/**
 * Reading: the parts of a workbook: the entries of its ZIP archive, and the elements of their XML. The only
 * file that knows yauzl and sax.
 */
import type { SAXParser } from "sax";
import type { Entry, ZipFile } from "yauzl";
import { type EcmError, isKind, usageError } from "../../errors.ts";
import { type InputFile, isBomb, tooLargeError } from "../source.ts";

export interface XmlElement {
  /** Without a prefix. */
  name: string;
  /** As written, prefixes too. */
  attributes: Record<string, string>;
  children: XmlElement[];
  /** What it holds beside its children. */
  text: string;
}

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
    let zip: ZipFile | undefined;
    try {
      zip = await yauzl.openPromise(file.path, { lazyEntries: true, autoClose: false });
      const archive = new Archive(file, zip);
      for await (const entry of zip.eachEntry()) archive.#entries.set(entry.fileName.toLowerCase(), entry);
      return archive;
    } catch (error) {
      zip?.close();
      throw damagedError(file, (error as Error).message);
    }
  }

  has(path: string): boolean {
    return this.#entries.has(path.toLowerCase());
  }

  /** The elements of these names in an entry's XML. @throws UsageError as `stream` */
  async read(path: string, ...names: string[]): Promise<XmlElement[]> {
    const all: XmlElement[] = [];
    for await (const elements of this.stream(path, ...names)) all.push(...elements);
    return all;
  }

  /**
   * Yields the elements of these names as they are read: a sheet is larger than memory.
   * @throws UsageError for an entry that is missing, damaged, no XML, or that unpacks to far more than it is
   */
  async *stream(path: string, ...names: string[]): AsyncGenerator<XmlElement[]> {
    const decoder = new TextDecoder("utf-8", { fatal: true });
    const reader = new ElementReader(names);
    let unpacked = 0;
    try {
      const entry = this.#entries.get(path.toLowerCase());
      if (!entry) throw new Error(`${path} is missing in it`);
      const parser = await reader.openParser();
      for await (const chunk of await this.#zip.openReadStreamPromise(entry)) {
        unpacked += chunk.length;
        if (isBomb(entry.compressedSize, unpacked)) throw tooLargeError(this.#file.name);
        parser.write(decoder.decode(chunk, { stream: true }));
        yield reader.take();
      }
      parser.write(decoder.decode()).close();
      yield reader.take();
    } catch (error) {
      if (isKind(error, "usage")) throw error;
      throw damagedError(this.#file, (error as Error).message.replace(/\s*\n\s*/g, ", "));
    }
  }

  close(): void {
    this.#zip.close();
  }
}

/** The refusal of a workbook that cannot be read. */
export function damagedError({ name }: InputFile, what: string): EcmError {
  return usageError(
    `${name} is a damaged archive or workbook: ${what}`,
    "Open it in a spreadsheet and save it again, or download it again",
  );
}

class ElementReader {
  readonly #names: ReadonlySet<string>;
  /** The one that is being read, and those in it that are open. */
  readonly #open: XmlElement[] = [];
  #whole: XmlElement[] = [];

  constructor(names: readonly string[]) {
    this.#names = new Set(names);
  }

  async openParser(): Promise<SAXParser> {
    const { default: sax } = await import("sax");
    const parser = sax.parser(true, { xmlns: false, trim: false, normalize: false });
    parser.onerror = (error) => {
      throw error;
    };
    // The entities that it declares could expand without end.
    parser.ondoctype = () => {
      throw new Error("it declares a document type, as no workbook does");
    };
    parser.onopentag = ({ name, attributes }) => {
      const localName = name.slice(name.indexOf(":") + 1);
      const parent = this.#open.at(-1);
      if (!parent && !this.#names.has(localName)) return;
      const element = {
        name: localName,
        attributes: attributes as XmlElement["attributes"],
        children: [],
        text: "",
      };
      parent?.children.push(element);
      this.#open.push(element);
    };
    parser.onclosetag = () => {
      const element = this.#open.pop();
      if (element && this.#open.length === 0) this.#whole.push(element);
    };
    parser.ontext = (text) => {
      const element = this.#open.at(-1);
      if (element) element.text += text;
    };
    parser.oncdata = parser.ontext;
    return parser;
  }

  /** The elements that have become whole since the last call. */
  take(): XmlElement[] {
    const elements = this.#whole;
    this.#whole = [];
    return elements;
  }
}

/** The text of a cell, which may be in parts of several fonts; how it is pronounced is no part of it. */
export function toCellText(element: XmlElement): string {
  return unescapeText(joinTexts(element));
}

function joinTexts({ name, text, children }: XmlElement): string {
  if (name === "rPh") return "";
  return name === "t" ? text : children.map(joinTexts).join("");
}

/** Characters that XML cannot hold are written as `_x000D_`. */
export function unescapeText(text: string): string {
  return text.replace(/_x([0-9A-Fa-f]{4})_/g, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
}
