/** Reading: the columns of a file as a mapping makes them, each with its cells before and after. */
import type { Cells } from "../../items.ts";
import type { CompiledEntry } from "../compute/compile.ts";
import type { Computed } from "../compute/expression.ts";
import type { Reading } from "../reading.ts";
import { cellReader } from "../row-values.ts";

export interface MadeColumn {
  name: string;
  /** In the file; absent for what a mapping adds. */
  index?: number;
  entry?: CompiledEntry["entry"];
  before(cells: Cells): string | undefined;
  /** @throws Error with what is wrong with the value */
  after(cells: Cells): Computed;
}

export function madeColumns(
  reading: Reading,
  entries: readonly CompiledEntry[],
  names: readonly string[],
): MadeColumn[] {
  const readCell = cellReader(reading);
  const computeWith =
    ({ compute }: CompiledEntry) =>
    (cells: Cells) =>
      compute((index) => readCell(cells, index));
  const ofFile = names.map((name, index): MadeColumn => {
    const made = entries.findLast(({ replaces }) => replaces.includes(index));
    const before = (cells: Cells) => readCell(cells, index);
    return { name, index, entry: made?.entry, before, after: made ? computeWith(made) : before };
  });
  const added = entries
    .filter(({ replaces }) => replaces.length === 0)
    .map((made): MadeColumn => {
      const { entry } = made;
      return { name: entry.name, entry, before: () => undefined, after: computeWith(made) };
    });
  return [...ofFile, ...added];
}

/** A value as one text, edges trimmed. */
export function toText(value: Computed): string {
  return (typeof value === "object" ? value.join(", ") : (value ?? "")).trim();
}
