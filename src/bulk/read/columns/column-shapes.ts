/** Reading: what the values of columns look like over the whole file, for questions about them. */
import { createDateReader } from "../compute/dates.ts";
import type { MappingEntry } from "../compute/entry.ts";
import type { ReadRow } from "../rows.ts";

export interface ColumnShape {
  /** Formats of a date that fit every cell with a value. */
  formats: string[];
  /** Seen within cells, between several values. */
  separator?: string;
  /** All values, where they are few and repeat. */
  values?: string[];
  /** Some values that differ. */
  samples: string[];
}

export const maxTableValues = 20;
const shownSamples = 3;
/** Day first before month first: most of the world writes it so. */
const likelyFormats = [
  "DD.MM.YYYY",
  "D.M.YYYY",
  "DD/MM/YYYY",
  "D/M/YYYY",
  "MM/DD/YYYY",
  "M/D/YYYY",
  "DD-MM-YYYY",
  "YYYY/MM/DD",
  "YYYY.MM.DD",
  "D MMM YYYY",
  "D MMMM YYYY",
  "MMM D, YYYY",
  "DD.MM.YYYY HH:mm",
  "YYYY-MM-DD HH:mm:ss",
  "YYYY-MM-DD HH:mm",
  "DD.MM.YY",
  "M/D/YY",
];
const separators = [";", "|"];

/** Reads all rows once. @param columns indexes */
export async function columnShapes(
  columns: readonly number[],
  batches: AsyncIterable<readonly ReadRow[]>,
): Promise<Map<number, ColumnShape>> {
  const readers = likelyFormats.map((format) => ({ format, read: createDateReader([format]) }));
  const tallies = new Map(columns.map((index) => [index, new ShapeTally(readers)]));
  for await (const rows of batches) {
    for (const { cells } of rows) {
      for (const [index, tally] of tallies) tally.add(cells[index]?.trim() ?? "");
    }
  }
  return new Map([...tallies].map(([index, tally]) => [index, tally.shape()]));
}

interface FormatReader {
  format: string;
  read: ReturnType<typeof createDateReader>;
}

/** What the cells of one column have shown so far. */
class ShapeTally {
  /** Those that have read every cell. */
  #readers: readonly FormatReader[];
  #separator: string | undefined;
  /** As many as a table may have, and one more. */
  readonly #values = new Set<string>();
  #rows = 0;

  constructor(readers: readonly FormatReader[]) {
    this.#readers = readers;
  }

  add(cell: string): void {
    if (cell === "") return;
    this.#rows += 1;
    if (this.#values.size <= maxTableValues) this.#values.add(cell);
    this.#separator ??= separators.find((each) => cell.includes(each));
    this.#readers = this.#readers.filter(({ read }) => read(cell) !== undefined);
  }

  shape(): ColumnShape {
    const values = [...this.#values];
    const isTable = values.length <= maxTableValues && this.#rows >= 2 * values.length;
    return {
      formats: this.#rows > 0 ? widest(this.#readers.map(({ format }) => format)) : [],
      separator: this.#separator,
      samples: values.slice(0, shownSamples),
      ...(isTable && { values }),
    };
  }
}

/** `D.M.YYYY` takes all that `DD.MM.YYYY` takes: one of the two is enough to choose from. */
function widest(formats: readonly string[]): string[] {
  const loose = (format: string) => format.replace(/DD/, "D").replace(/MM(?!M)/, "M");
  return formats.filter(
    (format, place) => formats.findIndex((other) => loose(other) === loose(format)) === place,
  );
}

/** Values before and after an entry of their column. */
export async function entryExamples(
  entry: MappingEntry,
  samples: readonly string[],
): Promise<[before: string, after: string][]> {
  const { compileEntries } = await import("../compute/compile.ts");
  const [compiled] = await compileEntries([entry], {
    names: [entry.name],
    isTable: false,
    splitting: () => "csv",
  });
  return samples.map((sample) => {
    const made = compiled!.compute(() => sample);
    return [sample, typeof made === "object" ? made.join(", ") : (made ?? "")];
  });
}
