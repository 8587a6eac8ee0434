/** Reading: a row's cells → the values of its contact: its own cells, and what a mapping makes of them. */
import type { ComputedColumn } from "./mapping-input.ts";
import type { Reading } from "./reading.ts";
import type { Row, Target } from "./rows.ts";
import type { Splitting } from "./system-table.ts";
import { createValueReader, isBlankText, splitNames, unwrapFormula } from "./values.ts";

type Cells = readonly (string | undefined)[];
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
export function rowValueReader(
  reading: Reading,
  readCell: ReadCell,
): (cells: Cells) => RowValues | { code: string; message: string } {
  const { computed } = reading;
  const replaced = new Set(computed.flatMap(({ replaces }) => replaces));
  const targets = reading.targets.map((target, index) => (replaced.has(index) ? ignored : target));
  const fields = targets.flatMap((target, index) =>
    target.kind === "field" ? [{ index, id: target.fieldId }] : [],
  );
  const lists = namesReader(reading, targets, "lists", readCell);
  const tags = namesReader(reading, targets, "tags", readCell);
  const ofCells = (cells: Cells): RowValues => ({
    fields: fieldsIn(cells, fields, readCell),
    lists: lists(cells),
    tags: tags(cells),
  });
  if (computed.length === 0) return ofCells;
  return (cells) => {
    const values = ofCells(cells);
    for (const column of computed) {
      const fault = addComputed(values, column, (index) => readCell(cells, index));
      if (fault !== undefined) return { code: "compute", message: `${column.entry.name}: ${fault}` };
    }
    return leavesOut(reading) ? { ...values, tags: meantTags(reading, values.tags) } : values;
  };
}

const ignored: Target = { kind: "ignore" };

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

/** Shared by all rows that have nothing to list: never changed. */
const none: never[] = [];

function namesReader(
  reading: Reading,
  targets: readonly Target[],
  kind: "lists" | "tags",
  readCell: ReadCell,
): (cells: Cells) => string[] {
  const indexes = targets.flatMap((target, index) => (target.kind === kind ? [index] : []));
  if (indexes.length === 0) return () => none;
  const splitting: Splitting = reading.system?.[kind]?.splitting ?? "csv";
  return (cells) => {
    const names = indexes.flatMap((index) => splitNames(readCell(cells, index) ?? "", splitting));
    return kind === "tags" ? meantTags(reading, names) : names;
  };
}

function leavesOut({ system }: Reading): RegExp | undefined {
  return system?.tags?.leavesOut;
}

function meantTags(reading: Reading, tags: string[]): string[] {
  const pattern = leavesOut(reading);
  return pattern ? tags.filter((name) => !pattern.test(name)) : tags;
}

/** Where several columns fill one field, the last one that is not blank wins. */
function fieldsIn(
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
