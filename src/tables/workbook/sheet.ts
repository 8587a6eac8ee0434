/** Reading: the rows of one sheet of a workbook, unpacked once. */
import { usageError } from "../../errors.ts";
import { toUnknownCell } from "../cells.ts";
import type { TableRecord } from "../csv.ts";
import type { InputFile, Inspection } from "../source.ts";
import { type ReadRecords, takeRecords } from "../table.ts";
import type { CellReader } from "./cell-text.ts";
import { type Archive, damagedError, TextGatherer, type XmlHandlers } from "./parts.ts";

/** The rows of a sheet, unpacked; each has its number of the sheet. */
export interface SheetRows {
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
  const sheet = new SheetReader(inspection.file, rules);
  async function* readRows() {
    for await (const _chunk of archive.parse(path, sheet)) yield sheet.takeRows();
  }
  const readRecords = await takeRecords(inspection, "sheet", readRows());
  const { ranges, width, hiddenRows } = sheet;
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

interface OpenCell {
  column: number;
  type: string;
  style?: string;
  value: string;
  hasFormula: boolean;
  hasValue: boolean;
}

/** The events of a sheet's XML → its rows. */
class SheetReader implements XmlHandlers {
  hiddenRows = 0;
  readonly ranges: MergedRange[] = [];
  /** No range gives a value to columns in which no cell has one: a title is often merged far to the right. */
  width = 0;
  readonly #file: InputFile;
  readonly #rules: CellRules;
  readonly #gatherer = new TextGatherer();
  #rows: TableRecord[] = [];
  #row: TableRecord = { line: 0, lines: 1, cells: [] };
  /** The row says its number, or a cell of it has. */
  #isNumbered = false;
  #isHidden = false;
  /** The column of a cell that does not say its place: behind the one before it, blank or not. */
  #nextColumn = 0;
  #cell: OpenCell | undefined;
  #isInValue = false;

  constructor(file: InputFile, rules: CellRules) {
    this.#file = file;
    this.#rules = rules;
  }

  /** The rows that were read since the last call. */
  takeRows(): TableRecord[] {
    const rows = this.#rows;
    this.#rows = [];
    return rows;
  }

  open(name: string, attributes: Record<string, string>): void {
    if (name === "row") this.#openRow(attributes);
    else if (name === "c") this.#openCell(attributes);
    else if (name === "mergeCell") this.#addRange(attributes.ref ?? "");
    else if (name === "v") {
      this.#isInValue = true;
      // An empty text is a result; programs that compute none leave an empty number.
      if (this.#cell?.type === "str") this.#cell.hasValue = true;
    } else if (name === "f" && this.#cell) this.#cell.hasFormula = true;
    else if (name === "is") this.#gatherer.start();
    if (name === "v" || name === "is") this.width = Math.max(this.width, 1 + (this.#cell?.column ?? -1));
    this.#gatherer.open(name);
  }

  text(text: string): void {
    if (this.#isInValue && this.#cell) {
      this.#cell.value += text;
      this.#cell.hasValue = true;
    } else this.#gatherer.add(text);
  }

  close(name: string): void {
    this.#gatherer.close(name);
    if (name === "v") this.#isInValue = false;
    else if (name === "is" && this.#cell) {
      this.#cell.value = this.#gatherer.whole();
      this.#cell.type = "text";
    } else if (name === "c" && this.#cell) {
      this.#closeCell(this.#cell);
      this.#cell = undefined;
    } else if (name === "row" && this.#row.cells.length > 0) {
      if (this.#isHidden) this.hiddenRows += 1;
      this.#rows.push(this.#row);
    }
  }

  #openRow({ r, hidden }: Record<string, string>): void {
    const line = r === undefined ? this.#row.line + 1 : Number(r);
    if (!(Number.isInteger(line) && line > 0)) throw damagedError(this.#file, `a row has the number ${r}`);
    this.#row = { line, lines: 1, cells: [] };
    this.#isNumbered = r !== undefined;
    this.#isHidden = /^(?:1|true)$/.test(hidden ?? "");
    this.#nextColumn = 0;
  }

  #openCell({ r, t, s }: Record<string, string>): void {
    const place = r === undefined ? { column: this.#nextColumn } : parseReference(r);
    const { column, line = this.#row.line } = place ?? { column: -1 };
    if (column < 0 || (this.#isNumbered && line !== this.#row.line))
      throw damagedError(this.#file, `row ${this.#row.line} has a cell ${r}`);
    this.#isNumbered ||= place?.line !== undefined;
    this.#row.line = line;
    this.#nextColumn = column + 1;
    this.#cell = { column, type: t ?? "n", style: s, value: "", hasFormula: false, hasValue: false };
  }

  #closeCell(cell: OpenCell): void {
    const { column, type, style, value } = cell;
    const { line, cells } = this.#row;
    const isUnknown = cell.hasFormula && !this.#hasResult(cell);
    const text = isUnknown ? toUnknownCell(noResult) : this.#rules.formatCell(type, style, value);
    if (text === undefined)
      throw damagedError(this.#file, `row ${line} refers to a shared text that is not there`);
    if (text === "") return;
    if (column >= maxColumns) {
      throw usageError(
        `${this.#file.name}:${line}: there is a value in column ${column + 1}; at most ${maxColumns} columns are read`,
        "Remove the cells far to the right of the table",
      );
    }
    if (cells[column]) throw damagedError(this.#file, `row ${line} has two values in column ${column + 1}`);
    // A cell of a workbook is never missing: where there is none, it is blank.
    while (cells.length < column) cells.push("");
    cells[column] = text;
  }

  /** Programs that compute nothing leave a formula's result out, or a 0 in its place; some write that as 0.0. */
  #hasResult({ type, value, hasValue }: OpenCell): boolean {
    if (!hasValue && value === "") return false;
    return type !== "n" || (value !== "0.0" && (value !== "0" || this.#rules.isZeroResult));
  }

  #addRange(reference: string): void {
    const [first, last] = reference.split(":").map(parseReference);
    if (first?.line === undefined || last?.line === undefined) return;
    this.ranges.push({
      lines: [first.line, last.line],
      columns: [first.column, last.column],
    });
  }
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
      if (range.value !== "") fillBlanks(cells, range.value, first, Math.min(last + 1, width));
    }
  };
}

function fillBlanks(cells: TableRecord["cells"], value: string, from: number, to: number): void {
  for (let column = from; column < to; column++) {
    while (cells.length <= column) cells.push("");
    cells[column] ||= value;
  }
}
