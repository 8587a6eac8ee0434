/** How the numbers of a report look: as data, and to people. */
import type { Figure } from "../../../service/reports.ts";
import type { Column, View } from "../../../terminal/present.ts";
import { toCell } from "../../shared/record-columns.ts";

/** One row for each number, for spreadsheets. */
export const figureView: View<Figure> = {
  columns: [
    { name: "part", value: ({ part }) => part },
    { name: "name", value: ({ name }) => name },
    { name: "value", value: ({ value }) => toCell(value) },
    { name: "previous", value: ({ previous }) => toCell(previous) },
    { name: "change", value: ({ change }) => toCell(change) },
    { name: "rate", value: ({ rate }) => toCell(rate) },
    { name: "rateChange", value: ({ rateChange }) => toCell(rateChange) },
    { name: "id", value: ({ id }) => toCell(id) },
    { name: "time", value: ({ time }) => toCell(time) },
  ],
  id: ({ id }) => String(toCell(id) ?? ""),
};

/** The same to people, without what names its part. @param heading of the names */
export function screenView(heading: string): View<Figure> {
  const titles: Record<string, string> = {
    name: heading,
    value: "count",
    previous: "before",
    rateChange: "rate change",
  };
  const isShown = ({ name }: Column<Figure>) => !["part", "id", "time"].includes(name);
  return {
    ...figureView,
    columns: figureView.columns.filter(isShown).map((column) => ({
      ...column,
      title: titles[column.name],
      value: (figure) => {
        const cell = column.value(figure);
        if (column.name === "name") return inWords(figure.name);
        return /change/i.test(column.name) && typeof cell === "number" ? inPerCent(cell) : cell;
      },
    })),
  };
}

/** `unique opens` of `uniqueOpens`. */
export function inWords(name: string): string {
  return name.replace(
    /([a-z])([A-Z])/g,
    (_both, one: string, other: string) => `${one} ${other.toLowerCase()}`,
  );
}

function inPerCent(change: number): string {
  const sign = change > 0 ? "+" : change < 0 ? "−" : "";
  return `${sign}${Math.abs(change).toLocaleString("en-US")} %`;
}
