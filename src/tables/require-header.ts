/** Reading: a first line that is no header: a row, or one cell because the file is written in an unusual way. Pure. */
import { isEmailKey } from "../api/structures.ts";
import { UsageError } from "../errors.ts";
import type { ContactStructure } from "../wire.ts";
import { delimiters, type Header } from "./header.ts";
import { isKeyName } from "./names.ts";

/** @throws UsageError when there is a row in place of a header, or a line that is no row of cells */
export function requireHeader(
  file: string,
  header: Header,
  isDelimiterTold: boolean,
  structure: ContactStructure,
): void {
  const place = `${file}:${header.line}`;
  const layout = findUnusualLayout(place, header, isDelimiterTold, structure);
  if (layout) throw layout;
  if (!isEmailKey(structure.keyType)) return;
  const column = header.names.findIndex((cell) => /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(cell.trim()));
  if (column === -1) return;
  throw new UsageError(
    `${place}: there is no header: the first row already has an address`,
    `Add a header line, or pass --no-header --map ${column + 1}=key`,
  );
}

/**
 * The refusal of a file whose whole lines are quoted, or whose cells are separated by a character that is not
 * tried without being told; undefined when a key column does not show that way either.
 * @param place `FILE:LINE` of the first line
 */
function findUnusualLayout(
  place: string,
  { names, delimiter }: Header,
  isDelimiterTold: boolean,
  { keyName, keyType }: ContactStructure,
): UsageError | undefined {
  const line = names.join(delimiter);
  const showsKey = (each: string) => {
    const parts = line.split(each).map((name) => name.replace(/^\s*"+|"+\s*$/g, ""));
    return parts.length > 1 && parts.some((name) => isKeyName(name, keyName, keyType));
  };
  // A detected delimiter splits every line that holds it, unless it is quoted.
  if (!isDelimiterTold && names.length === 1 && delimiters.some(showsKey)) {
    return new UsageError(
      `${place}: every line is quoted as a whole, so that it is a single cell`,
      "Export the file again, with quotes around cells instead of lines",
    );
  }
  const candidates = [...new Set(line.match(/[^\p{L}\p{N} "'()@._+-]/gu) ?? [])];
  const found = candidates.find(
    (each) => (isDelimiterTold ? each !== delimiter : !delimiters.includes(each)) && showsKey(each),
  );
  if (found === undefined) return undefined;
  const code = found.codePointAt(0)!;
  const isControl = code < 32;
  return new UsageError(
    `${place}: cells seem to be separated by ${isControl ? `the control character ${code}` : JSON.stringify(found)}`,
    `Pass --delimiter ${found === "\t" ? "tab" : isControl ? `$'\\x${code.toString(16).padStart(2, "0")}'` : `'${found}'`}`,
  );
}
