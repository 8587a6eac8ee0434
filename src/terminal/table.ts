/** Tables for people: fitted to the width, safe to show, aligned on wide and combining characters. */
import { escapeControls } from "./escape.ts";
import { styleFor } from "./style.ts";
import { cut, gap, narrowest, widthOf } from "./text-width.ts";

export { dayAndTime, fitColumns, shortDate, shortNames } from "./table-columns.ts";

/**
 * Rows under a header. Where the columns cannot be shown side by side in a width that says anything, each row becomes
 * a block of its own.
 * @param width columns of the screen; infinite: nothing is cut
 * @param isWhole for each column, whether its cells may not be cut
 */
export function renderTable(
  header: string[],
  rows: string[][],
  width: number,
  isColored: boolean,
  isWhole: readonly boolean[] = [],
): string {
  const style = styleFor(isColored);
  const head = header.map(escapeControls);
  const body = rows.map((row) => row.map(escapeControls));
  const natural = head.map((name, column) =>
    body.reduce((widest, row) => Math.max(widest, widthOf(row[column] ?? "")), widthOf(name) || 1),
  );
  const leasts = natural.map((each, column) => (isWhole[column] ? each : Math.min(each, narrowest)));
  if (leasts.reduce((sum, each) => sum + each + gap.length, -gap.length) > width) {
    return renderBlocks(header, rows, width, isColored);
  }
  const widths = fitWidths(natural, leasts, width);
  const fill = (cells: string[], paint = (text: string) => text) =>
    widths
      .map((room, column) => {
        const shown = cut(cells[column] ?? "", room);
        return paint(shown) + " ".repeat(room - widthOf(shown));
      })
      .join(gap);
  const lines = [fill(head, style.bold), ...body.map((row) => fill(row))];
  return `${withoutTrailingBlanks(lines.join("\n"))}\n`;
}

function renderBlocks(header: string[], rows: string[][], width: number, isColored: boolean): string {
  return rows
    .map((row) =>
      renderRecord(
        header.map((name, column) => [name, row[column] ?? ""]),
        width,
        isColored,
      ),
    )
    .join("\n");
}

/** One thing as lines of name and value. */
export function renderRecord(
  pairs: [name: string, value: string][],
  width: number,
  isColored: boolean,
): string {
  const style = styleFor(isColored);
  const widest = Math.min(
    Math.max(...pairs.map(([name]) => widthOf(escapeControls(name)))),
    Math.floor(width / 2),
  );
  const lines = pairs.map(([name, value]) => {
    const label = cut(escapeControls(name), widest);
    return `${style.bold(label)}${" ".repeat(widest - widthOf(label))}${gap}${escapeControls(value)}`;
  });
  return `${withoutTrailingBlanks(lines.join("\n"))}\n`;
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
    const second = Math.max(...open.filter((each) => each < widest), narrowest);
    const count = open.filter((each) => each === widest).length;
    const target = Math.max(second, widest - Math.ceil((used - room) / count));
    for (const [column, each] of widths.entries()) {
      if (each === widest && each > leasts[column]!) widths[column] = target;
    }
  }
}

function withoutTrailingBlanks(text: string): string {
  // Only from where a run of blanks begins: from each of its blanks, long ones would take for ever.
  return text.replace(/(?<![ \t])[ \t]+((?:\u001b\[\d+m)*)$/gm, "$1");
}
