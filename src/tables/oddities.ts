/** Reading: what looks odd in rows that are read all the same, gathered over the whole file and told once. */
import { formatCount, formatCounted } from "../counts.ts";
import type { InputFacts, ReadRow } from "./rows.ts";
import { findUnknown } from "./unknown-cells.ts";
import { unwrapFormula } from "./values.ts";

interface OddCells {
  count: number;
  /** Of the first one. */
  line: number;
  cell: string;
}

const watchedKinds: ReadonlySet<string> = new Set(["field", "key"]);
/** In characters: no number that a spreadsheet has changed is longer. */
const longestOdd = 40;
const shortened = /^[+-]?\d(?:[.,]\d+)?E\+\d{1,3}$/i;

export class Oddities {
  readonly #columns: InputFacts["columns"];
  readonly #formulaColumns: readonly number[];
  /** Columns whose cells become values of fields, or keys. */
  readonly #watched: readonly number[];
  /** Columns that are read at all. */
  readonly #read: readonly number[];
  readonly #unknown = new Map<number, OddCells>();
  readonly #zeros: ReadonlyMap<number, LostZeros>;
  readonly #shortened = new Map<number, OddCells>();
  readonly #formulas = new Map<number, OddCells>();
  /** Rows of several lines. */
  #tall = 0;
  #tallest = { line: 0, lines: 1 };

  /** @param formulaColumns those whose `="…"` is undone @param consent those that are read as consent */
  constructor(columns: InputFacts["columns"], formulaColumns: readonly number[], consent: readonly number[]) {
    this.#read = columns.flatMap(({ target }, index) =>
      target.kind !== "ignore" || consent.includes(index) ? [index] : [],
    );
    const fields = columns.flatMap(({ target }, index) => (target.kind === "field" ? [index] : []));
    this.#zeros = new Map(fields.map((index) => [index, new LostZeros()]));
    this.#columns = columns;
    this.#formulaColumns = formulaColumns;
    this.#watched = columns.flatMap(({ target }, index) => (watchedKinds.has(target.kind) ? [index] : []));
  }

  add(row: ReadRow): void {
    if (row.lines !== undefined) {
      this.#tall += 1;
      if (row.lines > this.#tallest.lines) this.#tallest = { line: row.line, lines: row.lines };
    }
    for (const index of this.#read) {
      const unknown = findUnknown(row.cells[index]);
      if (unknown !== undefined) countOddity(this.#unknown, index, row.line, unknown);
    }
    if (row.kind === "rejected") return;
    for (const [index, zeros] of this.#zeros) zeros.add(row.cells[index] ?? "", row.line);
    for (const index of this.#watched) {
      const cell = row.cells[index];
      if (cell !== undefined && cell.length <= longestOdd) this.#look(index, cell, row.line);
    }
  }

  #look(index: number, cell: string, line: number): void {
    if (cell.includes("E+") && shortened.test(cell)) countOddity(this.#shortened, index, line, cell);
    else if (!this.#formulaColumns.includes(index) && unwrapFormula(cell) !== undefined)
      countOddity(this.#formulas, index, line, cell);
  }

  /** Sentences for the reader, each with a place. */
  notes(): string[] {
    return [
      ...this.#notesOn(this.#shortened, lostDigits),
      ...this.#notesOn(this.#formulas, oddFormula),
      ...this.#notesOn(
        new Map([...this.#zeros].flatMap(([index, { odd }]) => (odd ? [[index, odd]] : []))),
        lostZeros,
      ),
      ...this.#noteOnTallRows(),
    ];
  }

  /** One sentence for each column with cells of which nobody knows the value. */
  unknownCells(): string[] {
    return this.#notesOn(this.#unknown, unknownValue);
  }

  #notesOn(seenIn: ReadonlyMap<number, OddCells>, consequence: string): string[] {
    return [...seenIn].map(
      ([index, oddities]) =>
        `Column ${JSON.stringify(this.#columns[index]!.name)}: ${formatCounted(oddities.count, "cell")} such as ${oddities.cell} (line ${oddities.line})${consequence}`,
    );
  }

  #noteOnTallRows(): string[] {
    const { line, lines } = this.#tallest;
    if (this.#tall === 0) return [];
    if (this.#tall === 1) return [`The row on line ${line} spans ${formatCount(lines)} lines${doubt}`];
    return [
      `${formatCount(this.#tall)} rows span several lines; the longest, on line ${line}, spans ${formatCount(lines)}${doubt}`,
    ];
  }
}

/**
 * The cells of a column of numbers of one length, some of which begin with 0: a spreadsheet has taken the zero of
 * those that are one digit shorter.
 */
class LostZeros {
  /** Undefined for a column in which other cells are. */
  #lengths: Map<number, OddCells> | undefined = new Map();
  #hasZero = false;

  add(text: string, line: number): void {
    const cell = text.trim();
    if (cell === "" || !this.#lengths) return;
    if (!/^\d{3,10}$/.test(cell)) {
      if (findUnknown(cell) === undefined) this.#lengths = undefined;
      return;
    }
    if (cell.startsWith("0")) this.#hasZero = true;
    countOddity(this.#lengths, cell.length, line, cell);
    if (this.#lengths.size > 2) this.#lengths = undefined;
  }

  /** The shorter cells. */
  get odd(): OddCells | undefined {
    if (!this.#hasZero || this.#lengths?.size !== 2) return undefined;
    const [short = 0, long = 0] = [...this.#lengths.keys()].sort((one, other) => one - other);
    return long === short + 1 ? this.#lengths.get(short) : undefined;
  }
}

const unknownValue =
  ": the workbook has no value there; open it in a spreadsheet, correct the cells and save it";
const lostZeros = " may have lost a leading zero: format the column as text where the file comes from";
const lostDigits = ": a spreadsheet has rounded the number; its digits are lost";
const oddFormula = "; imported as written, because the column's other cells are not numbers of this kind";
const doubt = " (if that is wrong, look for a stray quote there)";

function countOddity(oddities: Map<number, OddCells>, index: number, line: number, cell: string): void {
  const oddity = oddities.get(index);
  if (oddity) oddity.count += 1;
  else oddities.set(index, { count: 1, line, cell });
}
