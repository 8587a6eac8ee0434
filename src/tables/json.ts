/** Reading: JSON, an object on each line or an array of them → a table. Only here: @streamparser/json. */
import { joinNames } from "../delimited-lines.ts";
import { usageError } from "../errors.ts";
import type { TableRecord } from "./csv.ts";
import { type InputFile, LineCounter, readBytes, toHead } from "./source.ts";
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
    const isArray = /^\s*\[/.test(toHead(start));
    /** A column for each member that an object has had so far, by its name. */
    const columns = new Map<string, number>();
    async function* toRecords() {
      for await (const elements of readElements(file, isArray, start[0] === 0xef ? 3 : 0))
        yield elements.map((element) => toRecord(element, columns));
      if (columns.size === 0)
        throw usageError(`${file.name} contains no objects`, "Name a file with contacts");
    }
    const records = await takeRecords(inspection, "objects", toRecords());
    return {
      form: { kind: "json", encoding: "utf-8", hasMark: true },
      notes: isArray ? [{ code: "counted_elements" }] : [],
      names: [...columns.keys()],
      readings: [{ dialect: plainDialect, first: async () => [], readAll: async () => records }],
    };
  },
};

/** @throws UsageError for what is no object, for a member that no cell can hold, and for two of one name */
function toRecord({ value, line, place, members }: Element, columns: Map<string, number>): TableRecord {
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  if (!isObject && typeof value !== "string")
    throw usageError(`${place}: expected an object, such as {"Email":"ada@example.com"}`, formHint);
  const cells: TableRecord["cells"] = [];
  const entries = Object.entries(isObject ? value : { key: value });
  if (isObject && entries.length < members)
    throw usageError(`${place}: the object has a member twice`, "Keep the one that is right");
  for (const [name, member] of entries) {
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

const formHint = "Write one array of objects, or one object on each line";
/** Longer than any record that could be sent. */
const maxElementBytes = 1024 * 1024;

interface Element {
  value: unknown;
  /** On which it begins; of the members of an array their number, from 1. */
  line: number;
  /** Where it is, for messages. */
  place: string;
  /** As written, those of one name too. */
  members: number;
}

/** The values at the top of a text, or of the array that it is. @throws UsageError for what is no JSON */
async function* readElements(
  file: InputFile,
  isArray: boolean,
  markBytes: number,
): AsyncGenerator<Element[]> {
  const { Tokenizer, TokenParser, TokenType } = await import("@streamparser/json");
  /** A number is given as its digits: it may be one of a telephone. */
  class ExactTokenizer extends Tokenizer {
    protected override parseNumber(digits: string): number {
      return digits as unknown as number;
    }
  }
  const tokenizer = new ExactTokenizer({ separator: "" });
  // An array ends the text; of other values there may be any number.
  const [path, separator] = isArray ? ["$.*"] : ["$", ""];
  const parser = new TokenParser({ paths: [path!], separator, keepStack: false });
  const lines = new LineCounter();
  const fail = (offset: number, message: string) =>
    usageError(`${file.name}:${lines.lineAt(offset)}: ${message}`, formHint);
  let elements: Element[] = [];
  /** The element that is being read, or was read last. */
  let [number, line, start, members] = [0, 1, 0, 0];
  /** Arrays and objects that are open. */
  let depth = 0;
  const depthBetween = isArray ? 1 : 0;
  const isBetween = () => depth === depthBetween;
  /** Offset of the token that came last. */
  let at = 0;
  parser.onValue = ({ value }) => {
    const place = isArray ? `${file.name}, element ${number}` : `${file.name}:${line}`;
    elements.push({ value, line: isArray ? number : line, place, members });
  };
  const { COLON, COMMA, LEFT_BRACE, LEFT_BRACKET, RIGHT_BRACE, RIGHT_BRACKET } = TokenType;
  tokenizer.onToken = (token) => {
    at = token.offset;
    const closes = token.token === RIGHT_BRACE || token.token === RIGHT_BRACKET;
    if (isBetween() && token.token !== COMMA && !closes)
      [number, line, start, members] = [number + 1, lines.lineAt(at), at, 0];
    if (token.token === COLON && depth === depthBetween + 1) members += 1;
    parser.write(token);
    if (closes) depth -= 1;
    else if (token.token === LEFT_BRACE || token.token === LEFT_BRACKET) depth += 1;
  };
  for await (const chunk of readBytes(file, markBytes)) {
    lines.add(chunk);
    try {
      tokenizer.write(chunk);
    } catch (error) {
      // The tokenizer says where; what the parser refuses is the token that came last.
      const [, position = at] = /absolute position "(\d+)"/.exec((error as Error).message) ?? [];
      throw fail(Number(position), "this is not JSON");
    }
    if (lines.end - Math.max(start, isBetween() ? at : 0) > maxElementBytes)
      throw fail(at, "a value is longer than 1 MiB, more than one contact can hold");
    yield elements;
    elements = [];
  }
  try {
    tokenizer.end();
  } catch {
    // It is cut within a word.
    depth = 1;
  }
  if (depth > 0) throw fail(lines.end, "the file ends in the middle of a value: it is probably incomplete");
  yield elements;
}
