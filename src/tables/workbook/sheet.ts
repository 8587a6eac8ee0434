/** Reading: the rows of one sheet of a workbook, unpacked once. */
import { type EcmError, usageError } from "../../errors.ts";
import { toUnknownCell } from "../cells.ts";
import type { TableRecord } from "../csv.ts";
import { readPage, writePage } from "../page.ts";
import type { InputFile } from "../source.ts";
import type { CellReader } from "./cell-text.ts";
import { parseXml, TextGatherer, type XmlHandlers } from "./parts.ts";

/** The rows of a sheet, unpacked; each has its number of the sheet. */
export interface SheetRows {
  /** The rows from a line on. */
  read(firstLine: number): AsyncGenerator<TableRecord[]>;
  /** Rows that the workbook hides; they are read like the others. */
  hiddenRows: number;
  /** Each of their cells has their value. */
  mergedRanges: number;
}

/** A contact has some dozens of columns; a workbook can have 16,384. */
const maxColumns = 1024;
const noResult = "(a formula without a saved result)";

/** @param isZeroResult a formula can have the result 0: its program has computed it */
export async function unpackSheet(
  xml: AsyncIterable<Buffer>,
  file: InputFile,
  formatCell: CellReader,
  isZeroResult: boolean,
): Promise<SheetRows> {
  const sheet = new SheetReader(file.name, formatCell, isZeroResult);
  const page = await writePage(file, "sheet", readRows(xml, file.name, sheet));
  const { ranges, width, hiddenRows } = sheet.found;
  // A sheet names its merged ranges behind its rows.
  async function* read(firstLine: number) {
    const merge = createMerger(ranges, width);
    for await (const records of readPage(page)) {
      for (const record of records) merge(record);
      yield firstLine <= 1 ? records : records.filter(({ line }) => line >= firstLine);
    }
  }
  return { read, hiddenRows, mergedRanges: ranges.length };
}

async function* readRows(
  chunks: AsyncIterable<Buffer>,
  file: string,
  sheet: SheetReader,
): AsyncGenerator<SheetRow> {
  for await (const _chunk of parseXml(chunks, file, sheet)) yield* sheet.takeRows();
}

interface SheetRow {
  line: number;
  cells: (string | undefined)[];
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
  readonly found = {
    hiddenRows: 0,
    ranges: [] as MergedRange[],
    /** No range gives a value to columns in which no cell has one: a title is often merged far to the right. */
    width: 0,
  };
  readonly #file: string;
  readonly #shown: CellReader;
  readonly #isZeroResult: boolean;
  readonly #gatherer = new TextGatherer();
  #rows: SheetRow[] = [];
  #line = 0;
  /** The row says its number, or a cell of it has. */
  #isNumbered = false;
  #isHidden = false;
  #cells: SheetRow["cells"] = [];
  /** Of a cell that does not say its place: behind the one before it, blank or not. */
  #nextColumn = 0;
  #cell: OpenCell | undefined;
  #isInValue = false;

  constructor(file: string, shown: CellReader, isZeroResult: boolean) {
    this.#file = file;
    this.#shown = shown;
    this.#isZeroResult = isZeroResult;
  }

  /** The rows that were read since the last call. */
  takeRows(): SheetRow[] {
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
    if (name === "v" || name === "is")
      this.found.width = Math.max(this.found.width, 1 + (this.#cell?.column ?? -1));
    this.#gatherer.open(name);
  }

  #addRange(reference: string): void {
    const range = parseRange(reference);
    if (range) this.found.ranges.push(range);
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
    } else if (name === "row") this.#closeRow();
  }

  #openRow({ r, hidden }: Record<string, string>): void {
    this.#isNumbered = r !== undefined;
    this.#line = this.#isNumbered ? Number(r) : this.#line + 1;
    if (!(Number.isInteger(this.#line) && this.#line > 0)) throw this.#damaged(`a row has the number ${r}`);
    this.#isHidden = /^(?:1|true)$/.test(hidden ?? "");
    this.#cells = [];
    this.#nextColumn = 0;
  }

  #closeRow(): void {
    if (this.#cells.length === 0) return;
    if (this.#isHidden) this.found.hiddenRows += 1;
    this.#rows.push({ line: this.#line, cells: this.#cells });
    this.#cells = [];
  }

  #openCell({ r, t, s }: Record<string, string>): void {
    const place = r === undefined ? { column: this.#nextColumn } : parseReference(r);
    if (!place || (this.#isNumbered && place.line !== undefined && place.line !== this.#line))
      throw this.#damaged(`row ${this.#line} has a cell ${r}`);
    if (place.line !== undefined) {
      this.#line = place.line;
      this.#isNumbered = true;
    }
    this.#nextColumn = place.column + 1;
    const { column } = place;
    this.#cell = { column, type: t ?? "n", style: s, value: "", hasFormula: false, hasValue: false };
  }

  #closeCell(cell: OpenCell): void {
    const { column, type, style, value } = cell;
    const text =
      cell.hasFormula && !this.#hasResult(cell) ? toUnknownCell(noResult) : this.#shown(type, style, value);
    if (text === undefined)
      throw this.#damaged(`row ${this.#line} refers to a shared text that is not there`);
    if (text === "") return;
    this.#place(column, text);
  }

  /** Programs that compute nothing leave a formula's result out, or a 0 in its place; some write that as 0.0. */
  #hasResult({ type, value, hasValue }: OpenCell): boolean {
    if (!hasValue && value === "") return false;
    return type !== "n" || (value !== "0.0" && (value !== "0" || this.#isZeroResult));
  }

  /** A cell of a workbook is never missing: where there is none, it is blank. */
  #place(column: number, text: string): void {
    if (!(column < maxColumns)) {
      throw usageError(
        `${this.#file}:${this.#line}: there is a value in column ${column + 1}; at most ${maxColumns} columns are read`,
        "Remove the cells far to the right of the table",
      );
    }
    const cells = this.#cells;
    if (cells[column]) throw this.#damaged(`row ${this.#line} has two values in column ${column + 1}`);
    while (cells.length < column) cells.push("");
    cells[column] = text;
  }

  #damaged(what: string): EcmError {
    return usageError(
      `${this.#file} is a damaged workbook: ${what}`,
      "Open it in a spreadsheet and save it again",
    );
  }
}

/** `A7` → the first column, line 7. Undefined for what is no reference to a cell. */
function parseReference(reference: string): { column: number; line?: number } | undefined {
  const [, letters, line] = /^\$?([A-Z]{1,3})\$?([1-9]\d{0,6})?$/i.exec(reference) ?? [];
  if (letters === undefined) return undefined;
  return { column: toColumnIndex(letters), line: line === undefined ? undefined : Number(line) };
}

interface MergedRange {
  first: { line: number; column: number };
  last: { line: number; column: number };
}

/** Gives the cells of a row the values of the ranges that they are in. Rows come in the sheet's order. */
function createMerger(ranges: readonly MergedRange[], width: number): (row: TableRecord) => void {
  /** Below the rows that were filled, the lowest one first. */
  const below = ranges
    .map((range) => ({ ...range, value: "" }))
    .sort((one, other) => other.first.line - one.first.line);
  let open: typeof below = [];
  return ({ line, cells }) => {
    while ((below.at(-1)?.first.line ?? Infinity) <= line) open.push(below.pop()!);
    open = open.filter(({ last }) => last.line >= line);
    for (const range of open) {
      const { first, last } = range;
      if (first.line === line) range.value = cells[first.column] ?? "";
      if (range.value !== "") fillBlanks(cells, range.value, first.column, Math.min(last.column + 1, width));
    }
  };
}

function fillBlanks(cells: (string | undefined)[], value: string, from: number, to: number): void {
  for (let column = from; column < to; column++) {
    while (cells.length <= column) cells.push("");
    cells[column] ||= value;
  }
}

function parseRange(reference: string): MergedRange | undefined {
  const [first, last] = reference.split(":").map(parseReference);
  if (first?.line === undefined || last?.line === undefined) return undefined;
  return {
    first: { line: first.line, column: first.column },
    last: { line: last.line, column: last.column },
  };
}

/** 0 for `A`. */
function toColumnIndex(letters: string): number {
  let column = 0;
  for (const letter of letters.toUpperCase()) column = column * 26 + letter.charCodeAt(0) - 64;
  return column - 1;
}
