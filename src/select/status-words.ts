/** `--where`: statuses that are compared with words which no contact has. Pure. */
import type { ASTNode } from "@marcbachmann/cel-js";
import { findClosest } from "../api/names.ts";
import { UsageError } from "../errors.ts";
import { at, walkNodes } from "./cel.ts";
import { findMeantStatus, primaryStatuses, secondaryStatuses } from "./status-filter.ts";

/**
 * A word that is no status would hold for nobody, or for everybody. The service may have further secondary
 * statuses: only those that were certainly meant otherwise are refused.
 * @throws UsageError with the place
 */
export function requireStatusWords(text: string, ast: ASTNode): void {
  for (const node of walkNodes(ast)) {
    if (node.op !== "==" && node.op !== "!=") continue;
    const sides = node.args as [ASTNode, ASTNode];
    const name = sides.find(({ op, args }) => op === "id" && (args === "status" || args === "substatus"));
    const literal = sides.find(({ op, args }) => op === "value" && typeof args === "string");
    if (!name || !literal) continue;
    const hint = describeWord(name.args as string, node.op, String(literal.args).toLowerCase());
    if (hint === undefined) continue;
    const word = JSON.stringify(literal.args);
    throw new UsageError(
      `--where: No contact has the ${String(name.args)} ${word}${at(text, literal)}`,
      hint,
    );
  }
}

function describeWord(name: string, op: string, word: string): string | undefined {
  const known = name === "status" ? primaryStatuses : secondaryStatuses;
  if (known.includes(word) || (name === "substatus" && word === "")) return undefined;
  const meant = secondaryStatuses.includes(word) ? word : findMeantStatus(word)?.secondary;
  if (meant !== undefined) return `Write substatus ${op} "${meant}"`;
  const primary = primaryStatuses.includes(word) ? word : findMeantStatus(word)?.primary;
  if (primary !== undefined) return `Write status ${op} "${primary}"`;
  const likely = findClosest(word, known);
  if (likely !== undefined) return `Did you mean "${likely}"?`;
  return name === "status" ? `Statuses: ${primaryStatuses.join(", ")}` : undefined;
}
