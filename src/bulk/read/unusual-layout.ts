/**
 * Reading: a first line that is one cell, or has no key column,
 * because the file is written in an unusual way. Pure.
 */
import { UsageError } from "../../errors.ts";
import { isKeyName } from "./names.ts";

const defaultDelimiters = [",", ";", "\t", "|"];

interface FirstLine {
  names: readonly string[];
  delimiter: string;
  /** The delimiter was told with a flag. */
  isExplicit: boolean;
  keyName: string;
  keyType: string;
}

/**
 * The refusal of a file whose whole lines are quoted, or whose cells are separated by a character that is not
 * tried without being told; undefined when a key column does not show that way either.
 * @param place `FILE:LINE` of the first line
 */
export function unusualLayoutError(
  place: string,
  { names, delimiter, isExplicit, keyName, keyType }: FirstLine,
): UsageError | undefined {
  const line = names.join(delimiter);
  const showsKey = (each: string) => {
    const parts = line.split(each).map((name) => name.replace(/^\s*"+|"+\s*$/g, ""));
    return parts.length > 1 && parts.some((name) => isKeyName(name, keyName, keyType));
  };
  // A detected delimiter splits every line that holds it, unless it is quoted.
  if (!isExplicit && names.length === 1 && defaultDelimiters.some(showsKey)) {
    return new UsageError(
      `${place}: every line is quoted as a whole, so that it is a single cell`,
      "Export the file again, with quotes around cells instead of lines",
    );
  }
  const candidates = [...new Set(line.match(/[^\p{L}\p{N} "'()@._+-]/gu) ?? [])];
  const found = candidates.find(
    (each) => (isExplicit ? each !== delimiter : !defaultDelimiters.includes(each)) && showsKey(each),
  );
  if (found === undefined) return undefined;
  const code = found.codePointAt(0)!;
  const isControl = code < 32;
  return new UsageError(
    `${place}: cells seem to be separated by ${isControl ? `the control character ${code}` : JSON.stringify(found)}`,
    `Pass --delimiter ${found === "\t" ? "tab" : isControl ? `$'\\x${code.toString(16).padStart(2, "0")}'` : `'${found}'`}`,
  );
}
