/** Reading: what looks odd in rows that are read all the same, gathered over the whole file and told once. */
import type { InputFacts, ReadRow } from "./rows.ts";
import { unwrapFormula } from "./values.ts";

export interface Oddities {
  add(row: ReadRow): void;
  /** Sentences for the reader, each with a place. */
  notes(): string[];
}

interface OddCells {
  count: number;
  /** Of the first one. */
  line: number;
  cell: string;
}

const shortened = /^[+-]?\d(?:[.,]\d+)?E\+\d{1,3}$/i;

/** @param formulaColumns those whose `="…"` is undone */
export function createOddities(columns: InputFacts["columns"], formulaColumns: readonly number[]): Oddities {
  const watched = columns.flatMap(({ target }, index) => (target.kind === "field" ? [index] : []));
  const shortenedIn = new Map<number, OddCells>();
  const formulasIn = new Map<number, OddCells>();
  let tall = 0;
  let tallest = { line: 0, lines: 1 };
  return {
    add(row) {
      if (row.lines !== undefined) {
        tall += 1;
        if (row.lines > tallest.lines) tallest = { line: row.line, lines: row.lines };
      }
      if (row.kind === "rejected") return;
      for (const index of watched) {
        const cell = row.cells[index];
        if (cell === undefined || cell.length > 40) continue;
        if (cell.includes("E+") && shortened.test(cell)) countOddity(shortenedIn, index, row.line, cell);
        else if (!formulaColumns.includes(index) && unwrapFormula(cell) !== undefined)
          countOddity(formulasIn, index, row.line, cell);
      }
    },
    notes() {
      const formatColumn = (index: number) => JSON.stringify(columns[index]!.name);
      const notes = [...shortenedIn].map(
        ([index, oddities]) =>
          `Column ${formatColumn(index)}: ${formatCellCount(oddities.count)} such as ${oddities.cell} (line ${oddities.line}): a spreadsheet has rounded the number; its digits are lost`,
      );
      for (const [index, oddities] of formulasIn) {
        notes.push(
          `Column ${formatColumn(index)}: ${formatCellCount(oddities.count)} such as ${oddities.cell} (line ${oddities.line}); imported as written, because the column's other cells are not numbers of this kind`,
        );
      }
      if (tall === 1)
        notes.push(`The row on line ${tallest.line} spans ${formatNumber(tallest.lines)} lines${doubt}`);
      if (tall > 1) {
        notes.push(
          `${formatNumber(tall)} rows span several lines; the longest, on line ${tallest.line}, spans ${formatNumber(tallest.lines)}${doubt}`,
        );
      }
      return notes;
    },
  };
}

const doubt = " (if that is wrong, look for a stray quote there)";

function countOddity(oddities: Map<number, OddCells>, index: number, line: number, cell: string): void {
  const oddity = oddities.get(index);
  if (oddity) oddity.count += 1;
  else oddities.set(index, { count: 1, line, cell });
}

function formatCellCount(number: number): string {
  return `${formatNumber(number)} ${number === 1 ? "cell" : "cells"}`;
}

function formatNumber(number: number): string {
  return number.toLocaleString("en-US");
}
