/** Reading: what the rows of a file say of consent, counted for the report. */
import type { ConsentColumn, ConsentRefusal, ConsentRule } from "./consent.ts";

/** What the rows of a file say of consent, counted for the report. */
export interface ConsentTally {
  readonly columns: readonly ColumnTally[];
  /** The first cells that are no word for yes or no. */
  readonly unclear: readonly { line: number; column: string; said: string }[];
  readonly unclearCount: number;
  /** Rows with at least one mark. */
  readonly marked: number;
  /** Those of them that are understood. */
  readonly clearlyMarked: number;
  add(line: number, refusals: readonly ConsentRefusal[] | undefined): void;
}

export interface ColumnTally {
  name: string;
  rule: ConsentRule;
  /** Rows that this column marks. */
  marked: number;
  /**
   * What they say, as it is written first, and how many say it. Of very many different ones (dates) the first
   * alone.
   */
  words: Map<string, { said: string; count: number }>;
}

const maxWordsCounted = 1000;
const maxUnclearCells = 5;

export function createConsentTally(columns: readonly ConsentColumn[]): ConsentTally {
  const tallies = new Map(
    columns.map(({ index, name, rule }): [number, ColumnTally] => [
      index,
      { name, rule, marked: 0, words: new Map() },
    ]),
  );
  const unclear: { line: number; column: string; said: string }[] = [];
  let unclearCount = 0;
  let marked = 0;
  let clearlyMarked = 0;
  return {
    columns: [...tallies.values()],
    unclear,
    get unclearCount() {
      return unclearCount;
    },
    get marked() {
      return marked;
    },
    get clearlyMarked() {
      return clearlyMarked;
    },
    add(line, refusals) {
      if (!refusals || refusals.length === 0) return;
      marked++;
      if (refusals.some(({ isUnclear }) => !isUnclear)) clearlyMarked++;
      for (const { index, cell: cellText, isUnclear } of refusals) {
        const tally = tallies.get(index)!;
        tally.marked++;
        const folded = cellText.toLowerCase();
        const word = tally.words.get(folded);
        if (word) word.count++;
        else if (tally.words.size < maxWordsCounted) tally.words.set(folded, { said: cellText, count: 1 });
        if (isUnclear && unclearCount++ < maxUnclearCells)
          unclear.push({ line, column: tally.name, said: cellText });
      }
    },
  };
}
