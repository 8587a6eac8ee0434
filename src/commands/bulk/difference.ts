/** The first lines of a plan as a difference, for people. */
import type { PlanChange, PlanLine } from "../../bulk/plan/plan-line.ts";
import { escapeControls } from "../../terminal/escape.ts";
import { type Style, styleFor } from "../../terminal/style.ts";
import type { Terminal } from "../../terminal/terminal.ts";
import { cut, widthOf } from "../../terminal/text-width.ts";

/** Whether a plan line changes something in the account. */
export function isChange({ action }: PlanLine): boolean {
  return action === "create" || action === "update" || action === "delete";
}

/**
 * One line for each contact: `~ ada@example.com  City  London → Paris   + tag VIP`. The key is never cut.
 * @param stream that it is for
 */
export function drawDifference(
  terminal: Terminal,
  plan: readonly PlanLine[],
  stream: "out" | "err" = "err",
): string[] {
  const style = styleFor(terminal.isColored[stream]);
  const columns = stream === "out" ? terminal.columns : terminal.stderrColumns;
  const keyWidth = Math.min(Math.max(...plan.map(({ key }) => widthOf(escapeControls(key)))), mostKeyWidth);
  return plan.map((line) => {
    const key = escapeControls(line.key);
    const gap = " ".repeat(Math.max(0, keyWidth - widthOf(key)) + 2);
    const room = Math.max(leastRoom, columns - 4 - Math.max(keyWidth, widthOf(key)) - 2);
    const what = cut(escapeControls(changesOf(line)), room);
    return `  ${markOf(line, style)} ${key}${what === "" ? "" : gap + what}`;
  });
}

/** Keys are aligned up to this width. */
const mostKeyWidth = 40;
const leastRoom = 20;

function markOf({ action }: PlanLine, { green, yellow, red }: Style): string {
  if (action === "create") return green("+");
  return action === "delete" ? red("-") : yellow("~");
}

function changesOf({ action, changes }: PlanLine): string {
  if (action === "create")
    return changes
      .map(({ what, name, after }) => (what === "field" ? `${name} ${after}` : `${what} ${name}`))
      .join(", ");
  return changes.map(changeText).join("   ");
}

/** `City  London → Paris`, `+ tag VIP`. */
function changeText({ what, name, before, after }: PlanChange): string {
  if (typeof after === "boolean") return `${after ? "+" : "-"} ${what} ${name}`;
  const was = before === null ? "" : `${before === "" ? "(empty)" : before} → `;
  return `${what === "status" ? "Status" : name}  ${was}${after === "" ? "(empty)" : after}`;
}
