/** A histogram: bars for people, fitted to the screen; days or hours and their numbers for everybody else. */
import type { Context } from "../../../context.ts";
import { membersOf } from "../../../service/records.ts";
import { type Bar, readBars } from "../../../service/reports.ts";
import type { OutputOptions } from "../../../terminal/format.ts";
import { presentList, type View } from "../../../terminal/present.ts";
import { measureWidth } from "../../../terminal/text-width.ts";
import { cellOf, memberColumn } from "../../shared/record-columns.ts";
import { timeInZone } from "./zone.ts";

/** @param details members of a bar's detail that are columns */
export function barView(details: readonly string[] = []): View<Bar> {
  return {
    columns: [
      { name: "date", value: ({ date }) => cellOf(date), isWhole: true },
      { name: "total", value: ({ total }) => cellOf(total) },
      ...details.map((name) => ({
        ...memberColumn(name),
        value: ({ detail }: Bar) => memberColumn(name).value(detail),
      })),
      { name: "detail", value: ({ detail }) => cellOf(detail), optional: true },
    ],
    id: ({ date }) => String(cellOf(date) ?? ""),
  };
}

/** A screen narrower than this beside the numbers has no room for bars. */
const shortestRoom = 8;

/** Presents the bars of a histogram for people. */
export async function showBars(
  { terminal }: Context,
  output: OutputOptions,
  histogram: unknown,
  timeZone: string,
): Promise<void> {
  const bars = readBars(histogram);
  const details = [...new Set(bars.flatMap(({ detail }) => membersOf(detail).map(([name]) => name)))];
  const { columns, ...view } = barView(details);
  const shown = columns.filter(({ optional }) => !optional);
  const inZone = shown.map((column) => ({
    ...column,
    value: (bar: Bar) => {
      const cell = column.value(bar);
      return column.name === "date" && typeof cell === "string" ? timeInZone(cell, timeZone) : cell;
    },
  }));
  const widths = inZone.map((column) =>
    Math.max(
      measureWidth(column.name),
      ...bars.map((bar) => {
        const cell = column.value(bar);
        return measureWidth(typeof cell === "number" ? cell.toLocaleString("en-US") : String(cell ?? ""));
      }),
    ),
  );
  const room = terminal.columns - widths.reduce((sum, width) => sum + width + 2, 0);
  const most = Math.max(0, ...bars.map(heightOf));
  const isDrawn = most > 0 && room >= shortestRoom && !terminal.isAccessible;
  const drawn = {
    name: "bar",
    title: " ",
    value: (bar: Bar) => "█".repeat(Math.ceil((heightOf(bar) / most) * room)),
  };
  await presentList(terminal, output, bars, { ...view, columns: isDrawn ? [...inZone, drawn] : inZone });
}

function heightOf({ total }: Bar): number {
  return typeof total === "number" && total > 0 ? total : 0;
}
