/** Reading: the rows of one sheet of a workbook, unpacked once. */
import { usageError } from "../../errors.ts";
import { toUnknownCell } from "../cells.ts";
import type { TableRecord } from "../csv.ts";
import type { InputFile, Inspection } from "../source.ts";
import { type ReadRecords, takeRecords } from "../table.ts";
import type { CellReader } from "./cell-text.ts";
import { type Archive, damagedError, toCellText, type XmlElement } from "./parts.ts";

export interface SheetRows {
  /** Each has its number of the sheet. */
  records: ReadRecords;
  /** Rows that the workbook hides; they are read like the others. */
  hiddenRows: number;
  /** Each of their cells has their value. */
  mergedRanges: number;
}

/** A contact has some dozens of columns; a workbook can have 16,384. */
const maxColumns = 1024;
const noResult = "(a formula without a saved result)";

/** How the cells of a sheet become texts. */
interface CellRules {
  formatCell: CellReader;
  /** A formula can have the result 0: its program has computed it. */
  isZeroResult: boolean;
}

export async function unpackSheet(
  archive: Archive,
  path: string,
  inspection: Inspection,
  rules: CellRules,
): Promise<SheetRows> {
  const { file } = inspection;
  const ranges: MergedRange[] = [];
  let hiddenRows = 0;
  /** No range gives a value to columns in which no cell has one: a title is often merged far to the right. */
  let width = 0;
  let lastLine = 0;
  const readRow = (element: XmlElement) => {
    const row = placeCells(element, lastLine + 1, file);
    lastLine = row.line;
    width = Math.max(width, ...row.cells.filter(hasContent).map(({ column }) => column + 1));
    const record = toRecord(row, rules, file);
    if (record.cells.length > 0 && isHidden(element)) hiddenRows += 1;
    return record;
  };
  async function* toRecords() {
    for await (const elements of archive.stream(path, "row", "mergeCell")) {
      ranges.push(...elements.flatMap(parseRange));
      const records = elements.filter(({ name }) => name === "row").map(readRow);
      yield records.filter(({ cells }) => cells.length > 0);
    }
  }
  const readRecords = await takeRecords(inspection, "sheet", toRecords());
  // A sheet names its merged ranges behind its rows.
  async function* records() {
    const merge = createMerger(ranges, width);
    for await (const batch of readRecords()) {
      for (const record of batch) merge(record);
      yield batch;
    }
  }
  return { records, hiddenRows, mergedRanges: ranges.length };
}

interface PlacedCell {
  column: number;
  element: XmlElement;
}

interface PlacedRow {
  line: number;
  cells: PlacedCell[];
}

/**
 * Where a row and its cells are: where they say, or behind the one before.
 * @throws UsageError where they contradict each other
 */
function placeCells({ attributes, children }: XmlElement, nextLine: number, file: InputFile): PlacedRow {
  const { r: number } = attributes;
  let line = number === undefined ? undefined : Number(number);
  if (line !== undefined && !(Number.isInteger(line) && line > 0))
    throw damagedError(file, `a row has the number ${number}`);
  let nextColumn = 0;
  const cells = children
    .filter(({ name }) => name === "c")
    .map((element) => {
      const { r: reference } = element.attributes;
      const place = reference === undefined ? { column: nextColumn } : parseReference(reference);
      if (!place || (line !== undefined && (place.line ?? line) !== line))
        throw damagedError(file, `row ${line ?? nextLine} has a cell ${reference}`);
      line ??= place.line;
      nextColumn = place.column + 1;
      return { column: place.column, element };
    });
  return { line: line ?? nextLine, cells };
}

function isHidden({ attributes: { hidden = "" } }: XmlElement): boolean {
  return /^(?:1|true)$/.test(hidden);
}

function hasContent({ element }: PlacedCell): boolean {
  return element.children.some(({ name }) => name === "v" || name === "is");
}

/** @throws UsageError for a value that cannot be read, or that is far from the others */
function toRecord({ line, cells: placed }: PlacedRow, rules: CellRules, file: InputFile): TableRecord {
  const cells: string[] = [];
  for (const { column, element } of placed) {
    const text = readCell(element, rules);
    if (text === undefined) throw damagedError(file, `row ${line} refers to a shared text that is not there`);
    if (text === "") continue;
    if (column >= maxColumns)
      throw usageError(
        `${file.name}:${line}: there is a value in column ${column + 1}; at most ${maxColumns} columns are read`,
        "Remove the cells far to the right of the table",
      );
    if (cells[column]) throw damagedError(file, `row ${line} has two values in column ${column + 1}`);
    // A cell of a workbook is never missing: where there is none, it is blank.
    while (cells.length < column) cells.push("");
    cells[column] = text;
  }
  return { line, lines: 1, cells };
}

/** @returns undefined for a cell that refers to a text that is not there */
function readCell({ attributes, children }: XmlElement, rules: CellRules): string | undefined {
  const { t: type = "n", s: style } = attributes;
  const find = (wanted: string) => children.find(({ name }) => name === wanted);
  const [formula, value, inline] = [find("f"), find("v"), find("is")];
  if (inline) return rules.formatCell("text", style, toCellText(inline));
  if (formula && !hasResult(type, value?.text, rules)) return toUnknownCell(noResult);
  return rules.formatCell(type, style, value?.text ?? "");
}

/**
 * An empty text is a result. Programs that compute nothing leave an empty number, no value at all, or a 0 in
 * its place; some write that as 0.0.
 */
function hasResult(type: string, value: string | undefined, { isZeroResult }: CellRules): boolean {
  if (type === "str") return value !== undefined;
  if (value === undefined || value === "") return false;
  return type !== "n" || (value !== "0.0" && (value !== "0" || isZeroResult));
}

/** `A7` → the first column, line 7. Undefined for what is no reference to a cell. */
function parseReference(reference: string): { column: number; line?: number } | undefined {
  const [, letters, line] = /^\$?([A-Z]{1,3})\$?([1-9]\d{0,6})?$/i.exec(reference) ?? [];
  if (letters === undefined) return undefined;
  let column = 0;
  for (const letter of letters.toUpperCase()) column = column * 26 + letter.charCodeAt(0) - 64;
  return { column: column - 1, line: line === undefined ? undefined : Number(line) };
}

interface MergedRange {
  lines: [first: number, last: number];
  columns: [first: number, last: number];
}

/** The range of a `mergeCell`; empty for any other element. */
function parseRange({ name, attributes: { ref = "" } }: XmlElement): MergedRange[] {
  if (name !== "mergeCell") return [];
  const [first, last] = ref.split(":").map(parseReference);
  if (first?.line === undefined || last?.line === undefined) return [];
  return [{ lines: toSpan(first.line, last.line), columns: toSpan(first.column, last.column) }];
}

/** A range may name its last corner first. */
function toSpan(one: number, other: number): [first: number, last: number] {
  return one <= other ? [one, other] : [other, one];
}

/** Gives the cells of a row the values of the ranges that they are in. Rows come in the sheet's order. */
function createMerger(ranges: readonly MergedRange[], width: number): (row: TableRecord) => void {
  /** Below the rows that were filled, the lowest one first. */
  const below = ranges
    .map((range) => ({ ...range, value: "" }))
    .sort((one, other) => other.lines[0] - one.lines[0]);
  let open: typeof below = [];
  return ({ line, cells }) => {
    while ((below.at(-1)?.lines[0] ?? Infinity) <= line) open.push(below.pop()!);
    open = open.filter(({ lines }) => lines[1] >= line);
    for (const range of open) {
      const [first, last] = range.columns;
      if (range.lines[0] === line) range.value = cells[first] ?? "";
      if (range.value !== "") fill(cells, range.value, first, Math.min(last + 1, width));
    }
  };
}

/** Also over what a cell held before it was merged: nobody sees it. */
function fill(cells: TableRecord["cells"], value: string, from: number, end: number): void {
  while (cells.length < end) cells.push("");
  cells.fill(value, from, end);
}
