/**
 * The one writer of delimited text: quoting for csv, escaping for tsv, apostrophes for spreadsheets. Pure.
 */

/** One csv line without its line break (RFC 4180): a cell is quoted when it must be. */
export function formatCsvLine(cells: readonly string[], delimiter = ","): string {
  const line = cells.map((cell) => formatCsvCell(cell, delimiter)).join(delimiter);
  // A lone empty cell would read back as a blank line, which is no record.
  return line === "" ? '""' : line;
}

function formatCsvCell(cell: string, delimiter: string): string {
  if (cell === "") return cell;
  // With tabs in between, quotes say that it is no tsv, whose cells are escaped.
  const mustQuote = /["\r\n]|^\s|\s$/.test(cell) || cell.includes(delimiter) || delimiter === "\t";
  return mustQuote ? quotedCell(cell) : cell;
}

export function quotedCell(cell: string): string {
  return `"${cell.replaceAll('"', '""')}"`;
}

/** One tsv line without its line break: tab, line breaks and backslash become `\t`, `\n`, `\r`, `\\`. */
export function formatTsvLine(cells: readonly string[]): string {
  return cells.map(formatTsvCell).join("\t");
}

function formatTsvCell(cell: string): string {
  return cell.replace(/[\\\t\n\r]/g, (letter) => `\\${escapedLetters[letter]!}`);
}

const escapedLetters: Record<string, string> = { "\\": "\\", "\t": "t", "\n": "n", "\r": "r" };

/** The reverse; a cell that `formatTsvCell` cannot have written stays as it is. */
export function parseTsvCell(cell: string): string {
  if (!cell.includes("\\") || !/^(?:[^\\]|\\[\\tnr])*$/.test(cell)) return cell;
  return cell.replace(/\\(.)/g, (_, letter: string) => plainLetters[letter]!);
}

const plainLetters = Object.fromEntries(
  Object.entries(escapedLetters).map(([plain, letter]) => [letter, plain]),
);

/**
 * Also behind blanks that a spreadsheet may pass over, and in the full-width forms that some take for the
 * same.
 */
const formulaStart = /^(?:[\t\r\n']|[\s\u200b\u2060]*[=+\-@\uff1d\uff0b\uff0d\uff20])/;

/**
 * A cell that a spreadsheet would run as a formula gets a leading apostrophe; one that has one gets one more.
 */
export function toSafeCell(cell: string): string {
  return formulaStart.test(cell) ? `'${cell}` : cell;
}

/** Several names in one cell: itself a csv record, so that a name may hold commas and quotes. */
export function joinNames(names: readonly string[], separator = ","): string {
  return names.map((name) => formatCsvCell(name, ",")).join(separator);
}
