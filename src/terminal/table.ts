/** Tables for people: fitted to the width, safe to show, aligned on wide and combining characters. */
import Table from "cli-table3";
import { escapeControls } from "./escape.ts";
import { createStyle } from "./style.ts";
import { cut, gap, isPlain, measureWidth, minWidth, wrap } from "./text-width.ts";

/**
 * Lines that are drawn together: the first ones appear while the rest is still drawn. In one piece, each row
 * of a long table would take longer.
 */
const blockLines = 24;

/**
 * Rows under a header. Where the columns cannot be shown side by side in a width that says anything, each row
 * becomes a record of its own.
 * @param width columns of the screen; infinite: nothing is cut
 * @returns the text in pieces, each of whole lines
 */
export function* renderTable(
  columns: readonly TableColumn[],
  rows: string[][],
  width: number,
  isColored: boolean,
): Generator<string> {
  const header = columns.map(({ name }) => name);
  const lines = [header, ...rows].map((row) => row.map(escapeControls));
  const natural = naturalWidths(lines);
  const leasts = toLeastWidths(columns, natural);
  if (computeTotal(leasts) > width) {
    yield* renderRecords(header, rows, width, isColored);
    return;
  }
  const widths = fitWidths(natural, leasts, width);
  for (let from = 0; from < lines.length; from += blockLines) {
    const isBold = (line: number) => isColored && from + line === 0;
    yield drawLines(lines.slice(from, from + blockLines), widths, isBold);
  }
}

function* renderRecords(
  header: string[],
  rows: string[][],
  width: number,
  isColored: boolean,
): Generator<string> {
  for (const [index, row] of rows.entries()) {
    const pairs = header.map((name, column): [string, string] => [name, row[column] ?? ""]);
    yield `${index === 0 ? "" : "\n"}${renderRecord(pairs, width, isColored)}`;
  }
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
function naturalWidths(lines: string[][]): number[] {
  return lines[0]!.map((_, column) =>
    lines.reduce((widest, line) => Math.max(widest, measureWidth(line[column] ?? "")), 1),
  );
}

/** Borders and colours off: the gap between columns is the only ornament. */
const bareChars = {
  top: "",
  "top-mid": "",
  "top-left": "",
  "top-right": "",
  bottom: "",
  "bottom-mid": "",
  "bottom-left": "",
  "bottom-right": "",
  left: "",
  "left-mid": "",
  mid: "",
  "mid-mid": "",
  right: "",
  "right-mid": "",
  middle: gap,
} as const;

/** One column wide for the library and for every terminal; no plain text holds it. */
const filler = "\ue000";
const fillers = /\ue000+/g;

/**
 * Draws cells in columns of these widths. The library measures text by older rules than terminals do: what is
 * more than plain is drawn as filler of its width, which is replaced afterwards.
 */
function drawLines(
  lines: string[][],
  widths: number[],
  isBold: (line: number, column: number) => boolean,
): string {
  const { bold } = createStyle(true);
  const replaced: string[] = [];
  const drawable = (cell: string, room: number) => {
    if (isPlain(cell)) return cell;
    const shown = cut(cell, room);
    if (measureWidth(shown) === 0) return "";
    replaced.push(shown);
    return filler.repeat(measureWidth(shown));
  };
  const table = new Table({
    chars: bareChars,
    colWidths: widths,
    style: { head: [], border: [], "padding-left": 0, "padding-right": 0, compact: true },
  });
  for (const [index, line] of lines.entries()) {
    table.push(
      widths.map((room, column) => {
        const cell = drawable(line[column] ?? "", room);
        return isBold(index, column) ? bold(cell) : cell;
      }),
    );
  }
  const drawn = table.toString().replace(fillers, () => replaced.shift()!);
  return `${removeTrailingBlanks(drawn)}\n`;
}

/** Narrows the widest columns step by step until all fit; none below its least width. */
function fitWidths(natural: number[], leasts: number[], width: number): number[] {
  const widths = [...natural];
  const room = width - gap.length * (widths.length - 1);
  for (;;) {
    const used = widths.reduce((sum, each) => sum + each, 0);
    const open = widths.filter((each, column) => each > leasts[column]!);
    if (used <= room || open.length === 0) return widths;
    const widest = Math.max(...open);
    const second = Math.max(...open.filter((each) => each < widest), minWidth);
    const count = open.filter((each) => each === widest).length;
    const target = Math.max(second, widest - Math.ceil((used - room) / count));
    for (const [column, each] of widths.entries()) {
      if (each === widest && each > leasts[column]!) widths[column] = target;
    }
  }
}

function removeTrailingBlanks(text: string): string {
  // Only from where a run of blanks begins: from each of its blanks, long ones would take for ever.
  return text.replace(/(?<![ \t])[ \t]+((?:\u001b\[\d+m)*)$/gm, "$1");
}

export interface TableColumn {
  name: string;
  /** Never cut. */
  isWhole?: boolean;
  /** Left out first when the table is too wide. */
  isAside?: boolean;
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
  const natural = naturalWidths(
    [columns.map(({ name }) => name), ...rows].map((row) => row.map(escapeControls)),
  );
  const leasts = toLeastWidths(columns, natural);
  const filled = columns.map((_, place) => place).filter((place) => rows.some((row) => row[place] !== ""));
  let shownPlaces = filled.length > 0 ? filled : [0];
  const isTooWide = (widths: number[]) => computeTotal(shownPlaces.map((place) => widths[place]!)) > width;
  const leaveOut = (place: number | undefined) => {
    if (place === undefined) return false;
    shownPlaces = shownPlaces.filter((each) => each !== place);
    return true;
  };
  while (shownPlaces.length > 1 && isTooWide(natural)) {
    if (!leaveOut(shownPlaces.findLast((place) => place > 0 && columns[place]!.isAside))) break;
  }
  while (shownPlaces.length > 1 && isTooWide(leasts)) {
    if (!leaveOut(shownPlaces.findLast((place) => place > 0))) break;
  }
  return {
    columns: shownPlaces.map((place) => columns[place]!),
    rows: rows.map((row) => shownPlaces.map((place) => row[place] ?? "")),
    leftOut: filled.filter((place) => !shownPlaces.includes(place)).map((place) => columns[place]!.name),
  };
}

/** Several names in a cell: all where they are short, else the first and how many more there are. */
export function formatShortNames(names: readonly string[]): string {
  const all = names.join(", ");
  if (names.length < 2 || measureWidth(escapeControls(all)) <= maxNamesShown) return all;
  return `${names[0]} +${names.length - 1}`;
}

const maxNamesShown = 20;
