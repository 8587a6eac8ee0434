/** Reading: a row's cells → the values of its contact. */
import { trimEdges } from "../api/key-spelling.ts";
import type { Cells } from "./cells.ts";
import type { Reading } from "./reading.ts";
import type { Row } from "./rows.ts";
import type { Splitting } from "./system-table.ts";
import { findUnknown } from "./unknown-cells.ts";
import { createValueReader, isBlankText, splitNames, unwrapFormula } from "./values.ts";

type ReadCell = (cells: Cells, index: number) => string | undefined;
type RowValues = Pick<Row, "fields" | "lists" | "tags">;

/** A cell without what only a spreadsheet needed; undefined where its value is not known. */
export function cellReader({ system, table: { formulaColumns, hasSafeCells } }: Reading): ReadCell {
  const plainCell = createValueReader(hasSafeCells, system?.hasApostrophes ?? false);
  const formulas = new Set(formulaColumns);
  return (cells, index) => {
    const cell = cells[index];
    if (cell === undefined || findUnknown(cell) !== undefined) return undefined;
    return plainCell((formulas.has(index) ? unwrapFormula(cell) : undefined) ?? cell);
  };
}

export function rowValueReader(reading: Reading, readCell: ReadCell): (cells: Cells) => RowValues {
  const { constants, system } = reading;
  const columns = [...reading.targets.entries()];
  const fields = columns.flatMap(([index, target]) =>
    target.kind === "field" ? [{ index, id: target.fieldId }] : [],
  );
  const findNames = (kind: "lists" | "tags") =>
    columns.flatMap(([index, target]) => (target.kind === kind ? [{ index, split: target.split }] : []));
  const lists = findNames("lists");
  const tags = findNames("tags");
  const readNames = (cells: Cells, named: typeof lists, splitting: Splitting = "csv") =>
    named.length === 0
      ? none
      : named.flatMap(({ index, split }) => {
          const cell = readCell(cells, index) ?? "";
          return split === undefined ? splitNames(cell, splitting) : splitAt(cell, split);
        });
  return (cells) => {
    const values: RowValues = {
      fields: readFields(cells, fields, readCell),
      lists: readNames(cells, lists, system?.lists?.splitting),
      tags: readNames(cells, tags, system?.tags?.splitting),
    };
    for (const { fieldId, value } of constants) addField(values.fields, fieldId, value);
    const systemTags = system?.tags?.leavesOut;
    if (systemTags) values.tags = values.tags.filter((name) => !systemTags.test(name));
    return values;
  };
}

/** Shared by all rows that have nothing to list: never changed. */
const none: never[] = [];

function splitAt(cell: string, separator: string): string[] {
  return cell
    .split(separator)
    .map(trimEdges)
    .filter((part) => part !== "");
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
