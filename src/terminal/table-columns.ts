/** Which columns a table shows, so that it stays a table on a narrow screen. Pure. */
import { escapeControls } from "./escape.ts";
import { gap, measureWidth, minWidth } from "./text-width.ts";

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
  const natural = columns.map(({ name }, place) =>
    rows.reduce((widest, row) => Math.max(widest, measureCell(row[place] ?? "")), measureCell(name) || 1),
  );
  const filled = columns.map((_, place) => place).filter((place) => rows.some((row) => row[place] !== ""));
  let shownPlaces = filled.length > 0 ? filled : [0];
  const total = (widths: number[]) => widths.reduce((sum, each) => sum + each + gap.length, -gap.length);
  const isTooWide = () => total(shownPlaces.map((place) => natural[place]!)) > width;
  const cannotBeCut = () => {
    const leasts = shownPlaces.map((place) =>
      columns[place]!.isWhole ? natural[place]! : Math.min(natural[place]!, minWidth),
    );
    return total(leasts) > width;
  };
  const leaveOut = (place: number | undefined) => {
    if (place === undefined) return false;
    shownPlaces = shownPlaces.filter((each) => each !== place);
    return true;
  };
  while (shownPlaces.length > 1 && isTooWide()) {
    if (!leaveOut(shownPlaces.findLast((place) => place > 0 && columns[place]!.isAside))) break;
  }
  while (shownPlaces.length > 1 && cannotBeCut()) {
    if (!leaveOut(shownPlaces.findLast((place) => place > 0))) break;
  }
  return {
    columns: shownPlaces.map((place) => columns[place]!),
    rows: rows.map((row) => shownPlaces.map((place) => row[place] ?? "")),
    leftOut: filled.filter((place) => !shownPlaces.includes(place)).map((place) => columns[place]!.name),
  };
}

/**
 * A time as people say it: `today`, `2 Nov`, `2 Nov 2025`, in local
 * time. Anything that is no time stays as it is.
 */
export function formatShortDate(text: string, now: Date): string {
  const time = new Date(text);
  if (!/^\d{4}-\d\d-\d\d/.test(text) || Number.isNaN(time.getTime())) return text;
  if (time.toDateString() === now.toDateString()) return "today";
  const day = `${time.getDate()} ${months[time.getMonth()]}`;
  return time.getFullYear() === now.getFullYear() ? day : `${day} ${time.getFullYear()}`;
}

/** `today, 10:11`, `2 Nov 2026, 14:02`, in local time. Anything that is no time stays as it is. */
export function formatDayAndTime(text: string, now: Date): string {
  const time = new Date(text);
  if (!/^\d{4}-\d\d-\d\d/.test(text) || Number.isNaN(time.getTime())) return text;
  const isToday = time.toDateString() === now.toDateString();
  const day = isToday ? "today" : `${time.getDate()} ${months[time.getMonth()]} ${time.getFullYear()}`;
  return `${day}, ${time.toTimeString().slice(0, 5)}`;
}

const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** Several names in a cell: all where they are short, else the first and how many more there are. */
export function formatShortNames(names: readonly string[]): string {
  const all = names.join(", ");
  if (names.length < 2 || measureCell(all) <= maxNamesShown) return all;
  return `${names[0]} +${names.length - 1}`;
}

const maxNamesShown = 20;

/** Columns that a cell takes on a screen, its control characters escaped. */
function measureCell(text: string): number {
  return measureWidth(escapeControls(text));
}
