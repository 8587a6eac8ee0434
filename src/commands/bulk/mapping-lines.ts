/** Where the columns of a file go, before anything is sent: column → field, with the first value of each. */
import { newFieldLabel } from "../../bulk/input/new-fields.ts";
import type { InputFacts, ReadRow, Target } from "../../bulk/input/rows.ts";
import { cut, widthOf } from "../../terminal/text-width.ts";

/** @returns nothing for a file that only names contacts */
export function mappingLines({ columns, sample }: InputFacts, width: number): string[] {
  if (!columns.some(({ target }) => target.kind === "field")) return [];
  const rows = columns
    .map(({ name, target }, place) => ({
      name: named(name, place),
      target,
      value: firstValue(sample, place),
    }))
    .filter(({ target }) => target.kind !== "ignore")
    .map(({ name, target, value }): [string, string, string] => [name, targetText(target), value]);
  const all: [string, string, string][] = [["Column", "Field", "First value"], ...rows];
  const [first, second] = [0, 1].map((place) =>
    Math.min(mostWidth, Math.max(...all.map((row) => widthOf(row[place]!)))),
  ) as [number, number];
  const room = Math.max(leastRoom, width - 2 - first - 4 - second - 2);
  return all.map(([column, field, value], place) => {
    const arrow = place === 0 ? " →  " : "    ";
    return `  ${fitted(column, first)}${arrow}${fitted(field, second)}  ${cut(value, room)}`.trimEnd();
  });
}

const mostWidth = 28;
const leastRoom = 10;

function named(name: string, place: number): string {
  return name.trim() === "" ? `column ${place + 1}` : name;
}

function targetText(target: Target): string {
  if (target.kind !== "field") return target.kind;
  return newFieldLabel(target.fieldId) === undefined ? target.label : `${target.label} (new)`;
}

function firstValue(sample: readonly ReadRow[], place: number): string {
  const cells = sample.map((row) => row.cells[place]?.trim() ?? "");
  return cells.find((cell) => cell !== "")?.replaceAll(/\s+/g, " ") ?? "";
}

function fitted(text: string, width: number): string {
  const shown = cut(text, width);
  return shown + " ".repeat(width - widthOf(shown));
}
