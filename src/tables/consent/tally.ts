/** Reading: what the rows of a file say of consent, counted for the report. */
import type { ConsentColumn, ConsentRefusal, ConsentRule } from "./cells.ts";

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
  /** One for each consent column. */
  readonly columns: readonly ColumnTally[];
  /** The first cells that are no word for yes or no. */
  readonly unclear: UnclearCell[] = [];
  unclearCount = 0;
  /** Rows with a mark that is understood. */
  clearlyMarked = 0;
  readonly #byIndex: ReadonlyMap<number, ColumnTally>;

  constructor(columns: readonly ConsentColumn[]) {
    this.columns = columns.map(({ name, rule }) => ({ name, rule, marked: 0, words: new Map() }));
    this.#byIndex = new Map(columns.map(({ index }, place) => [index, this.columns[place]!]));
  }

  /** Counts a row. */
  add(line: number, refusals: readonly ConsentRefusal[] = []): void {
    if (refusals.some(({ isUnclear }) => !isUnclear)) this.clearlyMarked += 1;
    for (const { index, cell, isUnclear } of refusals) {
      const column = this.#byIndex.get(index)!;
      column.marked += 1;
      countWord(column.words, cell);
      if (isUnclear) this.#keepUnclear({ line, column: column.name, said: cell });
    }
  }

  #keepUnclear(cell: UnclearCell): void {
    this.unclearCount += 1;
    if (this.unclear.length < maxUnclearCells) this.unclear.push(cell);
  }
}

function countWord(words: ColumnTally["words"], said: string): void {
  const folded = said.toLowerCase();
  const word = words.get(folded);
  if (word) word.count++;
  else if (words.size < maxWordsCounted) words.set(folded, { said, count: 1 });
}
