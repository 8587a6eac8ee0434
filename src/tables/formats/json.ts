/** Reading: JSON, one object on each line or an array of objects → a table. */

import { joinNames } from "../../delimited-lines.ts";
import { UsageError } from "../../errors.ts";
import { quoteShellWord } from "../../shell-word.ts";
import type { Cells } from "../cells.ts";
import type { InputFile } from "../text/source.ts";
import { elementPlace, formHint, readElements } from "./json-elements.ts";
import { writeTable } from "./table.ts";

export interface JsonTable {
  /** Members of the objects, in the order in which they first appear. */
  names: string[];
  /** Rows are named by their number in the array, not by their line. */
  isArray: boolean;
}

/** Writes the objects as a table. @throws UsageError with the place, for what is no JSON, or no table */
export async function readJson(file: InputFile, target: string): Promise<JsonTable> {
  const reader = new ObjectReader(file);
  await writeTable(target, file.name, reader.rows());
  return { names: [...reader.columns.keys()], isArray: reader.isArray };
}

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
      if (!isInArray && line === lastLine)
        throw new UsageError(`${place}: two values are on one line`, formHint);
      lastLine = line;
      const members = toMembers(value, place);
      if (number === 1 && !isInArray) refuseEnvelope(this.#file, members);
      yield { line: isInArray ? number : line, cells: this.#toCells(members, place) };
    }
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
    throw new UsageError(`${place}: expected an object, such as {"Email":"ada@example.com"}`, formHint);
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
    `Take it out first: jq ${quoteShellWord(path)} ${file.endsWith(".json") ? `${quoteShellWord(file)} ` : ""}> contacts.json`,
  );
}

/** Several texts in one member become one cell that names them all, as in a CSV file. */
function toCell(value: unknown, name: string, place: string): string {
  if (value === null) return "";
  if (typeof value === "string") return value;
  if (typeof value === "boolean") return String(value);
  if (Array.isArray(value) && value.every((each) => typeof each === "string")) return joinNames(value);
  throw new UsageError(
    `${place}: ${JSON.stringify(name)} is ${Array.isArray(value) ? "an array" : "an object"}, but a cell has a single value`,
    "Flatten the objects first, such as with jq; exports of ecm itself import again from csv",
  );
}
