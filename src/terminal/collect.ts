/** Results handed over in place of being written: how the results of several runs of a command become one. */
import { isObject } from "../is-object.ts";

/** Several names share one cell, written so that a name may hold commas (`joinNames`). */
export type CellValue = string | number | boolean | readonly string[] | undefined | null;

/** What a column is, without the way to its values. */
export interface ColumnHead {
  /** The header, and what `--columns` takes. */
  name: string;
  /** The header of a table for people, where the name is one of the API; `--columns` takes it too. */
  title?: string;
  /** What people copy from a table, such as a key: it is never cut. */
  isWhole?: boolean;
  /** Left out first when the table is too wide, such as an id. */
  isAside?: boolean;
  /** RFC 3339 in data, short in a table: the day, or with `minute` also the time of day. */
  isTime?: boolean | "minute";
}

export interface CollectedRow {
  /** What a JSON format shows. */
  object: unknown;
  /** What the other formats show, by the name of the column. */
  cells: ReadonlyMap<string, CellValue>;
}

/** Takes one row; the columns are the same for all rows that are presented together. */
export type Collect = (row: CollectedRow, columns: readonly ColumnHead[]) => void;

/** @returns how many there were */
export async function collectRows<T>(
  collect: Collect,
  columns: readonly ColumnHead[],
  items: Iterable<T> | AsyncIterable<T>,
  toRow: (item: T) => CollectedRow,
): Promise<number> {
  let count = 0;
  for await (const item of items) {
    collect(toRow(item), columns);
    count += 1;
  }
  return count;
}

/** A value that is no record: each of its objects is a row of its members, anything else is one cell. */
export function collectValue(collect: Collect, value: unknown): void {
  for (const each of Array.isArray(value) ? value : [value]) {
    const members = isObject(each) ? each : { result: each };
    const cells = new Map(Object.entries(members).map(([name, member]) => [name, toCell(member)]));
    collect(
      { object: members, cells },
      Object.keys(members).map((name) => ({ name })),
    );
  }
}

function toCell(value: unknown): CellValue {
  if (typeof value === "object" && value !== null) return JSON.stringify(value);
  return value as CellValue;
}
