/** Reading: a row's cells → the values of its contact: its own cells, and what a mapping makes of them. */
import type { Cells } from "../items.ts";
import type { ComputedColumn } from "./columns/mapping-input.ts";
import type { Reading } from "./reading.ts";
import type { Reason, Row } from "./rows.ts";
import type { Splitting } from "./system-table.ts";
import { createValueReader, isBlankText, splitNames, unwrapFormula } from "./values.ts";

type ReadCell = (cells: Cells, index: number) => string | undefined;
type RowValues = Pick<Row, "fields" | "lists" | "tags">;

/** A cell without what only a spreadsheet needed. */
export function cellReader({ system, table: { formulaColumns, hasSafeCells } }: Reading): ReadCell {
  const plainCell = createValueReader(hasSafeCells, system?.hasApostrophes ?? false);
  const formulas = new Set(formulaColumns);
  return (cells, index) => {
    const cell = cells[index];
    if (cell === undefined) return undefined;
    return plainCell((formulas.has(index) ? unwrapFormula(cell) : undefined) ?? cell);
  };
}

/** The values of a row; the reason to reject it where one of them cannot be made. */
export function rowValueReader(reading: Reading, readCell: ReadCell): (cells: Cells) => RowValues | Reason {
  const { computed, system } = reading;
  const replaced = new Set(computed.flatMap(({ replaces }) => replaces));
  const columns = [...reading.targets.entries()].filter(([index]) => !replaced.has(index));
  const fields = columns.flatMap(([index, target]) =>
    target.kind === "field" ? [{ index, id: target.fieldId }] : [],
  );
  const findIndexes = (kind: "lists" | "tags") =>
    columns.flatMap(([index, target]) => (target.kind === kind ? [index] : []));
  const lists = findIndexes("lists");
  const tags = findIndexes("tags");
  const readNames = (cells: Cells, indexes: number[], splitting: Splitting = "csv") =>
    indexes.length === 0
      ? none
      : indexes.flatMap((index) => splitNames(readCell(cells, index) ?? "", splitting));
  return (cells) => {
    const values: RowValues = {
      fields: readFields(cells, fields, readCell),
      lists: readNames(cells, lists, system?.lists?.splitting),
      tags: readNames(cells, tags, system?.tags?.splitting),
    };
    for (const column of computed) {
      const fault = addComputed(values, column, (index) => readCell(cells, index));
      if (fault !== undefined) return { code: "compute", message: `${column.entry.name}: ${fault}` };
    }
    const systemTags = system?.tags?.leavesOut;
    if (systemTags) values.tags = values.tags.filter((name) => !systemTags.test(name));
    return values;
  };
}

/** Shared by all rows that have nothing to list: never changed. */
const none: never[] = [];

/** @returns what is wrong with the value */
function addComputed(
  values: RowValues,
  { target, compute }: ComputedColumn,
  cellAt: (index: number) => string | undefined,
): string | undefined {
  let made: ReturnType<typeof compute>;
  try {
    made = compute(cellAt);
  } catch (error) {
    return (error as Error).message;
  }
  if (made === undefined) return undefined;
  if (target.kind === "lists" || target.kind === "tags") {
    values[target.kind] = [...new Set([...values[target.kind], ...(made as readonly string[])])];
  } else if (target.kind === "field") addField(values.fields, target.fieldId, made as string);
  return undefined;
}

/** Where several columns fill one field, the last one that is not blank wins. */
function readFields(
  cells: Cells,
  fields: { index: number; id: string }[],
  readCell: ReadCell,
): Map<string, string> {
  const values = new Map<string, string>();
  for (const { index, id } of fields) {
    const cell = readCell(cells, index);
    if (cell !== undefined) addField(values, id, cell);
  }
  return values;
}

function addField(values: Map<string, string>, id: string, cell: string): void {
  const value = isBlankText(cell) ? "" : cell;
  if (value !== "" || !values.has(id)) values.set(id, value);
}
