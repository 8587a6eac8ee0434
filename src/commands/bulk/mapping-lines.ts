/** Where the columns of a file go, before anything is sent: column → field, with the first value of each; what is ignored comes last. */
import { newFieldLabel } from "../../bulk/read/new-fields.ts";
import type { InputFacts, ReadRow, Target } from "../../bulk/read/rows.ts";
import { cut, widthOf } from "../../terminal/text-width.ts";

/** @returns nothing for a file that only names contacts */
export function mappingLines({ columns, computed, sample }: InputFacts, width: number): string[] {
  if (![...columns, ...computed].some(({ target }) => target.kind === "field")) return [];
  const rows = columns.map(({ name, target }, place): Row & { isIgnored: boolean } => ({
    isIgnored: target.kind === "ignore",
    texts: [named(name, place), targetText(target), firstValue(sample, place)],
  }));
  for (const { name, index, target, rule } of computed) {
    if (index === undefined) rows.push({ isIgnored: false, texts: [name, targetText(target), `(${rule})`] });
    else rows[index]!.texts = [name, targetText(target), `${firstValue(sample, index)} (${rule})`];
  }
  const read = rows.filter(({ isIgnored }) => !isIgnored);
  // An empty column is not missed.
  const ignored = rows.filter(({ isIgnored, texts }) => isIgnored && texts[2] !== "");
  const all = [
    ["Column", "Field", "First value"] as const,
    ...[...read, ...ignored.slice(0, mostIgnored)].map(({ texts }) => texts),
  ];
  const [first, second] = [0, 1].map((place) =>
    Math.min(mostWidth, Math.max(...all.map((row) => widthOf(row[place]!)))),
  ) as [number, number];
  const room = Math.max(leastRoom, width - 2 - first - 4 - second - 2);
  const lines = all.map(([column, field, value], place) => {
    const arrow = place === 0 ? " →  " : "    ";
    return `  ${fitted(column, first)}${arrow}${fitted(field, second)}  ${cut(value, room)}`.trimEnd();
  });
  const more = ignored.length - mostIgnored;
  return more > 0 ? [...lines, `  … ${more} more ${more === 1 ? "column" : "columns"} ignored`] : lines;
}

interface Row {
  texts: readonly [column: string, field: string, value: string];
}

/** Exports of other systems have dozens of columns that only they know. */
const mostIgnored = 5;
const mostWidth = 28;
const leastRoom = 10;

function named(name: string, place: number): string {
  return name.trim() === "" ? `column ${place + 1}` : name;
}

function targetText(target: Target): string {
  if (target.kind === "ignore") return "– ignored";
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
