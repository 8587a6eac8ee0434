/** Reading: what the values of columns look like over the whole file, for questions about them. */
import { createDateReader } from "./compute/dates.ts";
import type { MappingEntry } from "./compute/entry.ts";
import type { ReadRow } from "./rows.ts";

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
  const tallies = columns.map((index) => ({
    index,
    readers,
    separator: undefined as string | undefined,
    values: new Map<string, number>(),
    rows: 0,
  }));
  for await (const rows of batches) {
    for (const { cells } of rows) {
      for (const tally of tallies) {
        const cell = cells[tally.index]?.trim() ?? "";
        if (cell === "") continue;
        tally.rows += 1;
        if (tally.values.size <= maxTableValues) tally.values.set(cell, (tally.values.get(cell) ?? 0) + 1);
        tally.separator ??= separators.find((each) => cell.includes(each));
        tally.readers = tally.readers.filter(({ read }) => read(cell) !== undefined);
      }
    }
  }
  return new Map(
    tallies.map(({ index, readers: fitting, separator, values, rows }) => {
      const isTable = values.size <= maxTableValues && rows >= 2 * values.size;
      const shape: ColumnShape = {
        formats: rows > 0 ? widest(fitting.map(({ format }) => format)) : [],
        separator,
        samples: [...values.keys()].slice(0, shownSamples),
        ...(isTable && { values: [...values.keys()] }),
      };
      return [index, shape];
    }),
  );
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
  const { compileEntries } = await import("./compute/compile.ts");
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
