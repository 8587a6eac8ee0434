/** Reading: a cell → the values it means, by the rules of the file. */
import { trimEdges } from "../api/key-spelling.ts";
import { parseTsvCell } from "../delimited-lines.ts";
import type { Splitting } from "./system-table.ts";
import { systemApostrophe } from "./systems.ts";
import { readCells } from "./text/csv.ts";
import { toUnknownCell } from "./unknown-cells.ts";

/** The cell without what a spreadsheet needed and the value does not have. */
export function createValueReader(hasSafeCells: boolean, hasApostrophes: boolean): (cell: string) => string {
  if (hasSafeCells) return (cell) => (cell.charCodeAt(0) === 39 ? cell.slice(1) : cell);
  if (hasApostrophes)
    return (cell) => (cell.charCodeAt(0) === 39 ? cell.replace(systemApostrophe, "") : cell);
  return (cell) => cell;
}

/** A text of blanks, no-break spaces and invisible marks is blank. */
export function isBlankText(text: string): boolean {
  const first = text.charCodeAt(0);
  if (first > 32 && first < 127) return false;
  return trimEdges(text) === "";
}

const textFormula = /^="((?:[^"]|"")*)"$/;

/** The text of a cell such as `="01067"`, by which a spreadsheet is told to keep it as it is. */
export function unwrapFormula(cell: string): string | undefined {
  if (!cell.startsWith('="')) return undefined;
  return textFormula.exec(cell)?.[1]?.replaceAll('""', '"');
}

/** Marks a cell that is missing, where rows of a workbook or of JSON are written as our own tsv. */
export const missingCell = "\\-";

/** Marks a cell of which nobody knows the value, in such a table. */
export const unknownSign = "\\?";
/** The cells of a record of our own tsv. */
export function unescapedCells(cells: readonly string[]): string[] {
  return cells.map(parseTsvCell);
}

/** The same of a table of our own making, in which a cell can be missing. */
function tableCells(cells: readonly string[]): (string | undefined)[] {
  return cells.map((cell) => {
    if (cell === missingCell) return undefined;
    if (cell.startsWith(unknownSign)) return toUnknownCell(parseTsvCell(cell.slice(unknownSign.length)));
    return parseTsvCell(cell);
  });
}

/** The same of a header: a name that is not known is none. */
export function tableNames(cells: readonly string[]): string[] {
  return cells.map((cell) => (cell.startsWith(unknownSign) ? "" : parseTsvCell(cell)));
}

/** How the cells of a record are read, by the dialect of its file. */
export function cellsReader({
  isTable,
  hasEscapes,
}: {
  isTable: boolean;
  hasEscapes: boolean;
}): (cells: string[]) => (string | undefined)[] {
  if (isTable) return tableCells;
  return hasEscapes ? unescapedCells : (cells) => cells;
}

/** Several names in one cell; names are trimmed, empty ones are none. */
export function splitNames(cell: string, splitting: Splitting): string[] {
  const parts = splitting === "csv" ? splitRecord(cell) : cell.split(splitting.trim());
  return parts.map((part) => part.trim()).filter((part) => part !== "");
}

/** A record of delimited text inside a cell. With quotes that make no sense, its commas still part names. */
function splitRecord(cell: string): string[] {
  const read = cell.includes('"') ? readCells(cell, ",") : undefined;
  return read && "cells" in read ? read.cells : cell.split(",");
}
