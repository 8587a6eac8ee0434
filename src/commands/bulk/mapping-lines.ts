/**
 * Where the columns of a file go, before anything is sent: column → field, with the first value of each; what
 * is ignored comes last.
 */

import { parseNewFieldId } from "../../api/structures.ts";
import { findUnknown, type InputFacts, type ReadRow, type Target } from "../../tables/index.ts";
import { cut, measureWidth } from "../../terminal/text-width.ts";

/** @returns nothing for a file that only names contacts */
export function formatMapping({ columns, constants, sample, keyName }: InputFacts, width: number): string[] {
  if (constants.length === 0 && !columns.some(({ target }) => target.kind === "field")) return [];
  const rows = columns.map(({ name, target }, place): Row & { isIgnored: boolean } => ({
    isIgnored: target.kind === "ignore",
    texts: [formatColumnName(name, place), formatTarget(target, keyName), findFirstValue(sample, place)],
  }));
  for (const { label, value } of constants) rows.push({ isIgnored: false, texts: ["--set", label, value] });
  const read = rows.filter(({ isIgnored }) => !isIgnored);
  // An empty column is not missed.
  const ignored = rows.filter(({ isIgnored, texts }) => isIgnored && texts[2] !== "");
  const all = [
    ["Column", "Field", "First value"] as const,
    ...[...read, ...ignored.slice(0, maxIgnoredListed)].map(({ texts }) => texts),
  ];
  const [first, second] = shareWidth(
    [0, 1].map((place) => Math.max(...all.map((row) => measureWidth(row[place]!)))) as [number, number],
    width - edges - minRoom,
  );
  const room = Math.max(minRoom, width - edges - first - second);
  const lines = all.map(([column, field, value], place) => {
    const arrow = place === 0 ? " →  " : "    ";
    return `  ${fitToWidth(column, first)}${arrow}${fitToWidth(field, second)}  ${cut(value, room)}`.trimEnd();
  });
  const more = ignored.length - maxIgnoredListed;
  return more > 0 ? [...lines, `  … ${more} more ${more === 1 ? "column" : "columns"} ignored`] : lines;
}

interface Row {
  texts: readonly [column: string, field: string, value: string];
}

/** Exports of other systems have dozens of columns that only they know. */
const maxIgnoredListed = 5;
const maxColumnWidth = 28;
const minRoom = 12;
/** The indentation, the arrow and the gap before the value. */
const edges = 2 + 4 + 2;

/** In a narrow window the wider one gives way first. */
function shareWidth(needed: [number, number], width: number): [number, number] {
  const [first, second] = needed.map((each) => Math.min(each, maxColumnWidth)) as [number, number];
  const half = Math.floor(width / 2);
  return [Math.min(first, Math.max(half, width - second)), Math.min(second, Math.max(half, width - first))];
}

function formatColumnName(name: string, place: number): string {
  return name.trim() === "" ? `column ${place + 1}` : name;
}

function formatTarget(target: Target, keyName: string): string {
  if (target.kind === "ignore") return "– ignored";
  if (target.kind === "key") return formatKeyTarget(keyName);
  if (target.kind !== "field") return target.kind;
  return parseNewFieldId(target.fieldId) === undefined ? target.label : `${target.label} (new)`;
}

/** `Email (key)`: by the name that the structure has for it, and by the word that `--map` takes. */
export function formatKeyTarget(keyName: string): string {
  return keyName.toLowerCase() === "key" ? keyName : `${keyName} (key)`;
}

function findFirstValue(sample: readonly ReadRow[], place: number): string {
  const cells = sample.map((row) => (findUnknown(row.cells[place]) ?? row.cells[place] ?? "").trim());
  return cells.find((cell) => cell !== "")?.replaceAll(/\s+/g, " ") ?? "";
}

function fitToWidth(text: string, width: number): string {
  const cutText = cut(text, width);
  return cutText + " ".repeat(width - measureWidth(cutText));
}
