/** What an author who wrote `--where` as in another language most likely meant. Pure. */
import type { ASTNode } from "@marcbachmann/cel-js";
import { at, walkNodes } from "./cel.ts";

export interface Mistake {
  /** What is wrong, with the place. */
  message: string;
  hint: string;
}

interface Habit {
  /** Looked for outside of texts in quotes. */
  pattern: RegExp;
  message(found: string): string;
  /** @param whole the expression as it was typed */
  hint(found: RegExpExecArray, whole: string): string;
}

const name = String.raw`[\p{L}_][\p{L}\p{N}_]*`;
const comparison = `(?:==|!=|<=|>=|<|>)`;

/** The first that is found is what is said. */
const habits: Habit[] = [
  {
    pattern: /[“”„«»]/u,
    message: () => "this quote is not one of the language",
    hint: (_, whole) => `Write ${whole.replace(/[“”„«»]/gu, '"')}`,
  },
  {
    pattern: /<>/,
    message: () => "<> is not a comparison",
    hint: (found, whole) => `Write ${replaceAt(whole, found, "!=")}`,
  },
  {
    pattern: /(?<![=!<>])=(?!=)/,
    message: () => "A single = does not compare",
    hint: (found, whole) => `To compare, write ==: ${replaceAt(whole, found, "==")}`,
  },
  {
    pattern: /(?<![\p{L}\p{N}_.])(?:and|or|not)(?![\p{L}\p{N}_(.])/iu,
    message: (found) => `${found} is not a word of the language`,
    hint: () => "Write && for and, || for or, ! for not",
  },
  {
    pattern: new RegExp(`(${name})\\s+(contains|startswith|endswith|like)\\b\\s*`, "iu"),
    message: (found) => `${found.trim()} cannot be read`,
    hint: ([, field]) => `Write ${field}.contains("…"), ${field}.startsWith("…") or ${field}.endsWith("…")`,
  },
  {
    pattern: new RegExp(`(${name}(?:[\\s.-]+[\\p{L}\\p{N}_]*)+?)\\s*(?=${comparison}\\s)`, "u"),
    message: (found) => `${found.trim()} is not one name`,
    hint: ([, label]) => formatField(label!.trim()),
  },
  {
    pattern: new RegExp(`([\\p{L}_][\\p{L}\\p{N}_]*)\\s*(?=${comparison})`, "u"),
    message: (found) => `${found.trim()} cannot be written as a name`,
    hint: ([, label]) => `Write fields[${JSON.stringify(label)}]`,
  },
  {
    pattern: new RegExp(`(?<=${comparison}\\s*)(${name}(?:[ -]+[\\p{L}\\p{N}_]+)*)`, "u"),
    message: (found) => `${found} is a text without quotes`,
    hint: ([text]) => `Text goes in double quotes: ${JSON.stringify(text)}`,
  },
];

/** Undefined where nothing is recognised. @param place where the parser stopped */
export function findHabit(text: string, place: number): Mistake | undefined {
  // Texts in quotes are no part of what is looked at.
  const bare = text.replace(quoted, (found) => "\0".repeat(found.length));
  const start = bare.search(/["']/);
  if (start !== -1) {
    const word = /[\p{L}\p{N}]+'[\p{L}\p{N}]+/u.exec(bare)?.[0];
    const hint = word
      ? `Text goes in double quotes: ${JSON.stringify(word)}`
      : `Close the text with ${text[start]}: ${text.slice(start)}${text[start]}`;
    return { message: `a quote is not closed${at(text, { start })}`, hint };
  }
  for (const { pattern, message, hint } of habits) {
    for (const found of bare.matchAll(new RegExp(pattern, `${pattern.flags}g`))) {
      // A plain name before the place was read well.
      if (isReadable(found[0]) && found.index + found[0].length < place) continue;
      return { message: `${message(found[0])}${at(text, { start: found.index })}`, hint: hint(found, text) };
    }
  }
  return undefined;
}

const quoted = /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'/g;

function isReadable(found: string): boolean {
  return /^[\w.]+\s*$/.test(found);
}

function formatField(label: string): string {
  const variable = label.replace(/[^\p{L}\p{N}]/gu, "_");
  const fields = `fields[${JSON.stringify(label)}]`;
  const isName = /^[A-Za-z_]\w*$/.test(variable);
  return isName
    ? `For the field "${label}" write ${variable}, or ${fields}`
    : `For the field "${label}" write ${fields}`;
}

function replaceAt(text: string, { index, 0: found }: RegExpExecArray, by: string): string {
  return text.slice(0, index) + by + text.slice(index + found.length);
}

/** Text that is compared with a number or a time, in an expression whose grammar is right. */
export function describeTypes(text: string, ast: ASTNode): string | undefined {
  for (const node of walkNodes(ast)) {
    if (!["==", "!=", "<", "<=", ">", ">="].includes(node.op)) continue;
    const [left, right] = node.args as [ASTNode, ASTNode];
    const hint = describeSides(text, left, node.op, right);
    if (hint !== undefined) return hint;
  }
  return undefined;
}

const times = ["createdAt", "updatedAt"];

function describeSides(text: string, left: ASTNode, op: string, right: ASTNode): string | undefined {
  if (left.op !== "id") return undefined;
  const variable = left.args as string;
  const value = right.op === "value" ? right.args : undefined;
  if (times.includes(variable)) {
    if (typeof value !== "string") return undefined;
    const day = /^\d{4}-\d\d-\d\d/.exec(value)?.[0] ?? "2026-01-01";
    return `Times are compared with times: ${variable} ${op} timestamp("${day}T00:00:00Z")`;
  }
  if (typeof value !== "bigint" && typeof value !== "number") return undefined;
  const number = text.slice(right.start, right.end);
  if (op === "==" || op === "!=") return `Fields are text: ${variable} ${op} "${number}"`;
  return `Fields are text; to compare numbers: ${variable} != "" && double(${variable}) ${op} ${toDouble(number)}`;
}

function toDouble(number: string): string {
  return number.includes(".") ? number : `${number}.0`;
}
