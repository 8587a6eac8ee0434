/** Reading: what the rows of a file say of consent, counted for the report. */
import type { ConsentColumn, ConsentRefusal, ConsentRule } from "./consent.ts";

/** A cell that is no word for yes or no. */
export interface UnclearCell {
  line: number;
  column: string;
  said: string;
}

export interface ColumnTally {
  name: string;
  rule: ConsentRule;
  /** Rows that this column marks. */
  marked: number;
  /**
   * What they say, as it is written first, and how many say it. Of
   * very many different ones (dates) the first alone.
   */
  words: Map<string, { said: string; count: number }>;
}

const maxWordsCounted = 1000;
const maxUnclearCells = 5;

/** What the rows of a file say of consent, counted for the report. */
export class ConsentTally {
  readonly #tallies: ReadonlyMap<number, ColumnTally>;
  readonly #unclear: UnclearCell[] = [];
  #unclearCount = 0;
  #marked = 0;
  #clearlyMarked = 0;

  constructor(columns: readonly ConsentColumn[]) {
    this.#tallies = new Map(
      columns.map(({ index, name, rule }) => [index, { name, rule, marked: 0, words: new Map() }]),
    );
  }

  get columns(): readonly ColumnTally[] {
    return [...this.#tallies.values()];
  }

  /** The first cells that are no word for yes or no. */
  get unclear(): readonly UnclearCell[] {
    return this.#unclear;
  }

  get unclearCount(): number {
    return this.#unclearCount;
  }

  /** Rows with at least one mark. */
  get marked(): number {
    return this.#marked;
  }

  /** Those of them that are understood. */
  get clearlyMarked(): number {
    return this.#clearlyMarked;
  }

  /** Counts a row. */
  add(line: number, refusals: readonly ConsentRefusal[] | undefined): void {
    if (!refusals || refusals.length === 0) return;
    this.#marked++;
    if (refusals.some(({ isUnclear }) => !isUnclear)) this.#clearlyMarked++;
    for (const { index, cell, isUnclear } of refusals) {
      const tally = this.#tallies.get(index)!;
      tally.marked++;
      countWord(tally.words, cell);
      if (isUnclear) this.#keepUnclear({ line, column: tally.name, said: cell });
    }
  }

  #keepUnclear(cell: UnclearCell): void {
    if (this.#unclearCount++ < maxUnclearCells) this.#unclear.push(cell);
  }
}

function countWord(words: ColumnTally["words"], said: string): void {
  const folded = said.toLowerCase();
  const word = words.get(folded);
  if (word) word.count++;
  else if (words.size < maxWordsCounted) words.set(folded, { said, count: 1 });
}
