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

/** Several names share one cell, written so that a name may hold commas (`joinNames`). */
type CellValue = string | number | boolean | readonly string[] | undefined | null;

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

type Items<T> = Iterable<T> | AsyncIterable<T>;

/** Presents an array's worth of objects; streams all formats but `table`. Returns how many there were. */
export async function presentList<T>(
  terminal: Terminal,
  output: OutputOptions,
  items: Items<T>,
  view: View<T>,
): Promise<number> {
  const columns = selectColumns(terminal, output, view);
  if (output.safeCells && view.isImportable) columns.push({ name: safeCellsHeader, value: () => "" });
  const count = await fillSink(await openOutput(terminal, output), async (sink) => {
    if (output.format !== "table") return writeRows(sink, output, { ...view, columns }, items);
    const shown: T[] = [];
    for await (const item of items) shown.push(item);
    if (shown.length === 0) return 0;
    const { table, leftOut } = await drawTable(terminal, output, columns, shown);
    await sink.write(table);
    if (leftOut.length > 0)
      terminal.note(`Not shown: ${leftOut.join(", ")} (--columns selects columns)`, "aside");
    return shown.length;
  });
  const isSomebodyThere = output.format === "table" || terminal.isStderrTerminal;
  if (count === 0 && isSomebodyThere) terminal.note(view.empty ?? "Nothing to show.");
  return count;
}

async function writeRows<T>(
  sink: Sink,
  output: OutputOptions,
  { columns, id }: View<T>,
  items: Items<T>,
): Promise<number> {
  const { format } = output;
  const isDelimited = format === "csv" || format === "tsv";
  const writeCells = createLineWriter(sink, output);
  const writeItem = (item: T, index: number) => {
    if (isDelimited) return writeCells(columns.map((column) => formatCell(column, item)));
    if (format === "id") return sink.write(`${id(item)}\n`);
    const object = toObject(output, columns, item);
    if (format === "ndjson") return sink.write(`${JSON.stringify(object)}\n`);
    const indented = JSON.stringify(object, null, 2).replaceAll("\n", "\n  ");
    return sink.write(`${index === 0 ? "[\n" : ",\n"}  ${indented}`);
  };
  if (isDelimited) await writeCells(columns.map(({ name }) => name));
  let count = 0;
  for await (const item of items) {
    await writeItem(item, count);
    count += 1;
    if (sink.isClosed) break;
  }
  if (format === "json") await sink.write(count === 0 ? "[]\n" : "\n]\n");
  return count;
}

/** Writes a row of csv, tsv, or a workbook. */
function createLineWriter(
  sink: Sink,
  { format, safeCells }: OutputOptions,
): (cells: readonly string[]) => Promise<void> {
  if (sink.writeCells) return sink.writeCells;
  const formatLine = format === "csv" ? formatCsvLine : formatTsvLine;
  return (cells) => sink.write(`${formatLine(safeCells ? cells.map(toSafeCell) : cells)}\n`);
}

/** Rows under a header, fitted to the screen where no columns were asked for by name. */
async function drawTable<T>(
  terminal: Terminal,
  output: OutputOptions,
  columns: readonly Column<T>[],
  items: readonly T[],
): Promise<{ table: string; leftOut: string[] }> {
  const { fitColumns, renderTable, formatShortNames } = await import("./table.ts");
  const width = output.outputFile ? Number.POSITIVE_INFINITY : terminal.columns;
  const now = new Date();
  const rows = items.map((item) =>
    columns.map((column) => {
      const value = column.value(item);
      if (typeof value === "object" && value !== null) return formatShortNames(value);
      const isDay = column.isTime === true;
      return isDay ? formatShortDate(String(value ?? ""), now) : formatForPeople(column, item, now);
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
  if (output.format === "json") return presentValue(terminal, output, toObject(output, columns, item), "");
  const { renderRecord } = await import("./table.ts");
  const now = new Date();
  const pairs = columns
    .map((column): [string, string] => [formatHeading(column, output), formatForPeople(column, item, now)])
    .filter(([, text]) => text !== "" || output.columns !== undefined);
  return presentValue(terminal, output, item, renderRecord(pairs, terminal.columns, terminal.isColored.out));
}

/** Presents a value that is no record of the service: JSON in json formats, else the text. */
export async function presentValue(
  terminal: Terminal,
  output: OutputOptions,
  value: unknown,
  text: string,
): Promise<void> {
  const indent = output.format === "json" ? 2 : undefined;
  const written = isJson(output.format) ? JSON.stringify(value, null, indent) : text;
  const line = written === "" || written.endsWith("\n") ? written : `${written}\n`;
  await fillSink(await openOutput(terminal, output), (sink) => sink.write(line));
}

/**
 * Whether this output shows columns, in people's language; the others give the service's objects, or ids. In
 * JSON formats `--columns` asks for an object of these columns.
 */
export function hasColumns({ format, columns }: OutputOptions): boolean {
  return isJson(format) ? columns !== undefined : format !== "id";
}

/**
 * Before a write, so that a mistyped `--columns` does not fail when the write is done already.
 * @throws UsageError when a wanted column does not exist
 */
export function checkColumns<T>(output: OutputOptions, view: View<T>): void {
  if (hasColumns(output)) chooseColumns(view.columns, output.columns);
}

/** The columns to show; none in the formats that have none. */
function selectColumns<T>(terminal: Terminal, output: OutputOptions, view: View<T>): Column<T>[] {
  if (hasColumns(output)) return chooseColumns(view.columns, output.columns);
  if (output.columns) terminal.note(`--columns selects columns; ${output.format} has none`);
  return [];
}

/** Exact first, then without regard to case. @throws UsageError when a wanted column does not exist */
export function chooseColumns<C extends { name: string; title?: string; optional?: boolean }>(
  columns: C[],
  names?: string[],
): C[] {
  if (!names) return columns.filter((column) => !column.optional);
  return names.map((name) => {
    const isAlike = (other: string | undefined) => other?.toLowerCase() === name.toLowerCase();
    const column =
      columns.find((each) => each.name === name) ??
      columns.find((each) => isAlike(each.name)) ??
      columns.find((each) => isAlike(each.title));
    if (column) return column;
    throw usageError(
      `--columns: there is no column ${JSON.stringify(name)}`,
      `Columns: ${columns.map((each) => each.name).join(", ")}`,
    );
  });
}

/**
 * The service's own object, or with `--columns` these columns: names as arrays, what is not there as null.
 */
function toObject<T>(output: OutputOptions, columns: readonly Column<T>[], item: T): unknown {
  if (!output.columns) return item;
  return Object.fromEntries(columns.map((column) => [column.name, column.value(item) ?? null]));
}

function formatCell<T>(column: Column<T>, item: T): string {
  const value = column.value(item);
  return typeof value === "object" && value !== null ? joinNames(value) : String(value ?? "");
}

function formatForPeople<T>(column: Column<T>, item: T, now: Date): string {
  const value = column.value(item);
  if (typeof value === "number") return formatCount(value);
  const text = formatCell(column, item);
  return column.isTime ? formatDayAndTime(text, now) : text;
}

/**
 * What would happen, in words; then `{ method, path, body }` in JSON formats (`body` null where there is
 * none), an array of them for several requests; else the same as a person reads it.
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
