/** `--where`: keys of e-mail are one in every letter case, as they are in every other condition. Pure. */
import type { ASTNode } from "@marcbachmann/cel-js";
import { isComparison, isText, walkNodes } from "./cel.ts";

/**
 * Compares keys with texts in lower case, as a whole. In other calls, and compared with the value of a field,
 * `key` stays as it is.
 * @param folded the variable that is the key in lower case
 * @returns whether it is used
 */
export function foldKeyComparisons(ast: ASTNode, folded: string): boolean {
  let isUsed = false;
  for (const node of walkNodes(ast)) {
    if (!isComparison(node)) continue;
    const sides = node.args as { op: string; args: unknown }[];
    const key = sides.find((side) => side.op === "id" && side.args === "key");
    const texts = sides
      .filter((side) => side !== key)
      .flatMap((side) => (side.op === "list" ? (side.args as ASTNode[]) : [side as ASTNode]));
    if (!key || !texts.every(isText)) continue;
    key.args = folded;
    for (const text of texts as { args: string }[]) text.args = text.args.toLowerCase();
    isUsed = true;
  }
  return isUsed;
}
