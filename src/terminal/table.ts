/** Tables for people: fitted to the width, safe to show, aligned on wide and combining characters. */
import Table from "cli-table3";
import { escapeControls } from "./escape.ts";
import { createStyle } from "./style.ts";
import { cut, gap, isPlain, measureWidth, minWidth, wrap } from "./text-width.ts";

export interface TableColumn {
  name: string;
  /** Never cut. */
  isWhole?: boolean;
  /** Left out first when the table is too wide. */
  isAside?: boolean;
}

/**
 * Rows under a header. Where the columns cannot be shown side by side in a width that says anything, each row
 * becomes a record of its own.
 * @param width columns of the screen; infinite: nothing is cut
 */
export function renderTable(
  columns: readonly TableColumn[],
  rows: readonly string[][],
  width: number,
  isColored: boolean,
): string {
  const header = columns.map(({ name }) => name);
  const lines = [header, ...rows].map((row) => row.map(escapeControls));
  const natural = naturalWidths(lines);
  const leasts = toLeastWidths(columns, natural);
  if (computeTotal(leasts) <= width)
    return drawLines(lines, fitWidths(natural, leasts, width), (line) => isColored && line === 0);
  const toPairs = (row: string[]) =>
    header.map((name, column): [string, string] => [name, row[column] ?? ""]);
  return rows.map((row) => renderRecord(toPairs(row), width, isColored)).join("\n");
}

/** One thing as lines of name and value. A long value is broken between words, a long word is not. */
export function renderRecord(
  pairs: [name: string, value: string][],
  width: number,
  isColored: boolean,
): string {
  const escaped = pairs.map((pair) => pair.map(escapeControls));
  const nameWidth = Math.min(naturalWidths(escaped)[0]!, Math.floor(width / 2));
  const room = Math.max(minWidth, width - nameWidth - gap.length);
  const lines = escaped.flatMap(([name, value]) =>
    wrapProse(value!, room).map((part, index) => [index === 0 ? name! : "", part]),
  );
  const widths = [nameWidth, naturalWidths(lines)[1]!];
  return drawLines(lines, widths, (_line, column) => isColored && column === 0);
}

/** What is laid out with blanks stays as it is. */
function wrapProse(text: string, width: number): string[] {
  return text.includes("  ") ? [text] : wrap(text, width);
}

/** Columns of the screen that these take side by side. */
function computeTotal(widths: readonly number[]): number {
  return widths.reduce((sum, each) => sum + each + gap.length, -gap.length);
}

/** How far each column may be cut. */
function toLeastWidths(columns: readonly TableColumn[], natural: readonly number[]): number[] {
  return natural.map((each, column) => (columns[column]!.isWhole ? each : Math.min(each, minWidth)));
}

/** For each column its widest cell. */
function naturalWidths(lines: readonly string[][]): number[] {
  return lines[0]!.map((_, column) =>
    lines.reduce((widest, line) => Math.max(widest, measureWidth(line[column] ?? "")), 1),
  );
}

/** Narrows the widest columns step by step until all fit; none below its least width. */
function fitWidths(natural: readonly number[], leasts: readonly number[], width: number): number[] {
  const widths = natural.map((each, column) => Math.min(each, Math.max(leasts[column]!, width)));
  for (let excess = computeTotal(widths) - width; excess > 0; excess--) {
    const open = widths.map((each, column) => (each > leasts[column]! ? each : 0));
    widths[open.indexOf(Math.max(...open))]! -= 1;
  }
  return widths;
}

const frame = [
  ...["top", "top-mid", "top-left", "top-right", "bottom", "bottom-mid", "bottom-left", "bottom-right"],
  ...["left", "left-mid", "mid", "mid-mid", "right", "right-mid"],
];
/** Borders and colours off: the gap between columns is the only ornament. */
const bareChars = { ...Object.fromEntries(frame.map((part) => [part, ""])), middle: gap };

/** One column wide for the library and for every terminal; no plain text holds it. */
const filler = "\ue000";
const fillers = /\ue000+/g;

/**
 * Draws cells in columns of these widths. The library measures text by older rules than terminals do: what is
 * more than plain is drawn as filler of its width, which is replaced afterwards.
 */
function drawLines(
  lines: readonly string[][],
  widths: readonly number[],
  isBold: (line: number, column: number) => boolean,
): string {
  const { bold } = createStyle(true);
  const replaced: string[] = [];
  const toDrawable = (cell: string, room: number) => {
    if (isPlain(cell)) return cell;
    const shown = cut(cell, room);
    if (measureWidth(shown) === 0) return "";
    replaced.push(shown);
    return filler.repeat(measureWidth(shown));
  };
  const table = new Table({
    chars: bareChars,
    colWidths: [...widths],
    style: { head: [], border: [], "padding-left": 0, "padding-right": 0, compact: true },
  });
  for (const [index, line] of lines.entries()) {
    const cells = widths.map((room, column) => toDrawable(line[column] ?? "", room));
    table.push(cells.map((cell, column) => (isBold(index, column) ? bold(cell) : cell)));
  }
  const drawn = table.toString().replace(fillers, () => replaced.shift()!);
  // Trailing blanks. From each blank of a long run, instead of from its first, it would take for ever.
  return `${drawn.replace(/(?<![ \t])[ \t]+((?:\u001b\[\d+m)*)$/gm, "$1")}\n`;
}

export interface FittedTable<C extends TableColumn> {
  columns: C[];
  rows: string[][];
  /** Columns with content that did not fit. */
  leftOut: string[];
}

/**
 * Leaves out columns that are empty in every row; then, where the rest is wider than the screen, those that
 * are asides; then, from the last one on, those without which the others fit when they are cut.
 * @param width columns of the screen
 */
export function fitColumns<C extends TableColumn>(
  columns: readonly C[],
  rows: readonly string[][],
  width: number,
): FittedTable<C> {
  const header = columns.map(({ name }) => name);
  const natural = naturalWidths([header, ...rows].map((row) => row.map(escapeControls)));
  const leasts = toLeastWidths(columns, natural);
  const filled = [...columns.keys()].filter((place) => rows.some((row) => row[place] !== ""));
  let shown = filled.length > 0 ? filled : [0];
  const leaveOutWhile = (widths: readonly number[], mayGo: (place: number) => boolean) => {
    while (computeTotal(shown.map((place) => widths[place]!)) > width) {
      const last = shown.findLast((place) => place > 0 && mayGo(place));
      if (last === undefined) return;
      shown = shown.filter((place) => place !== last);
    }
  };
  leaveOutWhile(natural, (place) => columns[place]!.isAside === true);
  leaveOutWhile(leasts, () => shown.length > 1);
  return {
    columns: shown.map((place) => columns[place]!),
    rows: rows.map((row) => shown.map((place) => row[place] ?? "")),
    leftOut: filled.filter((place) => !shown.includes(place)).map((place) => header[place]!),
  };
}

/** Several names in a cell: all where they are short, else the first and how many more there are. */
export function formatShortNames(names: readonly string[]): string {
  const all = names.join(", ");
  if (names.length < 2 || measureWidth(escapeControls(all)) <= maxNamesShown) return all;
  return `${names[0]} +${names.length - 1}`;
}

const maxNamesShown = 20;
