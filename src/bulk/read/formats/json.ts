/** Reading: JSON, one object on each line or an array of objects → a table. The only file that knows lossless-json. */
import { joinNames } from "../../../delimited-lines.ts";
import { UsageError } from "../../../errors.ts";
import { shellWord } from "../../../shell-word.ts";
import { type InputFile, readBytes } from "../source.ts";
import { openTableWriter } from "./table.ts";

/** What a JSON input is. */
const wholeForm = "Write one array of objects, or one object on each line";
/** Longer than any record that could be sent. */
const longestElement = 1024 * 1024;
/** Of arrays and objects within one another. */
const deepest = 32;

export interface JsonTable {
  /** Members of the objects, in the order in which they first appear. */
  names: string[];
  /** Rows are named by their number in the array, not by their line. */
  isArray: boolean;
}

/** Writes the objects as a table. @throws UsageError with the place, for what is no JSON, or no table */
export async function readJson(file: InputFile, target: string): Promise<JsonTable> {
  const { parse } = await import("lossless-json");
  const names: string[] = [];
  const indexes = new Map<string, number>();
  const writer = openTableWriter(target, file.name);
  const parseNumber = (digits: string) => digits;
  let isArray = false;
  let lastLine = 0;
  try {
    for await (const element of elementsOf(file)) {
      isArray ||= element.isInArray;
      const place = element.isInArray
        ? `${file.name}, element ${element.number}`
        : `${file.name}:${element.line}`;
      if (!element.isInArray && element.line === lastLine)
        throw new UsageError(`${place}: two values are on one line`, wholeForm);
      lastLine = element.line;
      let value: unknown;
      try {
        value = parse(element.text, undefined, parseNumber);
      } catch (error) {
        throw new UsageError(
          `${place}: this is not JSON: ${(error as Error).message}`,
          "Export the file again",
        );
      }
      const cells: (string | undefined)[] = [];
      const members = membersOf(value, place);
      if (element.number === 1 && !element.isInArray) refuseEnvelope(file, members);
      for (const [name, member] of members) {
        let index = indexes.get(name);
        if (index === undefined) {
          index = names.push(name) - 1;
          indexes.set(name, index);
        }
        while (cells.length < index) cells.push(undefined);
        cells[index] = cellOf(member, name, place);
      }
      await writer.write(element.isInArray ? element.number : element.line, cells);
    }
    await writer.end();
  } finally {
    writer.close();
  }
  return { names, isArray };
}

function membersOf(value: unknown, place: string): [string, unknown][] {
  if (typeof value === "string") return [["key", value]];
  if (value === null || typeof value !== "object" || Array.isArray(value)) {
    throw new UsageError(`${place}: expected an object, such as {"Email":"ada@example.com"}`, wholeForm);
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
  throw new UsageError(
    `${file} is one object with an array in its member ${JSON.stringify(member)}; expected the array itself`,
    `Take it out first: jq ${shellWord(path)} ${file.endsWith(".json") ? `${shellWord(file)} ` : ""}> contacts.json`,
  );
}

/** Several texts in one member become one cell that names them all, as in a CSV file. */
function cellOf(value: unknown, name: string, place: string): string {
  if (value === null) return "";
  if (typeof value === "string") return value;
  if (typeof value === "boolean") return String(value);
  if (Array.isArray(value) && value.every((each) => typeof each === "string")) return joinNames(value);
  throw new UsageError(
    `${place}: ${JSON.stringify(name)} is ${Array.isArray(value) ? "an array" : "an object"}, but a cell has a single value`,
    "Flatten the objects first, such as with jq; exports of ecm itself import again from csv",
  );
}

interface Element {
  text: string;
  /** On which it begins. */
  line: number;
  /** The first is 1. */
  number: number;
  isInArray: boolean;
}

/** Splits a text into the values at its top, or of the array that it is, without understanding them. Flat in memory. */
async function* elementsOf(file: InputFile): AsyncGenerator<Element> {
  const decoder = new TextDecoder("utf-8");
  const scan = createSplitter(file);
  for await (const chunk of readBytes(file)) yield* scan.write(decoder.decode(chunk, { stream: true }));
  yield* scan.end();
}

function createSplitter(file: InputFile) {
  let text = "";
  let start = -1;
  let line = 1;
  let startLine = 1;
  let number = 0;
  let depth = 0;
  let isArray: boolean | undefined;
  let isOver = false;
  let isInString = false;
  let isEscaped = false;
  let isAfterReturn = false;
  const fault = (message: string, hint: string) => new UsageError(`${file.name}:${line}: ${message}`, hint);
  const taken = (end: number): Element => {
    number += 1;
    const element = {
      text: text.slice(start, end),
      line: startLine,
      number,
      isInArray: isArray === true,
    };
    start = -1;
    return element;
  };
  function* write(more: string): Generator<Element> {
    const offset = start === -1 ? 0 : text.length - start;
    text = start === -1 ? more : text.slice(start) + more;
    if (start !== -1) start = 0;
    for (let at = offset; at < text.length; at += 1) {
      const character = text[at]!;
      if (character === "\n" || character === "\r") {
        if (!(character === "\n" && isAfterReturn)) line += 1;
      }
      isAfterReturn = character === "\r";
      if (start !== -1 && at - start > longestElement) {
        throw fault(
          "a value is longer than 1 MiB, more than one contact can hold",
          "Check that it is the right file",
        );
      }
      if (isInString) {
        if (isEscaped) isEscaped = false;
        else if (character === "\\") isEscaped = true;
        else if (character === '"') isInString = false;
        continue;
      }
      const isBlank = character === " " || character === "\t" || character === "\n" || character === "\r";
      if (start === -1) {
        if (isBlank || character === "\ufeff") continue;
        if (isArray && (character === "," || character === "]")) {
          isOver ||= character === "]";
          continue;
        }
        if (isOver) throw fault("there is text after the end of the array", wholeForm);
        if (isArray === undefined && character === "[") {
          isArray = true;
          continue;
        }
        isArray ??= false;
        start = at;
        startLine = line;
      }
      if (character === '"') isInString = true;
      else if (character === "{" || character === "[") {
        depth += 1;
        if (depth > deepest)
          throw fault(`more than ${deepest} objects within one another`, "Flatten the objects first");
      } else if ((character === "}" || character === "]") && depth > 0) {
        depth -= 1;
        if (depth === 0) yield taken(at + 1);
      } else if (depth === 0 && (isBlank || (isArray && (character === "," || character === "]")))) {
        yield taken(at);
        isOver ||= character === "]";
      }
    }
  }
  return {
    write,
    *end(): Generator<Element> {
      const isWhole = isArray ? isOver : start === -1 || (depth === 0 && !isInString);
      if (isWhole && start !== -1) yield taken(text.length);
      if (!isWhole) {
        throw fault("the file ends in the middle of a value: it is probably incomplete", "Export it again");
      }
    },
  };
}
