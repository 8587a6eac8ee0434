/**
 * Reading: JSON, one object on each line or an array of objects → a table. The only file that uses
 * @streamparser/json.
 */

import type { ParsedTokenInfo as Token, Tokenizer, TokenParser } from "@streamparser/json";
import { joinNames } from "../delimited-lines.ts";
import { type EcmError, isKind, usageError } from "../errors.ts";
import type { Cells } from "./cells.ts";
import { readPage, writePage } from "./page.ts";
import { type InputFile, LineCounter, readBytes } from "./source.ts";
import { type Format, plainDialect, requireNoFlags } from "./table.ts";

export const jsonFormat: Format = {
  /** An object or an array at the beginning; a CSV file can begin with a brace in a name, but not so. */
  opens(start) {
    const head = start.toString("latin1", 0, 512).replace(/^\xef\xbb\xbf/, "");
    return /^\s*(?:\[\s*(?:$|[{["\]])|\{\s*(?:"[^"\n]*"\s*:|\}))/.test(head);
  },
  async open({ file, isUtf8 }, { encoding, delimiter, skipLines }) {
    requireNoFlags(file, "JSON", {
      "--encoding": encoding,
      "--delimiter": delimiter,
      "--skip-lines": skipLines,
    });
    if (!isUtf8) throw usageError(`${file.name} is JSON, but not in UTF-8`, "Save it as UTF-8");
    /** A column for each member that an object has had so far, by its name. */
    const columns = new Map<string, number>();
    const reader = new ElementReader(file.name, await import("@streamparser/json"));
    const page = await writePage(file, "objects", readRows(file, reader, columns));
    return {
      form: { kind: "json", encoding: "utf-8", hasMark: true },
      notes: reader.isArray ? [{ code: "counted_elements" }] : [],
      locate: async () => ({
        line: 1,
        lines: 0,
        names: [...columns.keys()],
        hasGivenNames: true,
        isSure: true,
        dialect: plainDialect,
        records: () => readPage(page),
      }),
    };
  },
};

async function* readRows(
  file: InputFile,
  reader: ElementReader,
  columns: Map<string, number>,
): AsyncGenerator<{ line: number; cells: Cells }> {
  for await (const chunk of readBytes(file)) {
    for (const element of reader.write(chunk)) yield toRow(element, columns);
  }
  for (const element of reader.end()) yield toRow(element, columns);
  if (columns.size === 0) throw usageError(`${file.name} contains no objects`, "Name a file with contacts");
}

/** @throws UsageError for what is no object, and for a member that no cell can hold */
function toRow(
  { value, line, place }: Element,
  columns: Map<string, number>,
): { line: number; cells: Cells } {
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  if (!isObject && typeof value !== "string")
    throw usageError(`${place}: expected an object, such as {"Email":"ada@example.com"}`, formHint);
  const cells: (string | undefined)[] = [];
  for (const [name, member] of Object.entries(isObject ? value : { key: value })) {
    const index = columns.get(name) ?? columns.size;
    columns.set(name, index);
    cells[index] = toCell(member, name, place);
  }
  return { line, cells };
}

/** Several texts in one member become one cell that names them all, as in a CSV file. */
function toCell(value: unknown, name: string, place: string): string {
  if (value === null) return "";
  if (typeof value === "string") return value;
  if (typeof value === "boolean") return String(value);
  if (Array.isArray(value) && value.every((each) => typeof each === "string")) return joinNames(value);
  throw usageError(
    `${place}: ${JSON.stringify(name)} is ${Array.isArray(value) ? "an array" : "an object"}, but a cell has a single value`,
    "Take the contacts out of what is around them, or flatten them, such as with jq; exports of ecm itself import again from csv",
  );
}

/** What a JSON input is. */
const formHint = "Write one array of objects, or one object on each line";
/** Longer than any record that could be sent. */
const maxElementBytes = 1024 * 1024;
/** Of arrays and objects within one another. */
const maxDepth = 32;

interface Element {
  value: unknown;
  /** On which it begins; of the members of an array their number, from 1. */
  line: number;
  /** Where it is, for messages. */
  place: string;
}

type Library = typeof import("@streamparser/json");

/** The tokens of JSON texts. A number is given as its digits: it may be one of a telephone. */
function openTokenizer({ Tokenizer }: Library): Tokenizer {
  class ExactTokenizer extends Tokenizer {
    protected override parseNumber(digits: string): number {
      return digits as unknown as number;
    }
  }
  return new ExactTokenizer({ separator: "" });
}

const byteOrderMark = Buffer.from("\ufeff");

/**
 * The values at the top of a text, or of the array that it is: the first token says which. Flat in memory.
 */
class ElementReader {
  isArray = false;
  readonly #file: string;
  readonly #library: Library;
  readonly #tokenizer: Tokenizer;
  readonly #lines = new LineCounter();
  #parser: TokenParser | undefined;
  #elements: Element[] = [];
  /** Arrays and objects that are open. */
  #depth = 0;
  /** Of the element that is being read, or was read last. */
  #number = 0;
  #line = 1;
  #start = 0;
  /** Offset of the token that came last. */
  #at = 0;

  constructor(file: string, library: Library) {
    this.#file = file;
    this.#library = library;
    this.#tokenizer = openTokenizer(library);
    this.#tokenizer.onToken = (token) => this.#takeToken(token);
  }

  write(chunk: Buffer): Element[] {
    const isMarked = this.#lines.end === 0 && chunk.subarray(0, 3).equals(byteOrderMark);
    const text = isMarked ? chunk.subarray(3) : chunk;
    this.#lines.add(text);
    try {
      this.#tokenizer.write(text);
    } catch (error) {
      throw isKind(error, "usage") ? error : this.#notJson(error as Error);
    }
    if (this.#lines.end - Math.max(this.#start, this.#isBetween() ? this.#at : 0) > maxElementBytes)
      throw this.#fault("a value is longer than 1 MiB, more than one contact can hold");
    return this.#takeElements();
  }

  end(): Element[] {
    try {
      this.#tokenizer.end();
    } catch (error) {
      throw isKind(error, "usage") ? error : this.#cutShort();
    }
    if (this.#depth > 0) throw this.#cutShort();
    return this.#takeElements();
  }

  #takeElements(): Element[] {
    const elements = this.#elements;
    this.#elements = [];
    return elements;
  }

  /** No element is open. */
  #isBetween(): boolean {
    return this.#depth === (this.isArray ? 1 : 0);
  }

  #takeToken(token: Token): void {
    const { COMMA, LEFT_BRACE, LEFT_BRACKET, RIGHT_BRACE, RIGHT_BRACKET } = this.#library.TokenType;
    const opens = token.token === LEFT_BRACE || token.token === LEFT_BRACKET;
    this.#at = token.offset;
    if (this.isArray && this.#depth === 0) throw this.#fault("there is text after the end of the array");
    if (!this.#parser) {
      this.isArray = token.token === LEFT_BRACKET;
      this.#parser = this.#openParser();
    } else if (this.#isBetween() && token.token !== COMMA && token.token !== RIGHT_BRACKET) {
      this.#startElement(token.offset);
    }
    if (this.#number === 0 && !this.isArray) this.#startElement(token.offset);
    if (opens) this.#depth += 1;
    if (token.token === RIGHT_BRACE || token.token === RIGHT_BRACKET) this.#depth -= 1;
    if (this.#depth > maxDepth + 1) throw this.#fault(`more than ${maxDepth} objects within one another`);
    this.#parser.write(token);
  }

  #openParser(): TokenParser {
    const parser = new this.#library.TokenParser({
      paths: [this.isArray ? "$.*" : "$"],
      separator: "",
      keepStack: false,
    });
    parser.onValue = ({ value }) => {
      this.#elements.push({
        value,
        line: this.isArray ? this.#number : this.#line,
        place: this.#place(),
      });
    };
    return parser;
  }

  #startElement(offset: number): void {
    this.#number += 1;
    this.#start = offset;
    this.#line = this.#lines.lineAt(offset);
  }

  #place(): string {
    return this.isArray ? `${this.#file}, element ${this.#number}` : `${this.#file}:${this.#line}`;
  }

  #fault(message: string): EcmError {
    return usageError(`${this.#file}:${this.#lines.lineAt(this.#at)}: ${message}`, formHint);
  }

  #cutShort(): EcmError {
    this.#at = this.#lines.end;
    return this.#fault("the file ends in the middle of a value: it is probably incomplete");
  }

  /** The tokenizer says where; what the parser refuses is the token that came last. */
  #notJson({ message }: Error): EcmError {
    const [, position] = /absolute position "(\d+)"/.exec(message) ?? [];
    if (position !== undefined) this.#at = Number(position);
    return this.#fault("this is not JSON");
  }
}
