/** Reading: what the first rows of a file tell of its columns. Pure. */
import { isBlankText, textOfFormula } from "./values.ts";

/** Cells of the first rows, as the file has them. */
export type Sample = readonly (readonly string[])[];

export const sampledRows = 1000;

export function holdsValues(sample: Sample, index: number): boolean {
  return sample.some((cells) => !isBlankText(cells[index] ?? ""));
}

/** Whether every cell of a column that is not blank is written as `="…"`. */
export function isOfFormulas(sample: Sample, index: number): boolean {
  const filled = sample.map((cells) => cells[index] ?? "").filter((cell) => !isBlankText(cell));
  return filled.length > 0 && filled.every((cell) => textOfFormula(cell) !== undefined);
}

const address = /^\s*(?:[^<>]*<)?[^\s@<>]+@[^\s@<>]+\.[^\s@<>]+>?\s*$/;

/** Of these columns the one in which most cells hold an e-mail address; undefined when none does. */
export function columnOfAddresses(sample: Sample, indexes: readonly number[]): number | undefined {
  let best: number | undefined;
  let most = 0;
  for (const index of indexes) {
    const count = sample.filter((cells) => address.test(cells[index] ?? "")).length;
    if (count > most) {
      best = index;
      most = count;
    }
  }
  return best;
}
