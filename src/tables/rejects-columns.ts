/** Reading: the columns that a rejects file adds, by which it is read again as its input would be. */
import { foldName } from "../api/names.ts";
import { joinNames } from "../delimited-lines.ts";
import { type Cells, isBlankText, splitNames } from "./cells.ts";

const reason = ["ecm_line", "ecm_error", "ecm_message"];
const missing = "ecm_missing";
const notSubscribed = "ecm_not_subscribed";
const all: readonly string[] = [...reason, missing, notSubscribed];

/** What a rejects file calls the columns that it adds. */
export const rejectsColumns = {
  /** Which row it was, and what was wrong with it. */
  reason,
  /**
   * Which cells a row lacks. CSV alone cannot say it: a cell that is missing keeps the contact's value, and a
   * blank one clears it with `--blank clear`.
   */
  missing,
  /**
   * That its input marks a row as not subscribed. The row's own cells may not: which columns speak of consent
   * shows in all rows of a file, and another row may have the mark.
   */
  notSubscribed,

  /** Whether a rejects file added a column of this name. */
  has(name: string): boolean {
    return all.includes(foldName(name));
  },

  /** The cell of `missing`: the names of the columns that a row has no cell in. */
  listMissing(cells: Cells, columns: readonly { name: string }[], places: readonly number[]): string {
    const names = places.filter((index) => cells[index] === undefined).map((index) => columns[index]!.name);
    return joinNames(names.filter((name) => foldName(name) !== ""));
  },
} as const;

/** Where a file says which cells are missing, and what its columns are called. */
interface MissingCells {
  column: number;
  /** Folded. */
  names: string[];
}

/**
 * A person who fixes a rejects file may take the other columns of ours out of it.
 * @param names of the columns, as the file has them
 */
export function findMissingCells(names: readonly string[]): MissingCells | undefined {
  const folded = names.map(foldName);
  const column = folded.indexOf(rejectsColumns.missing);
  return column === -1 ? undefined : { column, names: folded };
}

/** The cells of a row without those that it says are missing, unless they were filled in since. */
export function removeMissing(
  cells: (string | undefined)[],
  { column, names }: MissingCells,
): (string | undefined)[] {
  const missingText = cells[column] ?? "";
  if (isBlankText(missingText)) return cells;
  const named = new Set(splitNames(missingText).map(foldName));
  return cells.map((cell, index) =>
    named.has(names[index] ?? "") && isBlankText(cell ?? "") ? undefined : cell,
  );
}

/** Before a mark that was not understood: it keeps from creating, and unsubscribes nobody. */
export const unclearSign = "? ";

/** @returns whether the cell marks its row; `unclear` where the mark was not understood */
export function readMarkCell(cell: string): "none" | "clear" | "unclear" {
  if (cell.trim() === "") return "none";
  return cell.trim().startsWith(unclearSign.trim()) ? "unclear" : "clear";
}
