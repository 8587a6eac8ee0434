/**
 * Reading: JSON, one object on each line or an array of objects → a table. The only file that uses
 * @streamparser/json.
 */

import type { ParsedTokenInfo as Token, Tokenizer, TokenParser } from "@streamparser/json";
import { joinNames } from "../delimited-lines.ts";
import { type EcmError, isKind, usageError } from "../errors.ts";
import { quoteShellWord } from "../hint.ts";
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
    const reader = new ObjectReader(file);
    const page = await writePage(file, "objects", reader.rows());
    const names = [...reader.columns.keys()];
    return {
      form: { kind: "json", encoding: "utf-8", hasMark: true },
      notes: reader.isArray ? [{ code: "counted_elements" }] : [],
      locate: async () => ({
        line: 1,
        lines: 0,
        names,
        hasGivenNames: true,
        isSure: true,
        dialect: plainDialect,
        records: () => readPage(page),
      }),
    };
  },
};

class ObjectReader {
  /** A column for each member that an object has had so far, by its name. */
  readonly columns = new Map<string, number>();
  isArray = false;
  readonly #file: InputFile;

  constructor(file: InputFile) {
    this.#file = file;
  }

  async *rows(): AsyncGenerator<{ line: number; cells: Cells }> {
    let lastLine = 0;
    for await (const element of readElements(this.#file)) {
      const { value, line, number, isInArray } = element;
      this.isArray ||= isInArray;
      const place = elementPlace(this.#file.name, element);
      if (!isInArray && line === lastLine) throw usageError(`${place}: two values are on one line`, formHint);
      lastLine = line;
      const members = toMembers(value, place);
      if (number === 1 && !isInArray) refuseEnvelope(this.#file, members);
      yield { line: isInArray ? number : line, cells: this.#toCells(members, place) };
    }
    if (this.columns.size === 0)
      throw usageError(`${this.#file.name} contains no objects`, "Name a file with contacts");
  }

  /** @throws UsageError for a member that no cell can hold */
  #toCells(members: readonly [string, unknown][], place: string): Cells {
    const cells: (string | undefined)[] = [];
    for (const [name, member] of members) {
      const index = this.columns.get(name) ?? this.columns.size;
      this.columns.set(name, index);
      cells[index] = toCell(member, name, place);
    }
    return cells;
  }
}

function toMembers(value: unknown, place: string): [string, unknown][] {
  if (typeof value === "string") return [["key", value]];
  if (value === null || typeof value !== "object" || Array.isArray(value)) {
    throw usageError(`${place}: expected an object, such as {"Email":"ada@example.com"}`, formHint);
  }
  return Object.entries(value);
}

/** An object around the contacts, as many services answer. @throws UsageError with the member to take out */
function refuseEnvelope({ name: file }: InputFile, members: [string, unknown][]): void {
  const hasText = members.some(([, value]) => typeof value === "string" && value.trim() !== "");
  const holdsContacts = (value: unknown) =>
    Array.isArray(value) && (!hasText || value.some((each) => each !== null && typeof each === "object"));
  const member = members.find(([, value]) => holdsContacts(value))?.[0];
  if (member === undefined) return;
  const path = /^[A-Za-z_]\w*$/.test(member) ? `.${member}` : `.[${JSON.stringify(member)}]`;
  throw usageError(
    `${file} is one object with an array in its member ${JSON.stringify(member)}; expected the array itself`,
    `Take it out first: jq ${quoteShellWord(path)} ${file.endsWith(".json") ? `${quoteShellWord(file)} ` : ""}> contacts.json`,
  );
}

/** Several texts in one member become one cell that names them all, as in a CSV file. */
function toCell(value: unknown, name: string, place: string): string {
  if (value === null) return "";
  if (typeof value === "string") return value;
  if (typeof value === "boolean") return String(value);
  if (Array.isArray(value) && value.every((each) => typeof each === "string")) return joinNames(value);
  throw usageError(
    `${place}: ${JSON.stringify(name)} is ${Array.isArray(value) ? "an array" : "an object"}, but a cell has a single value`,
    "Flatten the objects first, such as with jq; exports of ecm itself import again from csv",
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
  /** On which it begins. */
  line: number;
  /** The first is 1. */
  number: number;
  isInArray: boolean;
}

/** The values at the top of a text, or of the array that it is. Flat in memory. */
async function* readElements(file: InputFile): AsyncGenerator<Element> {
  const reader = new ElementReader(file.name, await import("@streamparser/json"));
  let mayBeMark = true;
  for await (const chunk of readBytes(file)) {
    const isMark = mayBeMark && chunk.subarray(0, 3).equals(byteOrderMark);
    yield* reader.write(isMark ? chunk.subarray(3) : chunk);
    mayBeMark = false;
  }
  yield* reader.end();
}

const byteOrderMark = Buffer.from("\ufeff");

type Library = typeof import("@streamparser/json");

/**
 * The tokens of one JSON text, or of several. A number is given as its digits: it may be one of a telephone.
 */
function openTokenizer({ Tokenizer }: Library): Tokenizer {
  class ExactTokenizer extends Tokenizer {
    protected override parseNumber(digits: string): number {
      return digits as unknown as number;
    }
  }
  return new ExactTokenizer({ separator: "" });
}

/** Chooses by the first token whether the members of an array make rows, or the values of the text itself. */
class ElementReader {
  readonly #file: string;
  readonly #library: Library;
  readonly #tokenizer: Tokenizer;
  readonly #lines = new LineCounter();
  #parser: TokenParser | undefined;
  #elements: Element[] = [];
  #isArray = false;
  #isOver = false;
  /** Arrays and objects that are open, without the array whose members make rows. */
  #depth = 0;
  /** Of the element that is being read, or was read last. */
  #current = { number: 0, line: 1, offset: 0, names: new Set<string>() };
  #lastToken = { text: "", offset: 0 };

  constructor(file: string, library: Library) {
    this.#file = file;
    this.#library = library;
    this.#tokenizer = openTokenizer(library);
    this.#tokenizer.onToken = (token) => this.#takeToken(token);
  }

  write(chunk: Buffer): Element[] {
    this.#lines.add(chunk);
    try {
      this.#tokenizer.write(chunk);
    } catch (error) {
      throw isKind(error, "usage") ? error : this.#notJson(error as Error);
    }
    const start = this.#depth > 0 ? this.#current.offset : this.#lastToken.offset;
    if (this.#lines.end - start > maxElementBytes) {
      throw this.#fault(
        "a value is longer than 1 MiB, more than one contact can hold",
        "Check that it is the right file",
      );
    }
    return this.#takeElements();
  }

  end(): Element[] {
    try {
      this.#tokenizer.end();
    } catch (error) {
      throw isKind(error, "usage") ? error : this.#cutShort();
    }
    if (this.#depth > 0 || (this.#isArray && !this.#isOver)) throw this.#cutShort();
    return this.#takeElements();
  }

  #takeElements(): Element[] {
    const elements = this.#elements;
    this.#elements = [];
    return elements;
  }

  #takeToken(token: Token): void {
    const { TokenType } = this.#library;
    if (this.#isOver) {
      this.#lines.lineAt(token.offset);
      throw this.#fault("there is text after the end of the array", formHint);
    }
    if (!this.#parser) {
      this.#isArray = token.token === TokenType.LEFT_BRACKET;
      this.#parser = this.#openParser();
      if (this.#isArray) {
        this.#parser.write(token);
        return;
      }
    }
    if (this.#depth === 0) this.#startElement(token);
    if (this.#depth === 1 && token.token === TokenType.COLON) this.#takeName();
    this.#lastToken = { text: String(token.value), offset: token.offset };
    this.#count(token);
    this.#parser.write(token);
  }

  #openParser(): TokenParser {
    const parser = new this.#library.TokenParser({
      paths: [this.#isArray ? "$.*" : "$"],
      separator: "",
      keepStack: false,
    });
    parser.onValue = ({ value }) => {
      const { number, line } = this.#current;
      this.#elements.push({ value, line, number, isInArray: this.#isArray });
    };
    return parser;
  }

  #startElement({ token, offset }: Token): void {
    const { TokenType } = this.#library;
    if (token === TokenType.COMMA || token === TokenType.RIGHT_BRACKET) return;
    const { number } = this.#current;
    this.#current = { number: number + 1, line: this.#lines.lineAt(offset), offset, names: new Set() };
  }

  /**
   * @throws UsageError for a name that the object has already: which of the two values is meant is unknown
   */
  #takeName(): void {
    const { names } = this.#current;
    const name = this.#lastToken.text;
    if (names.has(name)) {
      throw usageError(
        `${this.#place()}: the member ${JSON.stringify(name)} occurs twice`,
        "Export the file again",
      );
    }
    names.add(name);
  }

  #count({ token }: Token): void {
    const { TokenType } = this.#library;
    if (token === TokenType.LEFT_BRACE || token === TokenType.LEFT_BRACKET) {
      this.#depth += 1;
      if (this.#depth > maxDepth) {
        throw this.#fault(`more than ${maxDepth} objects within one another`, "Flatten the objects first");
      }
    } else if (token === TokenType.RIGHT_BRACE || token === TokenType.RIGHT_BRACKET) {
      if (this.#depth === 0) this.#isOver = this.#isArray;
      else this.#depth -= 1;
    }
  }

  #place(): string {
    return elementPlace(this.#file, { ...this.#current, isInArray: this.#isArray });
  }

  #fault(message: string, hint: string): EcmError {
    return usageError(`${this.#file}:${this.#lines.line}: ${message}`, hint);
  }

  #cutShort(): EcmError {
    this.#lines.lineAt(this.#lines.end);
    return this.#fault(
      "the file ends in the middle of a value: it is probably incomplete",
      "Export it again",
    );
  }

  /** The tokenizer says where; what the parser refuses is the token that came last. */
  #notJson({ message }: Error): EcmError {
    const [, position] = /absolute position "(\d+)"/.exec(message) ?? [];
    const offset = position === undefined ? this.#lastToken.offset : Number(position);
    const line = this.#lines.lineAt(offset);
    if (this.#depth === 0) this.#current = { ...this.#current, number: this.#current.number + 1, line };
    return usageError(
      `${this.#place()}: this is not JSON: line ${line}, column ${this.#lines.columnAt(offset)}`,
      "Export the file again",
    );
  }
}

function elementPlace(file: string, { isInArray, number, line }: Omit<Element, "value">): string {
  return isInArray ? `${file}, element ${number}` : `${file}:${line}`;
}
