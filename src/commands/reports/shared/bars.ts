/** A histogram: bars for people, fitted to the screen; days or hours and their numbers for everybody else. */

import type { Context } from "../../../context.ts";
import { listMembers } from "../../../service/records.ts";
import { type Bar, readBars } from "../../../service/reports.ts";
import type { OutputOptions } from "../../../terminal/format.ts";
import type { View } from "../../../terminal/present.ts";
import { presentBars } from "../../shared/bars.ts";
import { memberColumn, toCell } from "../../shared/record-columns.ts";
import { timeInZone } from "../../shared/zone.ts";

/** @param details members of a bar's detail that are columns */
export function barView(details: readonly string[] = []): View<Bar> {
  return {
    columns: [
      { name: "date", value: ({ date }) => toCell(date), isWhole: true },
      { name: "total", value: ({ total }) => toCell(total) },
      ...details.map((name) => ({
        ...memberColumn(name),
        value: ({ detail }: Bar) => memberColumn(name).value(detail),
      })),
      { name: "detail", value: ({ detail }) => toCell(detail), optional: true },
    ],
    id: ({ date }) => String(toCell(date) ?? ""),
  };
}

/** Presents the bars of a histogram for people. */
export async function showBars(
  context: Context,
  output: OutputOptions,
  histogram: unknown,
  timeZone: string,
): Promise<void> {
  const bars = readBars(histogram);
  const details = [...new Set(bars.flatMap(({ detail }) => listMembers(detail).map(([name]) => name)))];
  const { columns, ...view } = barView(details);
  const shown = columns.filter(({ optional }) => !optional);
  const inZone = shown.map((column) => ({
    ...column,
    value: (bar: Bar) => {
      const cell = column.value(bar);
      return column.name === "date" && typeof cell === "string" ? timeInZone(cell, timeZone) : cell;
    },
  }));
  await presentBars(context, output, bars, { ...view, columns: inZone, measure: measureHeight });
}

function measureHeight({ total }: Bar): number {
  return typeof total === "number" && total > 0 ? total : 0;
}
