/**
 * Somebody who has left under the old key while they were moved
 * to a new one: they must leave under that, too.
 */
import type { Summary } from "../../../bulk/index.ts";
import type { Context } from "../../../context.ts";
import { advise, ecm, toOperands } from "../../../hint.ts";
import { formatForAccount } from "../command-line.ts";

/** @param to the new key */
export function noteLeftMeanwhile(context: Context, { codes, rows }: Summary, to: string): void {
  const hasLeft = (codes.rejected.left_meanwhile ?? 0) > 0;
  const isErased = rows.created > 0 && (codes.skipped.suppressed ?? 0) > 0;
  if (!hasLeft && !isErased) return;
  const [what, verb] = hasLeft ? ["left", "Unsubscribe"] : ["was erased", "Erase"];
  const text = advise`The old contact ${what} while it was moved. ${verb} the new one: ${ecm`contact ${verb!.toLowerCase()} ${toOperands(to)}`}`;
  context.terminal.note(formatForAccount(text, context.settings), "needed");
}
