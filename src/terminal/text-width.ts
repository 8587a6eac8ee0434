/** How wide a text is on a screen, and cutting it to a width. */
import stringWidth from "fast-string-width";

/** Between the columns of a table. */
export const gap = "  ";
/** A column cut below this says nothing any more. */
export const minWidth = 10;
const plain = /^[ -~…]*$/;

/**
 * Whether a text needs neither tables of widths nor rules for whole characters, both of which are slow to
 * begin with.
 */
export function isPlain(text: string): boolean {
  return plain.test(text);
}

/** Columns that a text takes on a screen. */
export function measureWidth(text: string): number {
  return isPlain(text) ? text.length : stringWidth(text);
}

/** Cuts at a whole character so that at most `width` columns remain, the last one an ellipsis. */
export function cut(text: string, width: number): string {
  if (measureWidth(text) <= width) return text;
  if (isPlain(text)) return `${text.slice(0, Math.max(0, width - 1))}…`;
  let prefix = "";
  let used = 0;
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    const next = measureWidth(segment);
    if (used + next > width - 1) break;
    prefix += segment;
    used += next;
  }
  return `${prefix}…`;
}

/** Lines of at most `width` columns, broken between words; a word that is wider has a line of its own. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last === undefined || measureWidth(last) + 1 + measureWidth(word) > width) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}
