/**
 * Columns for what the service tells without a promise: whatever a member is, it can be shown, and none is
 * left out of one record.
 */
import { listMembers, readMember, textMember } from "../../service/records.ts";
import type { Column } from "../../terminal/present.ts";

type Cell = string | number | boolean | undefined;

/** A plain value as it is; anything else as JSON. */
export function toCell(value: unknown): Cell {
  if (value === undefined || value === null) return undefined;
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") return value;
  return JSON.stringify(value);
}

/** @param path where it stands in the record; default: the member of the column's name */
export function memberColumn(
  name: string,
  more: Omit<Partial<Column<unknown>>, "name" | "value"> = {},
  path: readonly string[] = [name],
): Column<unknown> {
  return { name, value: (record) => toCell(readMember(record, ...path)), ...more };
}

/**
 * All columns that are known, and one for each member besides.
 * @param known members that columns show already
 */
export function everyColumn(
  columns: readonly Column<unknown>[],
  record: unknown,
  known: readonly string[],
): Column<unknown>[] {
  const further = listMembers(record).filter(([name]) => !known.includes(name));
  return [
    ...columns.map((column) => ({ ...column, optional: false })),
    ...further.map(([name]) => memberColumn(name)),
  ];
}

export function recordId(record: unknown): string {
  return textMember(record, "_id") ?? "";
}
