/** Reading: what looks odd in rows that are read all the same, gathered over the whole file and told once. */
import type { InputFacts, ReadRow } from "./rows.ts";
import { textOfFormula } from "./values.ts";

export interface Oddities {
  add(row: ReadRow): void;
  /** Sentences for the reader, each with a place. */
  notes(): string[];
}

interface Seen {
  count: number;
  /** Of the first one. */
  line: number;
  cell: string;
}

const shortened = /^[+-]?\d(?:[.,]\d+)?E\+\d{1,3}$/i;

/** @param formulaColumns those whose `="…"` is undone */
export function createOddities(columns: InputFacts["columns"], formulaColumns: readonly number[]): Oddities {
  const watched = columns.flatMap(({ target }, index) => (target.kind === "field" ? [index] : []));
  const shortenedIn = new Map<number, Seen>();
  const formulasIn = new Map<number, Seen>();
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
        if (cell.includes("E+") && shortened.test(cell)) count(shortenedIn, index, row.line, cell);
        else if (!formulaColumns.includes(index) && textOfFormula(cell) !== undefined)
          count(formulasIn, index, row.line, cell);
      }
    },
    notes() {
      const named = (index: number) => JSON.stringify(columns[index]!.name);
      const notes = [...shortenedIn].map(
        ([index, seen]) =>
          `Column ${named(index)}: ${cells(seen.count)} such as ${seen.cell} (line ${seen.line}): a spreadsheet has rounded the number; its digits are lost`,
      );
      for (const [index, seen] of formulasIn) {
        notes.push(
          `Column ${named(index)}: ${cells(seen.count)} such as ${seen.cell} (line ${seen.line}); imported as written, because the column's other cells are not numbers of this kind`,
        );
      }
      if (tall === 1)
        notes.push(`The row on line ${tallest.line} spans ${grouped(tallest.lines)} lines${doubt}`);
      if (tall > 1) {
        notes.push(
          `${grouped(tall)} rows span several lines; the longest, on line ${tallest.line}, spans ${grouped(tallest.lines)}${doubt}`,
        );
      }
      return notes;
    },
  };
}

const doubt = " (if that is wrong, look for a stray quote there)";

function count(seen: Map<number, Seen>, index: number, line: number, cell: string): void {
  const known = seen.get(index);
  if (known) known.count += 1;
  else seen.set(index, { count: 1, line, cell });
}

function cells(number: number): string {
  return `${grouped(number)} ${number === 1 ? "cell" : "cells"}`;
}

function grouped(number: number): string {
  return number.toLocaleString("en-US");
}
