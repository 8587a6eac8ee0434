/** Reading: what the cells of a row say of consent. */
import { readMarkCell, unclearSign } from "../rejects-columns.ts";
import type { Mark } from "../rows.ts";
import {
  type ConsentColumn,
  type ConsentRefusal,
  type ConsentRule,
  describeRefusals,
  findRefusal,
} from "./cells.ts";

export function toMark(refusals: readonly ConsentRefusal[], consent: readonly ConsentColumn[]): Mark {
  return {
    notSubscribed: describeRefusals(refusals, consent),
    isMarkClear: refusals.some(({ isUnclear }) => !isUnclear),
  };
}

/**
 * Where a cell holds a delimiter without quotes, all cells behind it are further to the right. In a column in
 * which any value is a refusal, nobody knows then whether the value is this column's.
 */
export function findRefusalWithin(
  column: ConsentColumn,
  cellAt: (index: number) => string | undefined,
  { shifted, isMoved }: { shifted: number; isMoved: boolean },
): ConsentRefusal | undefined {
  const isDoubtful = isMoved && (column.rule === "marked" || column.rule === "evidence");
  let found: ConsentRefusal | undefined;
  for (let by = 0; by <= shifted; by++) {
    const refusal = findRefusal(column, cellAt(column.index + by));
    if (refusal && isDoubtful) return { ...refusal, isUnclear: true };
    if (refusal && !refusal.isUnclear) return refusal;
    found ??= refusal;
  }
  return found;
}

/** What a rejects file says of a marked row. */
export function formatMark({ notSubscribed, isMarkClear }: Mark): string {
  return isMarkClear || readMarkCell(notSubscribed) === "unclear"
    ? notSubscribed
    : unclearSign + notSubscribed;
}

/**
 * The mark of a row that is wrong by itself, where it is not in its cells for all to see.
 * @param other what other rows say of the addresses in its cells
 */
export function findHiddenMark(
  own: (Mark & { refusals: readonly ConsentRefusal[] }) | undefined,
  other: Mark | undefined,
  columns: readonly ConsentColumn[],
): string | undefined {
  if (other) return formatMark(other);
  const isHidden = own?.refusals.some(
    ({ index, cell, isUnknown }) =>
      isUnknown || cell === "" || columns.some((each) => each.index === index && isHiddenIn(each)),
  );
  return own && isHidden ? formatMark(own) : undefined;
}

/** A column that is known by its values, in whatever rows they are. */
function isHiddenIn({ rule }: ConsentColumn): boolean {
  return rule === "status" || rule === "marked";
}

/** A cell that is no word for yes or no. */
export interface UnclearCell {
  line: number;
  column: string;
  said: string;
}

export interface ColumnTally {
  name: string;
  rule: ConsentRule;
  /** Rows that this column marks; those among them whose cell is not understood. */
  marked: number;
  unclear: number;
  /**
   * What they say, as it is written first, and how many say it. Of
   * very many different ones (dates) the first alone.
   */
  words: Map<string, SaidWord>;
}

interface SaidWord {
  said: string;
  count: number;
  isUnclear: boolean;
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
    this.columns = columns.map(({ name, rule }) => ({ name, rule, marked: 0, unclear: 0, words: new Map() }));
    this.#byIndex = new Map(columns.map(({ index }, place) => [index, this.columns[place]!]));
  }

  /** Counts a row. */
  add(line: number, refusals: readonly ConsentRefusal[] = []): void {
    if (refusals.some(({ isUnclear }) => !isUnclear)) this.clearlyMarked += 1;
    for (const { index, cell, isUnclear = false } of refusals) {
      const column = this.#byIndex.get(index)!;
      column.marked += 1;
      countWord(column.words, cell, isUnclear);
      if (!isUnclear) continue;
      column.unclear += 1;
      this.#keepUnclear({ line, column: column.name, said: cell });
    }
  }

  #keepUnclear(cell: UnclearCell): void {
    this.unclearCount += 1;
    if (this.unclear.length < maxUnclearCells) this.unclear.push(cell);
  }
}

function countWord(words: ColumnTally["words"], said: string, isUnclear: boolean): void {
  const folded = said.toLowerCase();
  const word = words.get(folded);
  if (word) word.count++;
  else if (words.size < maxWordsCounted) words.set(folded, { said, count: 1, isUnclear });
}
