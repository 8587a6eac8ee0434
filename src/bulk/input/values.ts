/** Reading: what stands in a cell → the values it means, by the rules of the file. */
import { type Splitting, systemApostrophe } from "./systems.ts";

/** The cell without what a spreadsheet needed and the value does not have. */
export function valueReader(hasSafeCells: boolean, hasApostrophes: boolean): (cell: string) => string {
  if (hasSafeCells) return (cell) => (cell.charCodeAt(0) === 39 ? cell.slice(1) : cell);
  if (hasApostrophes)
    return (cell) => (cell.charCodeAt(0) === 39 ? cell.replace(systemApostrophe, "") : cell);
  return (cell) => cell;
}

/** Several names in one cell; names are trimmed, empty ones are none. */
export function splitNames(cell: string, splitting: Splitting): string[] {
  const parts = splitting === "csv" ? splitRecord(cell) : cell.split(splitting.trim());
  return parts.map((part) => part.trim()).filter((part) => part !== "");
}

/** A record of delimited text inside a cell. With quotes that make no sense, its commas still part names. */
function splitRecord(cell: string): string[] {
  if (!cell.includes('"')) return cell.split(",");
  const names: string[] = [];
  const part = /\s*(?:"((?:[^"]|"")*)"\s*|([^,]*))(,|$)/gy;
  while (part.lastIndex < cell.length) {
    const found = part.exec(cell);
    if (!found) return cell.split(",");
    const [, quoted, plain, end] = found;
    names.push(quoted === undefined ? plain! : quoted.replaceAll('""', '"'));
    if (end === "") break;
  }
  return names;
}
