/** `--where`: finds statuses that are compared with words which no contact has. Pure. */
import type { ASTNode } from "@marcbachmann/cel-js";
import { findClosest } from "../api/names.ts";
import { usageError } from "../errors.ts";
import { at, isComparison, isText, type TextNode, walkNodes } from "./cel.ts";
import { findMeantStatus, primaryStatuses, secondaryStatuses } from "./status-filter.ts";

/**
 * A word that is no status would match no contact, or all of them. The service may have further secondary
 * statuses: only those that were certainly meant otherwise are refused.
 * @throws UsageError with the place
 */
export function requireStatusWords(text: string, ast: ASTNode): void {
  for (const node of walkNodes(ast)) {
    for (const { name, literal } of findComparedTexts(node)) {
      const hint = describeText(name, node.op, literal.args);
      if (hint === undefined) continue;
      const word = JSON.stringify(literal.args);
      throw usageError(`--where: No contact has the ${name} ${word}${at(text, literal)}`, hint);
    }
  }
}

/** The texts that a status meets: compared with it, in a list that it is looked for in, or asked of it. */
export function findComparedTexts(node: ASTNode): { name: string; literal: TextNode }[] {
  const { op, args } = node;
  if (!isComparison(node) && op !== "rcall") return [];
  const [one, ...others] = (op === "rcall" ? [args[1], ...args[2]] : args) as [ASTNode, ...ASTNode[]];
  const isEquation = op === "==" || op === "!=";
  const status = [one, ...(isEquation ? others : [])].find(isStatus);
  if (!status) return [];
  return [one, ...others].flatMap(findTexts).map((literal) => ({ name: status.args as string, literal }));
}

/** A text, those of a list, and those that a condition chooses from. */
function findTexts(node: ASTNode): TextNode[] {
  if (isText(node)) return [node];
  if (node.op === "list") return (node.args as ASTNode[]).flatMap(findTexts);
  return node.op === "?:" ? (node.args as ASTNode[]).slice(1).flatMap(findTexts) : [];
}

function isStatus({ op, args }: ASTNode): boolean {
  return op === "id" && (args === "status" || args === "substatus");
}

function describeText(name: string, op: string, text: string): string | undefined {
  const word = text.toLowerCase();
  // In a pattern, `\\S` is no capital.
  if (op === "rcall")
    return /\p{Lu}/u.test(text.replace(/\\./g, ""))
      ? `Statuses are in lower case: ${JSON.stringify(word)}`
      : undefined;
  const hint = describeWord(name, op === "in" ? "==" : op, word);
  return op === "in" && hint === allStatuses ? undefined : hint;
}

const allStatuses = `Statuses: ${primaryStatuses.join(", ")}`;

function describeWord(name: string, op: string, word: string): string | undefined {
  const known = name === "status" ? primaryStatuses : secondaryStatuses;
  if (known.includes(word) || (name === "substatus" && word === "")) return undefined;
  const meant = secondaryStatuses.includes(word) ? word : findMeantStatus(word)?.secondary;
  if (meant !== undefined) return `Write substatus ${op} "${meant}"`;
  const primary = primaryStatuses.includes(word) ? word : findMeantStatus(word)?.primary;
  if (primary !== undefined) return `Write status ${op} "${primary}"`;
  const likely = findClosest(word, known);
  if (likely !== undefined) return `Did you mean "${likely}"?`;
  return name === "status" ? allStatuses : undefined;
}
