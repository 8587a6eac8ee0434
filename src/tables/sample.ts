/** Reading: what the first rows of a file tell of its columns. Pure. */
import type { Cells } from "./cells.ts";
import { isBlankText, unwrapFormula } from "./values.ts";

/** Cells of the first rows, as the file has them. */
export type Sample = readonly Cells[];

export const maxSampleRows = 1000;

export function holdsValues(sample: Sample, index: number): boolean {
  return sample.some((cells) => !isBlankText(cells[index] ?? ""));
}

/** Whether every cell of a column that is not blank is written as `="…"`. */
export function hasOnlyFormulas(sample: Sample, index: number): boolean {
  const filled = sample.map((cells) => cells[index] ?? "").filter((cell) => !isBlankText(cell));
  return filled.length > 0 && filled.every((cell) => unwrapFormula(cell) !== undefined);
}

const address = /^\s*(?:[^<>]*<)?[^\s@<>]+@[^\s@<>]+\.[^\s@<>]+>?\s*$/;

export function isAddress(cell: string): boolean {
  return address.test(cell);
}

/** Of these columns the one in which most cells hold an e-mail address; undefined when none does. */
export function findAddressColumn(sample: Sample, indexes: readonly number[]): number | undefined {
  let best: number | undefined;
  let maxCount = 0;
  for (const index of indexes) {
    const count = sample.filter((cells) => isAddress(cells[index] ?? "")).length;
    if (count > maxCount) {
      best = index;
      maxCount = count;
    }
  }
  return best;
}
