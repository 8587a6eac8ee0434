/** Reading: JSON, one object on each line or an array of objects → a table. */
import { joinNames } from "../../../delimited-lines.ts";
import { UsageError } from "../../../errors.ts";
import { quoteShellWord } from "../../../shell-word.ts";
import type { InputFile } from "../source.ts";
import { elementPlace, formHint, readElements } from "./json-elements.ts";
import { TableWriter } from "./table.ts";

export interface JsonTable {
  /** Members of the objects, in the order in which they first appear. */
  names: string[];
  /** Rows are named by their number in the array, not by their line. */
  isArray: boolean;
}

/** Writes the objects as a table. @throws UsageError with the place, for what is no JSON, or no table */
export async function readJson(file: InputFile, target: string): Promise<JsonTable> {
  const columns = new MemberColumns();
  const writer = new TableWriter(target, file.name);
  let isArray = false;
  let lastLine = 0;
  try {
    for await (const element of readElements(file)) {
      const { value, line, number, isInArray } = element;
      isArray ||= isInArray;
      const place = elementPlace(file.name, element);
      if (!isInArray && line === lastLine)
        throw new UsageError(`${place}: two values are on one line`, formHint);
      lastLine = line;
      const members = toMembers(value, place);
      if (number === 1 && !isInArray) refuseEnvelope(file, members);
      await writer.write(isInArray ? number : line, columns.toCells(members, place));
    }
    await writer.end();
  } finally {
    writer.close();
  }
  return { names: columns.names, isArray };
}

/** The columns of a table, one for each member that an object has had so far. */
class MemberColumns {
  readonly #indexes = new Map<string, number>();

  get names(): string[] {
    return [...this.#indexes.keys()];
  }

  /** @throws UsageError for a member that no cell can hold */
  toCells(members: readonly [string, unknown][], place: string): (string | undefined)[] {
    const cells: (string | undefined)[] = [];
    for (const [name, member] of members) {
      const index = this.#findColumn(name);
      while (cells.length < index) cells.push(undefined);
      cells[index] = toCell(member, name, place);
    }
    return cells;
  }

  #findColumn(name: string): number {
    const known = this.#indexes.get(name);
    if (known !== undefined) return known;
    this.#indexes.set(name, this.#indexes.size);
    return this.#indexes.size - 1;
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
