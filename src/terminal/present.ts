/**
 * Results → stdout, in the format that was asked for. `json` and `ndjson` give the service's own objects
 * untouched; `table`, `csv` and `tsv` give the view's columns; `id` gives ids.
 */

import { formatCount } from "../counts.ts";
import { formatCsvLine, formatTsvLine, joinNames, toSafeCell } from "../delimited-lines.ts";
import { usageError } from "../errors.ts";
import { formatDayAndTime, formatShortDate } from "../moments.ts";
import type { ApiRequest } from "../wire.ts";
import { escapeControlsInLines } from "./escape.ts";
import { isJson, type OutputOptions } from "./format.ts";
import { fillSink, openOutput, type Sink } from "./output-file.ts";
import type { Terminal } from "./terminal.ts";

export interface Column<T> {
  /** The header, and what `--columns` takes. */
  name: string;
  /** The header of a table for people, where the name is one of the API; `--columns` takes it too. */
  title?: string;
  /** What people copy from a table, such as a key: it is never cut. */
  isWhole?: boolean;
  /** Left out first when the table is too wide, such as an id. */
  isAside?: boolean;
  /** RFC 3339 in data, short in a table: the day, or with `minute` also the time of day. */
  isTime?: boolean | "minute";
  value(item: T): CellValue;
  /** Shown only when `--columns` names it. */
  optional?: boolean;
}

export interface View<T> {
  columns: Column<T>[];
  id(item: T): string;
  /** The message at a terminal when there is nothing to show, with the next step. */
  empty?: string;
  /** Such a file can be imported; with safe cells it says so itself, in a last column without content. */
  isImportable?: boolean;
}

/** Members of a record under their own names. */
export function toColumns<T>(...names: (keyof T & string)[]): Column<T>[] {
  return names.map((name) => ({ name, value: (item) => item[name] as CellValue }));
}

/** The header by which an import knows that each leading apostrophe has one in front. */
const safeCellsHeader = "ecm:safe-cells";

/** Presents an array's worth of objects; streams all formats but `table`. Returns how many there were. */
export async function presentList<T>(
  terminal: Terminal,
  output: OutputOptions,
  items: Iterable<T> | AsyncIterable<T>,
  view: View<T>,
): Promise<number> {
  const columns = selectColumns(terminal, output, view);
  if (output.safeCells && view.isImportable) columns.push({ name: safeCellsHeader, value: () => "" });
  const count = await fillSink(await openOutput(terminal, output), async (sink) => {
    if (output.format !== "table") return writeRows(sink, items, createRowFormat(output, columns, view.id));
    const shown: T[] = [];
    for await (const item of items) shown.push(item);
    if (shown.length > 0) {
      const { table, leftOut } = await formatTable(terminal, output, columns, shown);
      await sink.write(table);
      noteLeftOut(terminal, leftOut);
    }
    return shown.length;
  });
  const isSomebodyThere = output.format === "table" || terminal.isStderrTerminal;
  if (count === 0 && isSomebodyThere) terminal.note(view.empty ?? "Nothing to show.");
  return count;
}

/** @returns how many there are */
async function writeRows<T>(
  sink: Sink,
  items: Iterable<T> | AsyncIterable<T>,
  { opening, row, closing }: RowFormat<T>,
): Promise<number> {
  await sink.write(opening);
  let count = 0;
  for await (const item of items) {
    await sink.write(row(item, count));
    count += 1;
    if (sink.isClosed) break;
  }
  if (closing) await sink.write(closing(count));
  return count;
}

function noteLeftOut(terminal: Terminal, columns: readonly string[]): void {
  if (columns.length === 0) return;
  terminal.note(`Not shown: ${columns.join(", ")} (--columns selects columns)`, "aside");
}

/** Rows under a header, fitted to the screen where no columns were asked for by name. */
async function formatTable<T>(
  terminal: Terminal,
  output: OutputOptions,
  columns: Column<T>[],
  items: readonly T[],
): Promise<{ table: string; leftOut: string[] }> {
  const { fitColumns, renderTable, formatShortNames } = await import("./table.ts");
  const width = output.outputFile ? Number.POSITIVE_INFINITY : terminal.columns;
  const now = new Date();
  const rows = items.map((item) =>
    columns.map((column) => {
      const value = column.value(item);
      if (typeof value === "object" && value !== null) return formatShortNames(value);
      const text = typeof value === "number" ? formatCount(value) : String(value ?? "");
      if (column.isTime === "minute") return formatDayAndTime(text, now);
      return column.isTime ? formatShortDate(text, now) : text;
    }),
  );
  // A time that is cut in half says nothing.
  const headed = columns.map((column) => ({
    ...column,
    name: formatHeading(column, output),
    isWhole: column.isWhole || column.isTime !== undefined,
  }));
  const fitted = output.columns ? { columns, rows, leftOut: [] } : fitColumns(headed, rows, width);
  const table = renderTable(fitted.columns, fitted.rows, width, terminal.isColored.out);
  return { table, leftOut: fitted.leftOut };
}

/** What was asked for by name is headed by that name. */
function formatHeading<T>({ name, title }: Column<T>, { columns }: OutputOptions): string {
  return columns ? name : (title ?? name);
}

/** Presents a single object: an object in json, a table of name and value, else one row under its header. */
export async function presentOne<T>(
  terminal: Terminal,
  output: OutputOptions,
  item: T,
  view: View<T>,
): Promise<void> {
  if (output.format !== "table" && output.format !== "json") {
    await presentList(terminal, output, [item], view);
    return;
  }
  const columns = selectColumns(terminal, output, view);
  if (output.format === "json") {
    return writeAll(terminal, output, `${JSON.stringify(toObject(output, columns, item), null, 2)}\n`);
  }
  const { renderRecord } = await import("./table.ts");
  const now = new Date();
  const pairs = columns
    .map((column): [string, string] => {
      const value = column.value(item);
      const text = typeof value === "number" ? formatCount(value) : formatCell(column, item);
      return [formatHeading(column, output), column.isTime ? formatDayAndTime(text, now) : text];
    })
    .filter(([, text]) => text !== "" || output.columns !== undefined);
  const drawn = renderRecord(pairs, terminal.columns, terminal.isColored.out);
  await writeAll(terminal, output, drawn);
}

/** Presents a value that is no record of the service: JSON in json formats, else the text. */
export function presentValue(
  terminal: Terminal,
  output: OutputOptions,
  value: unknown,
  text: string,
): Promise<void> {
  if (output.format === "json") return writeAll(terminal, output, `${JSON.stringify(value, null, 2)}\n`);
  if (output.format === "ndjson") return writeAll(terminal, output, `${JSON.stringify(value)}\n`);
  return writeAll(terminal, output, text.endsWith("\n") || text === "" ? text : `${text}\n`);
}

async function writeAll(terminal: Terminal, output: OutputOptions, text: string): Promise<void> {
  await fillSink(await openOutput(terminal, output), (sink) => sink.write(text));
}

/**
 * Whether this output shows columns, in people's language; the others give the service's objects, or ids. In
 * JSON formats `--columns` asks for an object of these columns.
 */
export function hasColumns({ format, columns }: OutputOptions): boolean {
  if (isJson(format)) return columns !== undefined;
  return format !== "id";
}

/**
 * Before a write, so that a mistyped `--columns` does not fail when the write is done already.
 * @throws UsageError when a wanted column does not exist
 */
export function checkColumns<T>(output: OutputOptions, view: View<T>): void {
  if (hasColumns(output)) chooseColumns(view.columns, output.columns);
}

/**
 * The columns to show; none in the formats that have no columns, where a note says that `--columns` has no
 * effect.
 */
function selectColumns<T>(terminal: Terminal, output: OutputOptions, view: View<T>): Column<T>[] {
  if (hasColumns(output)) return chooseColumns(view.columns, output.columns);
  if (output.columns) terminal.note(`--columns selects columns; ${output.format} has none`);
  return [];
}

/**
 * @throws UsageError when a wanted column does not exist. Matching is exact first, then without regard to
 * case.
 */
export function chooseColumns<C extends { name: string; title?: string; optional?: boolean }>(
  columns: C[],
  names?: string[],
): C[] {
  if (!names) return columns.filter((column) => !column.optional);
  return names.map((name) => {
    const column =
      columns.find((each) => each.name === name) ??
      columns.find((each) => each.name.toLowerCase() === name.toLowerCase()) ??
      columns.find((each) => each.title?.toLowerCase() === name.toLowerCase());
    if (column) return column;
    throw usageError(
      `--columns: there is no column ${JSON.stringify(name)}`,
      `Columns: ${columns.map((each) => each.name).join(", ")}`,
    );
  });
}

/** Several names share one cell, written so that a name may hold commas (`joinNames`). */
type CellValue = string | number | boolean | readonly string[] | undefined | null;

/** How rows are written one by one. */
interface RowFormat<T> {
  opening: string;
  row(item: T, index: number): string;
  closing?(count: number): string;
}

function createRowFormat<T>(
  output: OutputOptions,
  columns: readonly Pick<Column<T>, "name" | "value">[],
  toId: (item: T) => string,
): RowFormat<T> {
  switch (output.format) {
    case "json":
      return {
        opening: "",
        row(item, index) {
          const text = JSON.stringify(toObject(output, columns, item), null, 2).replaceAll("\n", "\n  ");
          return `${index === 0 ? "[\n" : ",\n"}  ${text}`;
        },
        closing: (count) => (count === 0 ? "[]\n" : "\n]\n"),
      };
    case "ndjson":
      return { opening: "", row: (item) => `${JSON.stringify(toObject(output, columns, item))}\n` };
    case "csv":
    case "tsv": {
      const { format, safeCells } = output;
      const join = (cells: string[]) => (format === "csv" ? formatCsvLine(cells) : formatTsvLine(cells));
      const line = (cells: string[]) => `${join(safeCells ? cells.map(toSafeCell) : cells)}\n`;
      return {
        opening: line(columns.map(({ name }) => name)),
        row: (item) => line(columns.map((column) => formatCell(column, item))),
      };
    }
    default:
      return { opening: "", row: (item) => `${toId(item)}\n` };
  }
}

/**
 * The service's own object, or with `--columns` these columns: names as arrays, what is not there as null.
 */
function toObject<T>(
  output: OutputOptions,
  columns: readonly Pick<Column<T>, "name" | "value">[],
  item: T,
): unknown {
  if (!output.columns) return item;
  return Object.fromEntries(columns.map((column) => [column.name, column.value(item) ?? null]));
}

function formatCell<T>(column: Pick<Column<T>, "name" | "value">, item: T): string {
  const value = column.value(item);
  if (value === undefined || value === null) return "";
  return typeof value === "object" ? joinNames(value) : String(value);
}

/**
 * What would happen, in words; then `{ method, path, body }` in JSON formats (`body` null where there is none),
 * an array of them for several requests; else the same as a person reads it.
 * @param would what follows on `Would`, such as `create the list "Customers"`
 */
export function explainDryRun(
  terminal: Terminal,
  output: OutputOptions,
  would: string,
  ...requests: ApiRequest[]
): Promise<void> {
  const printed = requests.map(({ method, path, body, rawBody }) => ({
    method,
    path,
    body: rawBody === undefined ? (body ?? null) : (JSON.parse(rawBody) as unknown),
  }));
  const text = printed.map(({ method, path, body }) => {
    const indented = body === null ? "" : `\n${JSON.stringify(body, null, 2)}`;
    return escapeControlsInLines(`${method} ${path}${indented}`);
  });
  terminal.note(`Would ${would}`);
  terminal.note(requests.length === 1 ? "Dry run: this was not sent" : "Dry run: these were not sent");
  return presentValue(terminal, output, printed.length === 1 ? printed[0] : printed, text.join("\n"));
}
