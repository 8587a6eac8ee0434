/** One result after the other as text: JSON, csv, tsv, ids. Pure. */
import { formatCsvLine, formatTsvLine, joinNames, toSafeCell } from "../delimited-lines.ts";
import type { OutputOptions } from "./format.ts";

/** Several names share one cell, written so that a name may hold commas (`joinNames`). */
export type CellValue = string | number | boolean | readonly string[] | undefined | null;

interface RowColumn<T> {
  name: string;
  value(item: T): CellValue;
}

/** How rows are written one by one. */
export interface RowFormat<T> {
  opening: string;
  row(item: T, index: number): string;
  closing?(count: number): string;
}

export function createRowFormat<T>(
  output: OutputOptions,
  columns: readonly RowColumn<T>[],
  toId: (item: T) => string,
): RowFormat<T> {
  switch (output.format) {
    case "json":
      return {
        opening: "",
        row(item, index) {
          const text = JSON.stringify(toObject(output, columns, item), null, 2).replaceAll("\n", "\n  ");
          return `${index === 0 ? "[\n" : ",\n"}  ${text}`;
        },
        closing: (count) => (count === 0 ? "[]\n" : "\n]\n"),
      };
    case "ndjson":
      return { opening: "", row: (item) => `${JSON.stringify(toObject(output, columns, item))}\n` };
    case "csv":
    case "tsv": {
      const { format, safeCells } = output;
      const join = (cells: string[]) => (format === "csv" ? formatCsvLine(cells) : formatTsvLine(cells));
      const line = (cells: string[]) => `${join(safeCells ? cells.map(toSafeCell) : cells)}\n`;
      return {
        opening: line(columns.map(({ name }) => name)),
        row: (item) => line(columns.map((column) => formatCell(column, item))),
      };
    }
    default:
      return { opening: "", row: (item) => `${toId(item)}\n` };
  }
}

/**
 * The service's own object, or with `--columns` these columns: names as arrays, what is not there as null.
 */
export function toObject<T>(output: OutputOptions, columns: readonly RowColumn<T>[], item: T): unknown {
  if (!output.columns) return item;
  return Object.fromEntries(columns.map((column) => [column.name, column.value(item) ?? null]));
}

export function formatCell<T>(column: RowColumn<T>, item: T): string {
  const value = column.value(item);
  if (value === undefined || value === null) return "";
  return typeof value === "object" ? joinNames(value) : String(value);
}
