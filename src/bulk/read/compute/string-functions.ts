/** The string functions of CEL's standard extensions that the library does not have. */
import type { Environment } from "@marcbachmann/cel-js";

/** No text that takes part in a computation is longer. */
export const maxTextCharacters = 64 * 1024;

export function addStringFunctions(environment: Environment): void {
  environment
    .registerFunction("string.charAt(int): string", (text: string, index: bigint) => {
      const place = Number(index);
      if (place < 0 || place > text.length) throw new Error(`charAt(${index}): out of range`);
      return text.charAt(place);
    })
    .registerFunction("string.replace(string, string): string", (text: string, from: string, to: string) =>
      replaced(text, from, to, -1),
    )
    .registerFunction(
      "string.replace(string, string, int): string",
      (text: string, from: string, to: string, count: bigint) => replaced(text, from, to, Number(count)),
    )
    .registerFunction("string.reverse(): string", (text: string) => [...text].reverse().join(""))
    .registerFunction(
      "string.quote(): string",
      (text: string) => `"${text.replace(/["\\\n\r\t]/g, escaped)}"`,
    )
    .registerFunction("string.format(list): string", (text: string, values: readonly unknown[]) =>
      formatted(text, values),
    );
}

const escapes: Record<string, string> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

function escaped(letter: string): string {
  return escapes[letter] ?? `\\${letter}`;
}

/** @param count how often at most; below 0 without end */
function replaced(text: string, from: string, to: string, count: number): string {
  const parts = text.split(from);
  // An empty text is before each character, and at the end.
  if (from === "") parts.unshift("");
  if (from === "" && text !== "") parts.push("");
  const replacements = count < 0 ? parts.length - 1 : Math.min(count, parts.length - 1);
  if (text.length + replacements * (to.length - from.length) > maxTextCharacters) {
    throw new Error("replace(): the text becomes too long");
  }
  return parts
    .map((part, index) => (index === 0 ? part : `${index <= replacements ? to : from}${part}`))
    .join("");
}

const clause = /%(?:(%)|(?:\.(\d{1,2}))?([sdfexXob]))|%/g;

function formatted(text: string, values: readonly unknown[]): string {
  let next = 0;
  const result = text.replace(clause, (found, percent?: string, digits?: string, kind?: string) => {
    if (percent) return "%";
    if (!kind) throw new Error(`format(): unknown clause ${JSON.stringify(found)}`);
    if (next >= values.length) throw new Error("format(): fewer values than clauses");
    return clauseText(kind, digits, values[next++]);
  });
  if (result.length > maxTextCharacters) throw new Error("format(): the text becomes too long");
  return result;
}

function clauseText(kind: string, digits: string | undefined, value: unknown): string {
  if (kind === "s") return value instanceof Date ? value.toISOString() : String(value);
  const isNumber = typeof value === "number" || typeof value === "bigint";
  if (!isNumber) throw new Error(`format(): %${kind} takes a number, not ${JSON.stringify(value)}`);
  const precision = digits === undefined ? 6 : Number(digits);
  if (kind === "f") return Number(value).toFixed(precision);
  if (kind === "e") return Number(value).toExponential(precision);
  const whole = BigInt(value);
  if (kind === "x" || kind === "X") {
    const text = whole.toString(16);
    return kind === "X" ? text.toUpperCase() : text;
  }
  return whole.toString(kind === "o" ? 8 : kind === "b" ? 2 : 10);
}
