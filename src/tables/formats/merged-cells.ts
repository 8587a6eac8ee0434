/**
 * Reading: the merged ranges of a sheet. Only the first cell of a range has a value in the file; a person
 * sees it in all of them.
 */
import { readXml } from "./xml.ts";

interface Range {
  first: { line: number; column: number };
  last: { line: number; column: number };
  value: string;
  hasFilled: boolean;
}

/**
 * A sheet names its merged ranges behind its rows, so that it is read once more where it has any.
 * @returns undefined for a sheet without merged ranges
 */
export async function readMergedCells(
  read: () => AsyncIterable<Buffer>,
  file: string,
): Promise<MergedCells | undefined> {
  if (!(await containsWord(read(), "mergeCell"))) return undefined;
  const ranges: Range[] = [];
  /** No range gives a value to columns in which no cell has one: a title is often merged far to the right. */
  let width = 0;
  let column = -1;
  await readXml(read(), file, {
    open(name, { r, ref }) {
      if (name === "row") column = -1;
      if (name === "c") column = r === undefined ? column + 1 : toColumnIndex(r);
      if (name === "v" || name === "is") width = Math.max(width, column + 1);
      const range = name === "mergeCell" ? parseRange(ref ?? "") : undefined;
      if (range) ranges.push(range);
    },
  });
  return ranges.length === 0 ? undefined : new MergedCells(ranges, width);
}

export class MergedCells {
  readonly #ranges: Range[];
  readonly #width: number;
  /** Ranges below the rows that were filled, the lowest one first. */
  readonly #below: Range[];
  #open: Range[] = [];

  constructor(ranges: Range[], width: number) {
    this.#ranges = ranges;
    this.#width = width;
    this.#below = [...ranges].sort((one, other) => other.first.line - one.first.line);
  }

  /** Gives the cells of a row the values of the ranges that they are in. Rows come in the sheet's order. */
  fill(line: number, cells: (string | undefined)[]): void {
    while ((this.#below.at(-1)?.first.line ?? Infinity) <= line) this.#open.push(this.#below.pop()!);
    this.#open = this.#open.filter(({ last }) => last.line >= line);
    for (const range of this.#open) {
      if (range.first.line === line) range.value = cells[range.first.column] ?? "";
      if (range.value !== "") fillBlanks(range, cells, this.#width);
    }
  }

  /** How many ranges have given their value to a cell. */
  countFilled(): number {
    return this.#ranges.filter(({ hasFilled }) => hasFilled).length;
  }
}

/** The cells of a row within a range that have no value of their own get the range's. */
function fillBlanks(range: Range, cells: (string | undefined)[], width: number): void {
  const end = Math.min(range.last.column + 1, width);
  for (let column = range.first.column; column < end; column++) {
    if (cells[column]) continue;
    while (cells.length < column) cells.push("");
    cells[column] = range.value;
    range.hasFilled = true;
  }
}

function parseRange(reference: string): Range | undefined {
  const match = /^\$?([A-Z]{1,3})\$?(\d+):\$?([A-Z]{1,3})\$?(\d+)$/i.exec(reference);
  if (!match) return undefined;
  const [, left, top, right, bottom] = match;
  return {
    first: { line: Number(top), column: toColumnIndex(left!) },
    last: { line: Number(bottom), column: toColumnIndex(right!) },
    value: "",
    hasFilled: false,
  };
}

/** Whether the bytes hold a word, also across two chunks. */
async function containsWord(chunks: AsyncIterable<Buffer>, word: string): Promise<boolean> {
  let end = Buffer.alloc(0);
  let isFound = false;
  // Read to its end: an archive does not like to be left in the middle of an entry.
  for await (const chunk of chunks) {
    if (isFound) continue;
    const bytes = Buffer.concat([end, chunk]);
    isFound = bytes.includes(word);
    end = bytes.subarray(-word.length);
  }
  return isFound;
}

/** 0 for `A7`. */
export function toColumnIndex(reference: string): number {
  let column = 0;
  for (const letter of /^[A-Z]{1,3}/i.exec(reference)?.[0].toUpperCase() ?? "A") {
    column = column * 26 + letter.charCodeAt(0) - 64;
  }
  return column - 1;
}
