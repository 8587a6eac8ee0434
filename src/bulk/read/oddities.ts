/** Reading: what looks odd in rows that are read all the same, gathered over the whole file and told once. */
import { formatCount, formatCounted } from "../../counts.ts";
import type { InputFacts, ReadRow } from "./rows.ts";
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
  readonly #shortened = new Map<number, OddCells>();
  readonly #formulas = new Map<number, OddCells>();
  /** Rows of several lines. */
  #tall = 0;
  #tallest = { line: 0, lines: 1 };

  /** @param formulaColumns those whose `="…"` is undone */
  constructor(columns: InputFacts["columns"], formulaColumns: readonly number[]) {
    this.#columns = columns;
    this.#formulaColumns = formulaColumns;
    this.#watched = columns.flatMap(({ target }, index) => (watchedKinds.has(target.kind) ? [index] : []));
  }

  add(row: ReadRow): void {
    if (row.lines !== undefined) {
      this.#tall += 1;
      if (row.lines > this.#tallest.lines) this.#tallest = { line: row.line, lines: row.lines };
    }
    if (row.kind === "rejected") return;
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
      ...this.#noteOnTallRows(),
    ];
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

const lostDigits = ": a spreadsheet has rounded the number; its digits are lost";
const oddFormula = "; imported as written, because the column's other cells are not numbers of this kind";
const doubt = " (if that is wrong, look for a stray quote there)";

function countOddity(oddities: Map<number, OddCells>, index: number, line: number, cell: string): void {
  const oddity = oddities.get(index);
  if (oddity) oddity.count += 1;
  else oddities.set(index, { count: 1, line, cell });
}
