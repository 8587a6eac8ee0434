/** Entries of a mapping → functions of a row's cells, made before the first row is read. */

import { trimEdges } from "../../../api/key-spelling.ts";
import { UsageError } from "../../../errors.ts";
import { findColumns, suggestColumn } from "../columns/column-names.ts";
import { foldName } from "../names.ts";
import type { Splitting } from "../system-table.ts";
import { isBlankText, quote, splitNames } from "../values.ts";
import { createDateReader } from "./dates.ts";
import { formatEntryPlace, type MappingEntry } from "./entry.ts";
import { type CellAt, type Computed, ExpressionCompiler, type Refuse } from "./expression.ts";

export interface CompiledEntry {
  entry: MappingEntry;
  /** The file's column whose cells are changed. Absent where the value is made of others, or of none. */
  index?: number;
  /** The file's columns of its name: their cells go nowhere else. */
  replaces: number[];
  /** Columns that it is made of. */
  reads: number[];
  /**
   * The value of a field, or names. Undefined where the row lacks the cells.
   * @throws Error with what is wrong
   */
  compute(cellAt: CellAt): Computed;
}

export interface TableFacts {
  /** Names of the columns. */
  names: string[];
  /** A workbook or JSON: dates come as `YYYY-MM-DD`. */
  isTable: boolean;
  /** How a cell holds several names, where an entry does not say it. */
  splitting(kind: "lists" | "tags"): Splitting;
}

/** @throws UsageError with the place, for a column that does not exist, or an expression that is wrong */
export async function compileEntries(
  entries: readonly MappingEntry[],
  table: TableFacts,
): Promise<CompiledEntry[]> {
  const hasValues = entries.some(({ value }) => value !== undefined);
  const compiler = hasValues ? await ExpressionCompiler.load() : undefined;
  return entries.flatMap((entry) => compileEntry(entry, table, compiler));
}

function compileEntry(
  entry: MappingEntry,
  table: TableFacts,
  compiler: ExpressionCompiler | undefined,
): CompiledEntry[] {
  const { name, value, constant } = entry;
  const place = formatEntryPlace(entry);
  const refuse: Refuse = (what, hint) => new UsageError(`${place}: ${what}`, hint);
  const replaces = findColumns(name, table.names);
  const finish = compileFinish(entry, table);
  if (constant !== undefined) {
    const result = entry.target.kind === "field" ? constant : [constant].filter((each) => each !== "");
    return [{ entry, replaces, reads: [], compute: () => result }];
  }
  if (value !== undefined) {
    const expression = compiler!.compile(value, place, (column, refuseColumn) =>
      findColumn(column, table, refuseColumn),
    );
    if (expression.isList && entry.target.kind === "field") {
      throw refuse(
        "the value is a list, and a field takes one text",
        'Join it, such as ….join(", "), or take one part, such as …[0]',
      );
    }
    return [
      { entry, replaces, reads: expression.reads, compute: (cellAt) => finish(expression.compute(cellAt)) },
    ];
  }
  if (replaces.length === 0) throw toNoColumnError(name, table, refuse);
  return replaces.map((index) => ({
    entry,
    index,
    replaces: [index],
    reads: [index],
    compute: (cellAt) => finish(cellAt(index)),
  }));
}

/** What is done to a value before it is written: parted, looked up, read as a date. */
function compileFinish(entry: MappingEntry, table: TableFacts): (value: Computed) => Computed {
  const change = compileChange(entry, table);
  const { target, split } = entry;
  if (target.kind === "field") return (value) => (typeof value === "string" ? change(value) : undefined);
  const splitting = table.splitting(target.kind);
  const parted = (text: string) =>
    split === undefined ? splitNames(text, splitting) : text.split(split).map(trimEdges);
  return (value) => {
    if (value === undefined) return undefined;
    const parts = typeof value === "string" ? parted(value) : value.map(trimEdges);
    return parts.map(change).filter((part) => part !== "");
  };
}

function compileChange(entry: MappingEntry, { isTable }: TableFacts): (text: string) => string {
  const { date, map } = entry;
  if (date) return dateChange(date, isTable);
  if (map) return tableChange(map, entry.else ?? "keep");
  return (text) => text;
}

/** A workbook's own dates are read as the standard has them. */
const standardDates = ["YYYY-MM-DD", "YYYY-MM-DDTHH:mm:ss"];

function dateChange(formats: readonly string[], isTable: boolean): (text: string) => string {
  const read = createDateReader(isTable ? [...formats, ...standardDates] : formats);
  const wanted = formats.join(" or ");
  return (text) => {
    if (isBlankText(text)) return "";
    const date = read(trimEdges(text));
    if (date === undefined) throw new Error(`${quote(text)} is not a date in ${wanted}`);
    return date;
  };
}

/** Written so exactly, else without regard to case. */
function tableChange(
  map: readonly [from: string, to: string][],
  otherwise: NonNullable<MappingEntry["else"]>,
): (text: string) => string {
  const exact = new Map(map.map(([from, to]) => [trimEdges(from.normalize("NFC")), to]));
  const folded = new Map<string, string | undefined>();
  for (const [from, to] of exact) {
    const word = foldName(from);
    folded.set(word, folded.has(word) && folded.get(word) !== to ? undefined : to);
  }
  return (text) => {
    const cell = trimEdges(text.normalize("NFC"));
    const found = exact.get(cell) ?? folded.get(foldName(cell));
    if (found !== undefined) return found;
    if (cell === "" || otherwise === "blank") return "";
    if (otherwise === "keep") return text;
    throw new Error(`${quote(text)} is not in the table of values`);
  };
}

function findColumn(column: string, table: TableFacts, refuse: Refuse): number {
  const indexes = findColumns(column, table.names);
  if (indexes.length === 0) throw toNoColumnError(column, table, refuse);
  if (indexes.length === 1) return indexes[0]!;
  throw refuse(
    `${indexes.length} columns are named ${JSON.stringify(column)}`,
    "Rename one of them in the file",
  );
}

function toNoColumnError(column: string, { names }: TableFacts, refuse: Refuse): UsageError {
  return refuse(`the file has no column ${JSON.stringify(column)}`, suggestColumn(column, names));
}
