/** Reading: a cell, and the values it means by the rules of its file. */
import { trimEdges } from "../api/key-spelling.ts";
import { readCells } from "./csv.ts";

/** Cells of a row, as the file has them; one that is missing is undefined. */
export type Cells = readonly (string | undefined)[];

/** A contact's key in the forms the engine needs. */
export interface ContactKey {
  /** As the file has it, edges trimmed: looked up first, since an account may hold it in this form. */
  written: string;
  /** Normalised: what a create sends. */
  sent: string;
  /** What makes two keys one contact: `sent` without regard to case for e-mail keys. */
  identity: string;
}

/** Half of a character, with which no text of a file can begin; the other half must not follow. */
const unknownMark = "\ud800";
const markedAsUnknown = /^\ud800(?![\udc00-\udfff])/;

/**
 * A cell of which nobody knows the value: neither blank nor filled.
 * @param shown what is there in its place, such as `#N/A`
 */
export function toUnknownCell(shown: string): string {
  return unknownMark + shown;
}

/** What is shown in the place of the value; undefined for a cell whose value is known. */
export function findUnknown(cell: string | undefined): string | undefined {
  return cell !== undefined && markedAsUnknown.test(cell) ? cell.slice(unknownMark.length) : undefined;
}

/** What a system takes off a cell's start: one apostrophe before what a spreadsheet would calculate. */
const systemApostrophe = /^'(?=[=+\-@\d])/;

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
export function unwrapFormula(cell: string): string {
  const text = cell.startsWith('="') ? textFormula.exec(cell)?.[1] : undefined;
  return text?.replaceAll('""', '"') ?? cell;
}

/**
 * Several names in one cell; names are trimmed, empty ones are none.
 * @param separator what is between them; without one, a record of delimited text of its own parts them by
 *   commas
 */
export function splitNames(cell: string, separator?: string): string[] {
  const parts = separator === undefined ? splitRecord(cell) : cell.split(separator);
  return parts.map(trimEdges).filter((part) => part !== "");
}

/** A record of delimited text inside a cell. With quotes that make no sense, its commas still part names. */
function splitRecord(cell: string): string[] {
  const read = cell.includes('"') ? readCells(cell, ",") : undefined;
  return read && "cells" in read ? read.cells : cell.split(",");
}
