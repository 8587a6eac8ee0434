/**
 * Reading: the column by which a rejects file says which cells its rows lack. CSV alone cannot: a cell that
 * is missing keeps the contact's value, and a blank one clears it with `--blank clear`.
 */

import { joinNames } from "../delimited-lines.ts";
import type { Cells } from "./cells.ts";
import { foldName } from "./names.ts";
import { isBlankText, splitNames } from "./values.ts";

export const missingColumn = "ecm_missing";
/** Of a rejects file: which row it was, and what was wrong with it. */
export const rejectColumns: readonly string[] = ["ecm_line", "ecm_error", "ecm_message"];

/** Where a file says which cells are missing, and what its columns are called. */
export interface MissingCells {
  column: number;
  /** Folded. */
  names: string[];
}

/**
 * Whoever fixes a rejects file may take the other columns of ours out of it.
 * @param names of the columns, as the file has them
 */
export function findMissingCells(names: readonly string[]): MissingCells | undefined {
  const folded = names.map(foldName);
  const column = folded.indexOf(missingColumn);
  return column === -1 ? undefined : { column, names: folded };
}

/** The cells of a row without those that it says are missing, unless they were filled in since. */
export function removeMissing(cells: Cells, { column, names }: MissingCells): Cells {
  const missingText = cells[column] ?? "";
  if (isBlankText(missingText)) return cells;
  const missing = new Set(splitNames(missingText, "csv").map(foldName));
  return cells.map((cell, index) =>
    missing.has(names[index] ?? "") && isBlankText(cell ?? "") ? undefined : cell,
  );
}

/** What the column says of a row: the names of the columns that it has no cell in. */
export function listMissingNames(
  cells: Cells,
  columns: readonly { name: string }[],
  places: readonly number[],
): string {
  const missing = places.filter((index) => cells[index] === undefined).map((index) => columns[index]!.name);
  return joinNames(missing.filter((name) => foldName(name) !== ""));
}
