/**
 * Reading: JSON, one object on each line or an array of objects → a table. The only file that uses
 * @streamparser/json.
 */

import type { Tokenizer } from "@streamparser/json";
import { joinNames } from "../delimited-lines.ts";
import { type EcmError, usageError } from "../errors.ts";
import type { TableRecord } from "./csv.ts";
import { LineCounter, readBytes } from "./source.ts";
import { type Format, plainDialect, requireNoFlags, takeRecords } from "./table.ts";

export const jsonFormat: Format = {
  /** An object or an array at the beginning; a CSV file can begin with a brace in a name, but not so. */
  opens: (start) => /^\s*(?:\[\s*(?:$|[{["\]])|\{\s*(?:"[^"\n]*"\s*:|\}))/.test(toHead(start)),
  async open(inspection, { encoding, delimiter, skipLines }) {
    const { file, isUtf8, start } = inspection;
    requireNoFlags(file, "JSON", {
      "--encoding": encoding,
      "--delimiter": delimiter,
      "--skip-lines": skipLines,
    });
    if (!isUtf8) throw usageError(`${file.name} is JSON, but not in UTF-8`, "Save it as UTF-8");
    /** A column for each member that an object has had so far, by its name. */
    const columns = new Map<string, number>();
    const isArray = /^\s*\[/.test(toHead(start));
    const reader = new ElementReader(file.name, isArray, await import("@streamparser/json"));
    async function* readRows() {
      for await (const chunk of readBytes(file, start[0] === 0xef ? 3 : 0))
        yield reader.read(chunk).map((element) => toRecord(element, columns));
      yield reader.end().map((element) => toRecord(element, columns));
      if (columns.size === 0)
        throw usageError(`${file.name} contains no objects`, "Name a file with contacts");
    }
    const records = await takeRecords(inspection, "objects", readRows());
    return {
      form: { kind: "json", encoding: "utf-8", hasMark: true },
      notes: isArray ? [{ code: "counted_elements" }] : [],
      names: [...columns.keys()],
      readings: [{ dialect: plainDialect, first: async () => [], readAll: async () => records }],
    };
  },
};

/** The first characters, without a byte order mark. */
function toHead(start: Buffer): string {
  return start.toString("latin1", 0, 512).replace(/^\xef\xbb\xbf/, "");
}

/** @throws UsageError for what is no object, and for a member that no cell can hold */
function toRecord({ value, line, place }: Element, columns: Map<string, number>): TableRecord {
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  if (!isObject && typeof value !== "string")
    throw usageError(`${place}: expected an object, such as {"Email":"ada@example.com"}`, formHint);
  const cells: (string | undefined)[] = [];
  for (const [name, member] of Object.entries(isObject ? value : { key: value })) {
    const index = columns.get(name) ?? columns.size;
    columns.set(name, index);
    cells[index] = toCell(member, name, place);
  }
  return { line, lines: 1, cells };
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

/**
 * The values at the top of a text, or of the array that it is. Flat in memory.
 * @throws UsageError for what is no JSON
 */
class ElementReader {
  readonly #file: string;
  readonly #isArray: boolean;
  readonly #tokenizer: Tokenizer;
  readonly #lines = new LineCounter();
  #elements: Element[] = [];
  /** Arrays and objects that are open. */
  #depth = 0;
  /** The element that is being read, or was read last: its number, the offset where it starts, and its line. */
  #number = 0;
  #start = 0;
  #line = 1;
  /** Offset of the token that came last. */
  #at = 0;

  constructor(file: string, isArray: boolean, library: Library) {
    this.#file = file;
    this.#isArray = isArray;
    // An array ends the text; of other values there may be any number.
    const paths = [isArray ? "$.*" : "$"];
    const separator = isArray ? undefined : "";
    const parser = new library.TokenParser({ paths, separator, keepStack: false });
    parser.onValue = ({ value }) => this.#elements.push(this.#toElement(value));
    this.#tokenizer = openTokenizer(library);
    const { COMMA, LEFT_BRACE, LEFT_BRACKET, RIGHT_BRACE, RIGHT_BRACKET } = library.TokenType;
    this.#tokenizer.onToken = (token) => {
      const { token: type, offset } = token;
      this.#at = offset;
      const closes = type === RIGHT_BRACE || type === RIGHT_BRACKET;
      if (this.#isBetween() && type !== COMMA && !closes) {
        this.#number += 1;
        this.#start = offset;
        this.#line = this.#lines.lineAt(offset);
      }
      parser.write(token);
      if (closes) this.#depth -= 1;
      else if (type === LEFT_BRACE || type === LEFT_BRACKET) this.#depth += 1;
    };
  }

  read(chunk: Buffer): Element[] {
    this.#lines.add(chunk);
    try {
      this.#tokenizer.write(chunk);
    } catch (error) {
      // The tokenizer says where; what the parser refuses is the token that came last.
      const [, position = this.#at] = /absolute position "(\d+)"/.exec((error as Error).message) ?? [];
      throw this.#fault(Number(position), "this is not JSON");
    }
    if (this.#lines.end - Math.max(this.#start, this.#isBetween() ? this.#at : 0) > maxElementBytes)
      throw this.#fault(this.#at, "a value is longer than 1 MiB, more than one contact can hold");
    const elements = this.#elements;
    this.#elements = [];
    return elements;
  }

  end(): Element[] {
    try {
      this.#tokenizer.end();
      if (this.#depth === 0) return this.#elements;
    } catch {
      // It is cut within a word.
    }
    throw this.#fault(this.#lines.end, "the file ends in the middle of a value: it is probably incomplete");
  }

  /** No element is open. */
  #isBetween(): boolean {
    return this.#depth === (this.#isArray ? 1 : 0);
  }

  #toElement(value: unknown): Element {
    if (this.#isArray) return { value, line: this.#number, place: `${this.#file}, element ${this.#number}` };
    return { value, line: this.#line, place: `${this.#file}:${this.#line}` };
  }

  #fault(offset: number, message: string): EcmError {
    return usageError(`${this.#file}:${this.#lines.lineAt(offset)}: ${message}`, formHint);
  }
}
